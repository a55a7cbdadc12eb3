//! The engine: decides each command once, writes it, and only then lets anybody see it.
//!
//! ```text
//! command ── decide against `pending` ── queue ──► journal-writer: append and sync
//!       (one lock: positions, apply to `pending`)        │
//!                                      apply to `written`, tell the streams, keep the calls
//!                                                        │
//! caller ◄───────────────── wake ◄───────────────────────┘
//! query, signal, stream ── read `written`
//!
//! checkpoints: a thread of their own reads the log and sums it up again
//! ```
//!
//! The journal is written outside of all locks. The table of calls follows from the log and its
//! limits alone, so that a start gives the same one.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, RwLock, mpsc},
    time::Duration,
};

use link_wire::{Caller, Position, Route, RunId};
use tokio::{sync::watch, time::Instant};

use self::{
    backlog::{Backlog, Reader},
    checkpoint::{Begun, Bound, Desk, End, Maker},
    shared::{Core, Counts, Phase, Shared, WrittenState},
    stage::Halt,
    tail::Tail,
};
pub use self::{
    calls::{CallLimits, CallStats},
    checkpoint::CheckpointError,
    open::{EngineOptions, OpenError, Opened},
    stats::EngineStats,
};
use crate::{
    Cx, Record, State, clock,
    handler::{Heard, No, Projection},
    journal::Journal,
    log::line::RunRecord,
    presence::{Room, Sent},
};

pub(crate) mod backlog;
pub(crate) mod calls;
pub(crate) mod checkpoint;
mod command;
mod decide;
mod fold;
mod open;
mod queue;
mod shared;
#[doc(hidden)]
pub mod stage;
mod stats;
mod tail;
#[cfg(test)]
mod tests;
pub(crate) mod told;
mod writer;

/// How long the drop of the last handle waits for each thread.
const DROP_WITHIN: Duration = Duration::from_secs(1);
/// How long a close waits for the last checkpoint; then it is left out.
const LAST_WITHIN: Duration = Duration::from_secs(3);

/// The engine over one state and one journal. A clone is another handle of the same engine.
///
/// When the last handle goes, what is queued is written and the journal is closed, without a
/// checkpoint; that drop waits for the writer and for a checkpoint that is being made, one second
/// each at most.
pub struct Engine<S: State> {
    handle: Arc<Handle<S>>,
}

impl<S: State> Clone for Engine<S> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<S: State> std::fmt::Debug for Engine<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("phase", &*self.handle.shared.phase.borrow())
            .field("opened", &self.handle.opened)
            .finish_non_exhaustive()
    }
}

struct Handle<S: State> {
    shared: Arc<Shared<S>>,
    opened: Opened,
    limits: CallLimits,
    /// Disconnected when the writer has ended.
    writer: Mutex<mpsc::Receiver<()>>,
    /// Disconnected when the thread of the checkpoints has ended.
    checkpoints: Mutex<mpsc::Receiver<()>>,
}

/// The records of one chunk, shared by all who tell them.
pub(crate) type Records<C> = Arc<[Record<C>]>;

/// A stream that was opened: the records from now on.
pub(crate) struct Live<C> {
    pub(crate) projection: Projection<C>,
    pub(crate) records: Reader<C>,
}

impl<S: State> Engine<S> {
    /// [`Engine::open_with`] the default options. Where link.toml sets `call_keep`, an engine must
    /// be told: see [`CallLimits::of`].
    ///
    /// # Errors
    /// As there.
    pub fn open(journal: impl Journal, initial: S) -> Result<Self, OpenError> {
        Self::open_with(journal, initial, EngineOptions::default())
    }

