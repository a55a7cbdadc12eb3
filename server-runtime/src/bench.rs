//! Doors for a benchmark, past HTTP: one command through the engine, and the floor below it, a
//! group commit of the same bytes without table and state. Not for people; behind the feature
//! `bench`.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use link_wire::{CallId, Caller, Route};
use tokio::sync::oneshot;

use crate::{
    Engine, Input, Journal, JournalError, State,
    engine::calls::{Call, Fingerprint, Known, Origin},
    handler::CommandFn,
    journal::{Chunk, Epoch},
    log::line::Outcome,
};

/// How long a command may take here.
const WITHIN: Duration = Duration::from_secs(60);

/// Decides a command, and gives the bytes of its reply when it is written.
///
/// # Errors
/// Why there is no reply, for a person.
///
/// # Cancel safety
/// The command goes on when the future is dropped.
pub async fn command<S: State>(
    engine: &Engine<S>,
    route: &'static Route,
    run: CommandFn<S>,
    caller: &Caller,
    id: CallId,
    body: &[u8],
) -> Result<Vec<u8>, String> {
    let call = Call {
        caller: caller.clone(),
        id,
        fingerprint: Fingerprint::of(route.method, route.path, body),
        attempt: 1,
        origin: Origin::Link {
            seen: Some(engine.position()),
        },
    };
    let input = Input {
        path: &[],
        query: "",
        body,
    };
    let known = engine
        .look(&call)
        .transpose()
        .unwrap_or_else(|| engine.command(route, run, call, Vec::new(), &input));
    let written = match known.map_err(|halt| format!("{halt:?}"))? {
        Known::Pending(queued) => queued.written(WITHIN).await,
        Known::Kept(written) => Ok(written),
        other => return Err(format!("{other:?}")),
    };
    match written.map_err(|halt| format!("{halt:?}"))?.outcome() {
        Outcome::Reply(reply) => Ok(reply.json().as_bytes().to_vec()),
        other => Err(format!("{other:?}")),
    }
}

/// Asks the written state, as a query does. Nothing when the engine does not answer.
pub fn query<S: State, T>(
    engine: &Engine<S>,
    route: &'static Route,
    caller: &Caller,
    ask: impl FnOnce(&S) -> T,
) -> Option<T> {
    engine.read(route, caller, |state, _| Ok(ask(state))).ok()
}

/// The floor: records that wait are appended as one chunk, and who waits is woken after the sync.
#[derive(Debug)]
pub struct Floor {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    waiting: Vec<oneshot::Sender<()>>,
    closed: bool,
}

impl Floor {
    /// Takes a journal and starts its writer.
    ///
    /// # Errors
    /// The journal is another's, or the thread cannot be started.
    pub fn open(journal: impl Journal) -> Result<Self, JournalError> {
        let writer = journal.acquire()?;
        let shared = Arc::new(Shared::default());
        let work = Arc::clone(&shared);
        let (epoch, mut next) = (writer.epoch, writer.tail.next());
        let spawned = thread::Builder::new().spawn(move || {
            while let Some((bytes, waiting)) = work.take() {
                let chunk = Chunk {
                    first: next,
                    records: u32::try_from(waiting.len()).unwrap_or(u32::MAX),
                    bytes: &bytes,
                };
                if append(&journal, epoch, chunk).is_err() {
                    work.queue().closed = true;
                    return;
                }
                next = link_wire::Position(next.0 + waiting.len() as u64);
                for waiting in waiting {
                    // Whoever went away does not need it.
                    let _ = waiting.send(());
                }
            }
        });
        let failed = |source: io::Error| JournalError::Io {
            doing: "starting the writer of",
            place: "a floor".into(),
            source,
        };
        Ok(Self {
            shared,
            writer: Some(spawned.map_err(failed)?),
        })
    }

    /// Appends a record, and returns when it is durable. False: the journal failed.
    ///
    /// # Cancel safety
    /// The record is appended also when the future is dropped.
    pub async fn append(&self, record: &[u8]) -> bool {
        match self.push(record) {
            Some(told) => told.await.is_ok(),
            None => false,
        }
    }

    fn push(&self, record: &[u8]) -> Option<oneshot::Receiver<()>> {
        let (told, tell) = oneshot::channel();
        let mut queue = self.shared.queue();
        if queue.closed {
            return None;
        }
        queue.bytes.extend_from_slice(record);
        queue.bytes.push(b'\n');
        queue.waiting.push(told);
        drop(queue);
        self.shared.work.notify_one();
        Some(tell)
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.work.notify_one();
        if let Some(writer) = self.writer.take() {
            // A panic of the writer has been told by its thread.
            let _ = writer.join();
        }
    }
}

fn append(journal: &impl Journal, epoch: Epoch, chunk: Chunk<'_>) -> Result<(), ()> {
    journal.append(epoch, chunk).map_err(|error| {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "the floor's append failed");
    })
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that waits; nothing when it is closed.
    fn take(&self) -> Option<(Vec<u8>, Vec<oneshot::Sender<()>>)> {
        let waits = |queue: &mut Queue| queue.waiting.is_empty() && !queue.closed;
        let queue = self.work.wait_while(self.queue(), waits);
        let mut queue = queue.unwrap_or_else(PoisonError::into_inner);
        if queue.waiting.is_empty() {
            return None;
        }
        Some((
            std::mem::take(&mut queue.bytes),
            std::mem::take(&mut queue.waiting),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryJournal;

    #[tokio::test]
    async fn the_floor_writes_what_it_is_given_and_in_order() {
        let journal = MemoryJournal::new();
        let floor = Floor::open(journal.clone()).unwrap();
        for n in 0..3 {
            assert!(floor.append(format!("{{\"n\":{n}}}").as_bytes()).await);
        }
        drop(floor);
        assert_eq!(journal.acquire().unwrap().tail.0, 3);
    }
}
