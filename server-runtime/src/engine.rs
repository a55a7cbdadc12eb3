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
//! Locks are taken in one order: core, written, presence. The journal is written outside of all
//! of them. Nothing is dropped from the table of calls: it grows with the log.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        mpsc,
    },
    time::Duration,
};

use link_wire::{Caller, Position, Route};
use tokio::sync::{broadcast, watch};

use self::{
    calls::{Call, Calls, Known},
    queue::Queue,
    stage::{Checked, Halt, Verdict},
};
use crate::{
    Cx, Input, Presence, Record, State, clock,
    handler::{CommandFn, Heard, No, Projection},
    journal::{Found, Journal, JournalError},
    presence::Sent,
};

pub(crate) mod calls;
mod decide;
mod queue;
mod replay;
pub(crate) mod stage;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

/// How many chunks a stream may be behind before it ends.
const STREAM_BEHIND: usize = 1024;
/// How long the drop of the last handle waits for the writer.
const DROP_WITHIN: Duration = Duration::from_secs(2);

/// The engine over one state and one journal. A clone is another handle of the same engine.
///
/// When the last handle goes, what is queued is written and the journal is closed; that drop
/// waits for the writer, two seconds at most.
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

/// What a start found in its journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many records there are.
    pub records: u64,
    /// How many calls are remembered.
    pub calls: u64,
    /// What the journal had to repair.
    pub found: Found,
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record is whole and makes no sense.
    #[error("the record at {position} cannot be read: {what}; `log show` tells what it holds")]
    Record {
        /// Its place.
        position: Position,
        /// What is wrong with it.
        what: String,
    },
    /// A change is not one that this program knows: it is older than the log.
    #[error(
        "this program does not know the change at {position}, made by `{command}`: start the \
         version that wrote it, or a newer one"
    )]
    UnknownChange {
        /// Its place.
        position: Position,
        /// The name of the command's route.
        command: String,
        /// What serde says.
        source: serde_json::Error,
    },
    /// `apply` panicked.
    #[error("`apply` panicked at the record at {position}, made by `{command}`")]
    Apply {
        /// Its place.
        position: Position,
        /// The name of the command's route.
        command: String,
    },
    /// The writer's thread cannot be started.
    #[error("the writer cannot be started")]
    Thread(#[source] std::io::Error),
}

/// Whether the engine takes commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// What is queued is still written.
    Closing,
    /// All is written, and the journal is closed.
    Closed,
    /// For good. The text is for the log and the operator.
    Failed(Arc<str>),
}

struct Handle<S: State> {
    shared: Arc<Shared<S>>,
    opened: Opened,
    /// Disconnected when the writer has ended.
    writer: Mutex<mpsc::Receiver<()>>,
}

struct Shared<S: State> {
    core: Mutex<Core<S>>,
    /// Tells the writer that something is queued, or that it should end.
    work: Condvar,
    written: RwLock<WrittenState<S>>,
    presence: RwLock<Presence>,
    /// Changes only while the core is locked.
    phase: watch::Sender<Phase>,
}

/// What commands are decided against.
struct Core<S: State> {
    pending: S,
    /// The position of the next record.
    next: Position,
    calls: Calls,
    queue: Queue<S::Change>,
}

/// What everybody else may see.
struct WrittenState<S: State> {
    state: S,
    /// None when no record can come any more.
    records: Option<broadcast::Sender<Records<S::Change>>>,
}

/// The records of one chunk, shared by all who tell them.
pub(crate) type Records<C> = Arc<[Record<C>]>;

/// A stream that was opened: the records from now on.
pub(crate) struct Live<C> {
    pub(crate) projection: Projection<C>,
    pub(crate) records: broadcast::Receiver<Records<C>>,
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
        let (records, _) = broadcast::channel(STREAM_BEHIND);
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
                records: Some(records),
            }),
            presence: RwLock::default(),
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
    pub async fn close(&self) -> Result<(), EngineFailed> {
        self.handle.shared.begin_close();
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
        self.handle
            .shared
            .presence_mut()
            .touch(caller, clock::now());
    }

    /// What is known of a call ID, before anything else of the request is looked at.
    pub(crate) fn look(&self, call: &Call) -> Result<Option<Known>, Halt> {
        let mut core = self.handle.shared.core();
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
        shared.ask(route, caller, &written.state, run)
    }

    /// Keeps a signal that was answered.
    pub(crate) fn hear(&self, caller: &Caller, heard: Heard, sent: Option<Sent>) {
        self.handle
            .shared
            .presence_mut()
            .hear(caller, heard.body, sent);
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
        let records = written
            .records
            .as_ref()
            .ok_or(Halt::Unavailable)?
            .subscribe();
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

impl<S: State> Shared<S> {
    // A lock is never poisoned while its data is half changed: handlers run inside of
    // `catch_unwind`, and a panic of `apply` stops the engine.
    fn core(&self) -> MutexGuard<'_, Core<S>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> RwLockReadGuard<'_, WrittenState<S>> {
        self.written.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn written_mut(&self) -> RwLockWriteGuard<'_, WrittenState<S>> {
        self.written.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn presence(&self) -> RwLockReadGuard<'_, Presence> {
        self.presence.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn presence_mut(&self) -> RwLockWriteGuard<'_, Presence> {
        self.presence
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn ask<T>(
        &self,
        route: &'static Route,
        caller: &Caller,
        state: &S,
        run: impl FnOnce(&S, &Cx<'_>) -> Result<T, No>,
    ) -> Result<T, Halt> {
        let presence = self.presence();
        let cx = Cx::new(caller, clock::now(), &presence);
        match caught(|| run(state, &cx)) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(No::Refused(refusal))) => Err(Halt::Refused(refusal.into())),
            Ok(Err(No::BadInput(detail))) => Err(Halt::BadInput(detail)),
            Ok(Err(No::Failed(what))) => Err(Halt::failed(route, &what)),
            Err(panic) => Err(Halt::failed(route, &panic)),
        }
    }

    fn begin_close(&self) {
        let core = self.core();
        self.phase.send_if_modified(|phase| {
            let open = *phase == Phase::Open;
            if open {
                *phase = Phase::Closing;
            }
            open
        });
        drop(core);
        self.work.notify_one();
    }

    /// Stops the engine for good. Whoever waits is told that nothing is known.
    fn fail(&self, core: &mut Core<S>, why: &str) {
        if matches!(*self.phase.borrow(), Phase::Failed(_)) {
            return;
        }
        tracing::error!(
            why,
            "the engine stopped: it takes no command until the next start"
        );
        self.phase.send_replace(Phase::Failed(why.into()));
        core.queue.clear();
        core.calls.lose_pending();
        self.work.notify_one();
    }
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

/// Runs what an application wrote. A panic becomes its text.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // The state is only read, so that nothing half done is left behind.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| format!("it panicked: {}", text(&*panic)))
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}