    /// Reads the newest checkpoint of the journal, or `initial` when there is none, and the log
    /// after it; writes the record with which a run begins; and starts the writer.
    ///
    /// Blocks until the log is read: call it before the server takes connections. On return the
    /// record of the run is durable.
    ///
    /// # Errors
    /// Whatever makes the log unreadable for this program; then nothing was changed. The log may
    /// also take no record, or a thread cannot be started.
    pub fn open_with(
        journal: impl Journal,
        initial: S,
        options: EngineOptions,
    ) -> Result<Self, OpenError> {
        let journal: Arc<dyn Journal> = Arc::new(journal);
        let found = journal.found();
        let mut tail = Tail::acquire(Arc::clone(&journal))?;
        let last = tail.last();
        let bound = Bound {
            tail: last,
            to: last,
            goes_on: &|| true,
            ahead: true,
        };
        let Begun { mut sum, from } = checkpoint::sum_up(&*journal, &initial, &options, &bound)?;
        let (run, run_at) = (random_run()?, tail.next());
        begin_run(&mut tail, run, found.restored)?;
        sum.calls.run(run, run_at, found.restored);
        let calls = sum.calls.stats();
        let opened = Opened {
            records: last.0,
            read: sum.added,
            calls: calls.kept + calls.thin,
            checkpoint: from,
            unknown: sum.unknown,
            found,
        };
        opened.tell();
        let desk = Arc::new(Desk::new(run_at, from, sum.added_bytes));
        let maker = Maker {
            desk: Arc::clone(&desk),
            journal: Arc::clone(&journal),
            initial,
            run: run_at,
            unknown: sum.first_unknown,
            options,
        };
        let bytes_due = maker.options.checkpoint_every_bytes;
        let limits = maker.options.calls;
        let shared = Arc::new(Shared {
            core: Mutex::new(Core::new(sum.state.clone(), tail.next(), sum.calls)),
            work: Condvar::new(),
            written: RwLock::new(WrittenState {
                state: sum.state,
                records: Some(Backlog::new()),
                broken: false,
            }),
            room: Arc::new(Room::new(Instant::now())),
            phase: watch::Sender::new(Phase::Open),
            run,
            desk,
            counts: Counts::default(),
            journal: Arc::downgrade(&journal),
        });
        drop(journal);
        let checkpoints = checkpoint::start(maker).map_err(OpenError::Thread)?;
        let writer = writer::start(Arc::clone(&shared), tail, bytes_due);
        let writer = writer.inspect_err(|_| shared.desk.end(End::Now));
        Ok(Self {
            handle: Arc::new(Handle {
                shared,
                opened,
                limits,
                writer: Mutex::new(writer.map_err(OpenError::Thread)?),
                checkpoints: Mutex::new(checkpoints),
            }),
        })
    }

    /// What the start found.
    pub fn opened(&self) -> &Opened {
        &self.handle.opened
    }

    /// How much of the calls it remembers.
    pub fn call_limits(&self) -> CallLimits {
        self.handle.limits
    }

