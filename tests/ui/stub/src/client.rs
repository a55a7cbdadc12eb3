//! The client's names.

use std::{fmt::Display, marker::PhantomData};

use link_wire::{Route, Service};
use serde::{Serialize, de::DeserializeOwned};

pub mod link {
    use super::{InvalidBase, Link};

    pub fn with(_base: &str, _limits: link_wire::Limits) -> Result<Link, InvalidBase> {
        Ok(Link)
    }
}

#[derive(Debug, Clone)]
pub struct Link;

#[derive(Debug, Clone)]
pub struct Credentials;

#[derive(Debug)]
pub struct InvalidBase;

#[derive(Debug, Clone)]
pub struct Api(Link);

pub struct Outbox;

impl Api {
    pub fn new(link: Link, _credentials: Credentials, _service: &'static Service) -> Self {
        Self(link)
    }

    pub fn link(&self) -> &Link {
        &self.0
    }

    #[must_use]
    pub fn with_outbox(self, _outbox: &Outbox) -> Self {
        self
    }

    pub fn request(&self, _route: &'static Route) -> Request {
        Request
    }
}

pub struct Request;

impl Request {
    #[must_use]
    pub fn path(self, _name: &'static str, _value: &dyn Display) -> Self {
        self
    }

    #[must_use]
    pub fn query<T: Serialize + ?Sized>(self, _query: &T) -> Self {
        self
    }

    #[must_use]
    pub fn body<T: Serialize + ?Sized>(self, _body: &T) -> Self {
        self
    }

    pub fn call<R: DeserializeOwned>(self) -> Call<R> {
        Call(PhantomData)
    }

    pub fn command<R: DeserializeOwned>(self) -> CommandCall<R> {
        CommandCall(PhantomData)
    }

    pub fn stream<E: DeserializeOwned>(self) -> EventStream<E> {
        EventStream(PhantomData)
    }
}

pub struct Call<R>(PhantomData<R>);

pub struct CommandCall<R>(PhantomData<R>);

pub struct EventStream<E>(PhantomData<E>);

impl<E> EventStream<E> {
    #[must_use]
    pub fn ordered(self, _cursor: fn(&E) -> u64, _catch_up: Request) -> Self {
        self
    }
}
