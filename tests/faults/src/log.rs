//! What a server of a test has heard and said: every request with its headers in their order.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which request of the server it is, from 0.
    pub number: usize,
    /// Which connection of the server it came over, from 0.
    pub connection: usize,
    /// The ID of its HTTP/2 stream; 0 over HTTP/1.1.
    pub stream: u32,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The headers in their order, each with its name in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; empty where only the head was read.
    pub body: Vec<u8>,
    /// When it was there, counted from the start of the server.
    pub at: Duration,
}

impl Seen {
    /// The first value of a header, by its name in lower case; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }

    /// Whether it opens an event stream.
    pub fn asks_for_events(&self) -> bool {
        self.header("accept").contains("text/event-stream")
    }
}

/// What a server has heard and said so far.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// The requests, in the order in which they were there.
    pub requests: Vec<Seen>,
    /// Connections that were accepted.
    pub connections: usize,
    /// Bytes that the system took. Some of them may never have arrived.
    pub sent: u64,
}

#[derive(Debug)]
pub(crate) struct Log {
    began: Instant,
    told: Mutex<Told>,
}

impl Log {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            told: Mutex::default(),
        })
    }

    pub(crate) fn told(&self) -> Told {
        self.lock().clone()
    }

    /// Counts a connection, and gives its number.
    pub(crate) fn connected(&self) -> usize {
        let mut told = self.lock();
        told.connections += 1;
        told.connections - 1
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.lock().sent += u64::try_from(bytes).unwrap_or(u64::MAX);
    }

    /// Takes down a request, and gives it its number and its moment.
    pub(crate) fn saw(&self, mut seen: Seen) -> Seen {
        let mut told = self.lock();
        seen.number = told.requests.len();
        seen.at = self.began.elapsed();
        told.requests.push(seen.clone());
        seen
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A gate that a test opens once, for all who wait before it. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A gate that is shut.
    pub fn shut() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Lets everybody through, also who comes later.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is open.
    pub async fn wait(&self) {
        // Its sender is this very gate, so it cannot be gone.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}
