//! What the doors of the engine and its writer share, and the locks around it.
//!
//! The locks are taken in one order: core, written, then those of presence and of the backlog,
//! which are held for moments only. Poison is not looked at: a handler that panics has changed
//! nothing, and where `apply` panics the data is half changed, so `pending` is not asked after the
//! phase is failed, and `written` not while it is `broken`.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        Weak,
        atomic::{AtomicBool, AtomicU64},
    },
};

use link_wire::{Caller, Position, Route, RunId};
use tokio::{sync::watch, time::Instant};

use super::{backlog::Backlog, calls::Calls, checkpoint::Desk, queue::Queue, stage::Halt};
use crate::{Cx, Presence, State, clock, handler::No, journal::Journal, presence::Room};

/// Whether the engine takes commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// What is queued is still written.
    Closing,
    /// All is written.
    Closed,
    /// For good. The text is for the log and the operator.
    Failed(Arc<str>),
}

pub(super) struct Shared<S: State> {
    pub(super) core: Mutex<Core<S>>,
    /// Tells the writer that something is queued, or that it should end.
    pub(super) work: Condvar,
    pub(super) written: RwLock<WrittenState<S>>,
    pub(super) room: Arc<Room>,
    /// Changes only while the core is locked.
    pub(super) phase: watch::Sender<Phase>,
    /// The run of this writer.
    pub(super) run: RunId,
    /// What is written, and what checkpoints there are.
    pub(super) desk: Arc<Desk>,
    pub(super) counts: Counts,
    /// The journal stays open as long as a thread of the engine uses it.
    pub(super) journal: Weak<dyn Journal>,
}

/// What the writer did since the start.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) chunks: AtomicU64,
    pub(super) records: AtomicU64,
    /// Whether the journal had no room at the last try.
    pub(super) full: AtomicBool,
    /// Until when no command is tried, as the journal had no room.
    pub(super) full_until: Mutex<Option<Instant>>,
}

impl Counts {
    /// Held for a moment only.
    pub(super) fn full_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.full_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What commands are decided against.
pub(super) struct Core<S: State> {
    pub(super) pending: S,
    /// The position of the next record.
    pub(super) next: Position,
    pub(super) calls: Calls,
    pub(super) queue: Queue<S::Change>,
    /// Set while the journal has no room. Until then no command is tried.
    pub(super) full: Option<Instant>,
    /// Runs that clients have seen and this log does not hold, the newest last.
    pub(super) foreign_runs: VecDeque<RunId>,
}

impl<S: State> Core<S> {
    pub(super) fn new(pending: S, next: Position, calls: Calls) -> Self {
        Self {
            pending,
            next,
            calls,
            queue: Queue::default(),
            full: None,
            foreign_runs: VecDeque::new(),
        }
    }
}

/// What everybody else may see.
pub(super) struct WrittenState<S: State> {
    pub(super) state: S,
    /// None when no record can come any more.
    pub(super) records: Option<Backlog<S::Change>>,
    /// Set while a chunk is applied. It stays when that panics: then half a chunk stands here,
    /// which nobody may see.
    pub(super) broken: bool,
}

impl<S: State> Shared<S> {
    pub(super) fn core(&self) -> MutexGuard<'_, Core<S>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn written(&self) -> RwLockReadGuard<'_, WrittenState<S>> {
        self.written.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn written_mut(&self) -> RwLockWriteGuard<'_, WrittenState<S>> {
        self.written.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who is here, for one handler.
    pub(super) fn presence(&self) -> Presence {
        Presence::of(&self.room, Instant::now())
    }

    pub(super) fn ask<T>(
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

    pub(super) fn begin_close(&self) {
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
    pub(super) fn fail(&self, core: &mut Core<S>, why: &str) {
        if matches!(*self.phase.borrow(), Phase::Failed(_)) {
            return;
        }
        self.phase.send_replace(Phase::Failed(why.into()));
        core.queue.clear();
        core.calls.lose_pending();
        self.work.notify_one();
        // Last: that it has stopped must be known also where the line cannot be written.
        tracing::error!(
            why,
            "the engine stopped: it takes no command until the next start"
        );
    }
}

/// Runs what an application wrote. A panic becomes its text.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // A handler only reads the state. Whoever applies a change must not show it after a panic.
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| format!("it panicked: {}", text(&*panic)))
}

pub(super) fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}
