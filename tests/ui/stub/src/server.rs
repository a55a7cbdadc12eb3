//! The server's names.

use std::marker::PhantomData;

use link_wire::{PathValue, Route, Service};
use serde::{Serialize, de::DeserializeOwned};

pub trait State: Clone + Send + Sync + 'static {
    type Change: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    fn apply(&mut self, record: &Record<Self::Change>);
}

pub struct Record<C> {
    pub change: C,
}

pub struct Cx<'a>(PhantomData<&'a ()>);

pub struct Input<'a>(PhantomData<&'a ()>);

pub struct Refusal;

pub struct No;

pub struct Reply;

pub struct Heard;

pub struct Accepted<C, R>(PhantomData<(C, R)>);

impl<C, R> Accepted<C, R> {
    pub fn new(_change: C, _reply: R) -> Self {
        Self(PhantomData)
    }
}

pub struct Events<C, E>(PhantomData<(C, E)>);

impl<C, E> Events<C, E> {
    pub fn new(_project: impl Fn(&Record<C>) -> Option<E> + Send + Sync + 'static) -> Self {
        Self(PhantomData)
    }
}

pub struct Decision<C>(PhantomData<C>);

pub struct Projection<C>(PhantomData<C>);

pub struct Engine<S>(PhantomData<S>);

pub struct Server<S>(PhantomData<S>);

impl<S: State> Server<S> {
    pub fn new(_: &'static Service, _: Engine<S>, _: Vec<Handler<S>>) -> Self {
        Self(PhantomData)
    }
}

impl Input<'_> {
    pub fn path<T: PathValue>(&self, name: &str) -> Result<T, No> {
        T::from_segment(name).map_err(|_| No)
    }

    pub fn query<T: DeserializeOwned>(&self) -> Result<T, No> {
        Err(No)
    }

    pub fn body<T: DeserializeOwned>(&self) -> Result<T, No> {
        Err(No)
    }
}

pub struct Handler<S>(PhantomData<S>);

impl<S: State> Handler<S> {
    pub fn query(_: &'static Route, _: fn(&S, &Cx<'_>, &Input<'_>) -> Result<Reply, No>) -> Self {
        Self(PhantomData)
    }

    pub fn signal(_: &'static Route, _: fn(&S, &Cx<'_>, &Input<'_>) -> Result<Heard, No>) -> Self {
        Self(PhantomData)
    }

    pub fn command(
        _: &'static Route,
        _: fn(&S, &Cx<'_>, &Input<'_>) -> Result<Decision<S::Change>, No>,
    ) -> Self {
        Self(PhantomData)
    }

    pub fn stream(
        _: &'static Route,
        _: fn(&S, &Cx<'_>, &Input<'_>) -> Result<Projection<S::Change>, No>,
    ) -> Self {
        Self(PhantomData)
    }
}

pub fn reply<R: Serialize>(_: Result<R, Refusal>) -> Result<Reply, No> {
    Ok(Reply)
}

pub fn heard<R: Serialize, T: Send + Sync + 'static>(
    _: Result<R, Refusal>,
    _: T,
) -> Result<Heard, No> {
    Ok(Heard)
}

pub fn decision<C: Serialize, R: Serialize>(
    _: Result<Accepted<C, R>, Refusal>,
) -> Result<Decision<C>, No> {
    Ok(Decision(PhantomData))
}

pub fn projection<C, E: Serialize>(
    _: Result<Events<C, E>, Refusal>,
    _: Option<fn(&E) -> u64>,
) -> Result<Projection<C>, No> {
    Ok(Projection(PhantomData))
}
