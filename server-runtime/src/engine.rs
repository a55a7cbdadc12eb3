//! The engine: decides each command once, writes it, and only then lets anybody see it.
//!
//! ```text
//! command ── decide against `pending` ── queue ──► journal-writer: append and sync
//!       (one lock: positions, apply to `pending`)        │
//!                                      apply to `written`, tell the streams, keep the calls
//!                                                        │
//! caller ◄───────────────── wake ◄───────────────────────┘
//! query, signal, stream ── read `written`
//! ```
//!
//! The journal is written outside of all locks. Nothing is dropped from the table of calls: it
//! grows with the log.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, RwLock, mpsc},
    time::Duration,
};

use link_wire::{Caller, Route};
use tokio::{sync::watch, time::Instant};

pub use self::open::{OpenError, Opened};
use self::{
    backlog::{Backlog, Reader},
    calls::{Call, Known},
    queue::Queue,
    shared::{Core, Phase, Shared, WrittenState},
    stage::{Checked, Halt, Verdict},
};
use crate::{
    Cx, Input, Record, State, clock,
    handler::{CommandFn, Heard, No, Projection},
    journal::Journal,
    presence::{Room, Sent},
};

pub(crate) mod backlog;
pub(crate) mod calls;
mod decide;
mod open;
mod queue;
mod replay;
mod shared;
pub(crate) mod stage;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

/// How long the drop of the last handle waits for the writer.
const DROP_WITHIN: Duration = Duration::from_secs(1);

/// The engine over one state and one journal. A clone is another handle of the same engine.
///
/// When the last handle goes, what is queued is written and the journal is closed; that drop
/// waits for the writer, one second at most.
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
    /// Disconnected when the writer has ended.
    writer: Mutex<mpsc::Receiver<()>>,
}

/// The records of one chunk, shared by all who tell them.
pub(crate) type Records<C> = Arc<[Record<C>]>;

/// A stream that was opened: the records from now on.
pub(crate) struct Live<C> {
    pub(crate) projection: Projection<C>,
    pub(crate) records: Reader<C>,
}

impl<S: State> Engine<S> {
    /// Reads the log of the journal into `initial` and starts the writer.
    ///
    /// Blocks until the whole log is read: call it before the server takes connections.
    ///
    /// # Errors
    /// Whatever makes the log unreadable for this program; then nothing was changed.
    pub fn open(journal: impl Journal, initial: S) -> Result<Self, OpenError> {
        let replayed = replay::replay(Box::new(journal), initial)?;
        let shared = Arc::new(Shared {
            core: Mutex::new(Core {
                pending: replayed.state.clone(),
                next: replayed.tail.next(),
                calls: replayed.calls,
                queue: Queue::default(),
            }),
            work: Condvar::new(),
            written: RwLock::new(WrittenState {
                state: replayed.state,
                records: Some(Backlog::new()),
                broken: false,
            }),
            room: Arc::new(Room::new(Instant::now())),
            phase: watch::Sender::new(Phase::Open),
        });
        let writer = writer::start(Arc::clone(&shared), replayed.tail);
        let writer = Mutex::new(writer.map_err(OpenError::Thread)?);
        Ok(Self {
            handle: Arc::new(Handle {
                shared,
                opened: replayed.opened,
                writer,
            }),
        })
    }

    /// What the start found.
    pub fn opened(&self) -> &Opened {
        &self.handle.opened
    }

    /// Writes what is queued, closes the journal, and takes no command any more; each handle of
    /// the engine then says so. Returns at once when that was done before.
    ///
    /// # Errors
    /// [`EngineFailed`] when the engine had failed, or fails at this.
    ///
    /// # Cancel safety
    /// The closing goes on when the future is dropped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn close(&self) -> Result<(), EngineFailed> {
        let shared = Arc::clone(&self.handle.shared);
        // A handler that hangs holds the lock that this takes: that must not hold up the caller.
        drop(tokio::task::spawn_blocking(move || shared.begin_close()));
        let mut phase = self.phase();
        let ended = phase
            .wait_for(|phase| matches!(phase, Phase::Closed | Phase::Failed(_)))
            .await;
        match ended.as_deref() {
            Ok(Phase::Failed(why)) => Err(EngineFailed {
                why: why.as_ref().into(),
            }),
            _ => Ok(()),
        }
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

    /// What is known of a call ID, before anything else of the request is looked at.
    pub(crate) fn look(&self, call: &Call) -> Result<Option<Known>, Halt> {
        let core = self.handle.shared.core();
        match *self.handle.shared.phase.borrow() {
            Phase::Failed(_) => Err(Halt::Unavailable),
            Phase::Open | Phase::Closing | Phase::Closed => Ok(core.calls.look(call)),
        }
    }

    /// Decides a command and queues it.
    ///
    /// Does not wait for the write, and does not give up its place when the caller goes away.
    pub(crate) fn command(
        &self,
        route: &'static Route,
        run: CommandFn<S>,
        call: Call,
        input: &Input<'_>,
    ) -> Result<Known, Halt> {
        let shared = &self.handle.shared;
        let mut core = shared.core();
        if !self.is_open() {
            return Err(Halt::Unavailable);
        }
        if let Some(known) = core.calls.look(&call) {
            return Ok(known);
        }
        if core.queue.is_full() {
            return Err(Halt::Busy);
        }
        let now = clock::now();
        let decided = {
            let presence = shared.presence();
            let cx = Cx::new(&call.caller, now, &presence);
            decide::decide(route, run, &core.pending, &cx, input)
        };
        let verdict = match decided {
            Ok(decision) => Verdict::Accepted(decision),
            Err(No::Refused(refusal)) => Verdict::Refused(refusal.into()),
            Err(No::BadInput(detail)) => return Err(Halt::BadInput(detail)),
            Err(No::Failed(what)) => return Err(Halt::failed(route, &what)),
        };
        let checked = Checked {
            call,
            command: route.name,
            at: now,
            verdict,
        };
        if checked.is_too_large() {
            return Err(Halt::failed(
                route,
                "its records and reply are more than a chunk takes",
            ));
        }
        let queued = core.enqueue(checked).map_err(|why| {
            shared.fail(&mut core, &why);
            Halt::Unavailable
        })?;
        drop(core);
        shared.work.notify_one();
        Ok(Known::Pending(queued))
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
        let writer = self
            .writer
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if writer.recv_timeout(DROP_WITHIN) == Err(mpsc::RecvTimeoutError::Timeout) {
            tracing::warn!("the writer goes on after its engine: the journal takes long");
        }
    }
}
