//! A server over raw TCP that follows a script, also where no HTTP library would go along: half a
//! reply, silence, a reset.

mod run;
mod steps;

use std::{io, net::SocketAddr, sync::Arc};

pub use self::steps::{Events, Step, reply, reply_in_chunks};
use crate::{
    log::{Seen, Told},
    running::Running,
};

/// A server that follows a script. It ends with [`stop`](Self::stop), or when it is dropped.
#[derive(Debug)]
pub struct Origin(Running);

pub(crate) type OfConnection = dyn Fn(usize) -> Vec<Step> + Send + Sync;
pub(crate) type OfRequest = dyn Fn(&Seen) -> Vec<Step> + Send + Sync;

/// What an [`Origin`] does.
#[derive(Clone)]
pub struct Script(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Connections(Arc<OfConnection>),
    Requests(Arc<OfRequest>),
}

impl Script {
    /// These steps for the n-th connection, from 0; it is closed after them. Requests are read
    /// where a step says so.
    pub fn connections(steps: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self(Kind::Connections(Arc::new(steps)))
    }

    /// These steps after each request that is there whole. Unless one of them ends the connection,
    /// it waits for the next request.
    pub fn requests(steps: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self(Kind::Requests(Arc::new(steps)))
    }

    /// An origin of event streams: the first steps for the n-th open, from 0, the others for any
    /// other request.
    pub fn streams(
        opens: impl Fn(usize, &Seen) -> Vec<Step> + Send + Sync + 'static,
        others: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let opened = std::sync::atomic::AtomicUsize::new(0);
        Self::requests(move |seen| {
            if seen.asks_for_events() {
                let number = opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                opens(number, seen)
            } else {
                others(seen)
            }
        })
    }
}

impl Origin {
    /// Opens a free port of 127.0.0.1. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// No port can be had.
    pub fn start(script: Script) -> io::Result<Self> {
        Running::start(move |client, number, log| {
            run::connection(client, number, script.clone(), log)
        })
        .map(Self)
    }

    /// Opens this port, as a server that is started again: waits some seconds until it is free.
    ///
    /// # Errors
    /// The port cannot be had.
    pub async fn start_at(address: SocketAddr, script: Script) -> io::Result<Self> {
        Running::start_at(address, move |client, number, log| {
            run::connection(client, number, script.clone(), log)
        })
        .await
        .map(Self)
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The URL of its root.
    pub fn base(&self) -> String {
        format!("http://{}", self.address())
    }

    /// What was heard and said so far.
    pub fn told(&self) -> Told {
        self.0.log.told()
    }

    /// Closes the port and all connections, frozen ones too, and tells what was heard and said.
    pub async fn stop(self) -> Told {
        self.0.stop().await
    }
}