    /// Writes what is queued, makes a last checkpoint, closes the journal, and takes no command
    /// any more; each handle of the engine then says so. A checkpoint that takes longer than
    /// three seconds is left out. Returns at once when that was done before.
    ///
    /// # Errors
    /// [`EngineFailed`] when the engine had failed, or fails at this. That no checkpoint could be
    /// made stands in the program's log only: the log is whole without it.
    ///
    /// # Cancel safety
    /// The writing goes on when the future is dropped; the journal is then closed when the last
    /// handle goes.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn close(&self) -> Result<(), EngineFailed> {
        let shared = Arc::clone(&self.handle.shared);
        // A handler that hangs holds the lock that this takes: that must not hold up the caller.
        drop(tokio::task::spawn_blocking(move || shared.begin_close()));
        let mut phase = self.phase();
        let ended = phase.wait_for(|phase| matches!(phase, Phase::Closed | Phase::Failed(_)));
        let ended = ended.await.map(|phase| phase.clone());
        if let Ok(Phase::Failed(why)) = ended {
            return Err(EngineFailed {
                why: why.as_ref().into(),
            });
        }
        let desk = &self.handle.shared.desk;
        desk.end(End::Last);
        if tokio::time::timeout(LAST_WITHIN, desk.ended())
            .await
            .is_err()
        {
            desk.end(End::Now);
            tracing::warn!("the last checkpoint takes too long and is left out");
        }
        Ok(())
    }

    /// Makes a checkpoint of all that is written now, and gives the position at which it stands.
    /// On return it is durable. When nothing was written since the newest one, that one is given.
    ///
    /// Commands go on meanwhile.
    ///
    /// # Errors
    /// [`CheckpointError`]; the log and the older checkpoints are as they were.
    ///
    /// # Cancel safety
    /// The checkpoint is made also when the future is dropped.
    pub async fn checkpoint(&self) -> Result<Position, CheckpointError> {
        let told = self.handle.shared.desk.ask().await;
        told.unwrap_or(Err(CheckpointError::Stopped))
    }

    /// The phase now, and each later one.
    pub(crate) fn phase(&self) -> watch::Receiver<Phase> {
        self.handle.shared.phase.subscribe()
    }

    /// Whether commands are taken now.
    pub(crate) fn is_open(&self) -> bool {
        *self.handle.shared.phase.borrow() == Phase::Open
    }

    /// Notes that the caller made a call.
    pub(crate) fn touch(&self, caller: &Caller) {
        let room = &self.handle.shared.room;
        room.touch(caller, clock::now(), Instant::now());
    }

    /// Asks a handler that only reads. It sees what is written.
    pub(crate) fn read<T>(
        &self,
        route: &'static Route,
        caller: &Caller,
        run: impl FnOnce(&S, &Cx<'_>) -> Result<T, No>,
    ) -> Result<T, Halt> {
        let shared = &self.handle.shared;
        let written = shared.written();
        if written.broken {
            return Err(Halt::Unavailable);
        }
        shared.ask(route, caller, &written.state, run)
    }

    /// Keeps a signal that was answered.
    pub(crate) fn hear(&self, caller: &Caller, heard: Heard, sent: Option<Sent>) {
        self.handle.shared.room.hear(caller, heard.body, sent);
    }

    /// Opens a stream. Its cursor and its first record are of one moment: nothing falls between.
    pub(crate) fn tail(
        &self,
        route: &'static Route,
        caller: &Caller,
        run: impl FnOnce(&S, &Cx<'_>) -> Result<Projection<S::Change>, No>,
    ) -> Result<Live<S::Change>, Halt> {
        let shared = &self.handle.shared;
        let written = shared.written();
        if written.broken {
            return Err(Halt::Unavailable);
        }
        let records = written.records.as_ref().ok_or(Halt::Unavailable)?.reader();
        let projection = shared.ask(route, caller, &written.state, run)?;
        Ok(Live {
            projection,
            records,
        })
    }
}

/// The engine stopped for good: a write failed, or `apply` panicked. Whether the commands that
/// were under way ran shows at the next start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the engine stopped: {why}")]
pub struct EngineFailed {
    /// What happened, for the operator.
    pub why: String,
}

impl<S: State> Drop for Handle<S> {
    fn drop(&mut self) {
        self.shared.begin_close();
        if is_late(&mut self.writer) {
            tracing::warn!("the writer goes on after its engine: the journal takes long");
        }
        self.shared.desk.end(End::Now);
        if is_late(&mut self.checkpoints) {
            tracing::warn!("a checkpoint goes on after its engine: the journal takes long");
        }
    }
}

fn is_late(ended: &mut Mutex<mpsc::Receiver<()>>) -> bool {
    let ended = ended.get_mut().unwrap_or_else(PoisonError::into_inner);
    ended.recv_timeout(DROP_WITHIN) == Err(mpsc::RecvTimeoutError::Timeout)
}

fn random_run() -> Result<RunId, OpenError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|why| OpenError::Random(why.to_string()))?;
    Ok(RunId::from_bytes(bytes))
}

/// Writes the record with which a run begins.
fn begin_run(tail: &mut Tail, run: RunId, restored: bool) -> Result<(), OpenError> {
    let record = RunRecord {
        position: tail.next(),
        at: clock::now(),
        run,
        restored,
    };
    let json = serde_json::to_vec(&record).map_err(|error| OpenError::Record {
        position: record.position,
        what: error.to_string(),
    });
    let mut json = json?;
    json.push(b'\n');
    tail.append(1, &json)?;
    Ok(())
}
