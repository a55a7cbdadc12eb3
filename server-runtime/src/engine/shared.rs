//! What the doors of the engine and its writer share, and the locks around it.
//!
//! The locks are taken in one order: core, written, then those of presence and of the backlog,
//! which are held for moments only. Poison is not looked at: a handler that panics has changed
//! nothing, and where `apply` panics the data is half changed, so `pending` is not asked after the
//! phase is failed, and `written` not while it is `broken`.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    },
};

use link_wire::{Caller, Position, Route};
use tokio::{sync::watch, time::Instant};

use super::{backlog::Backlog, calls::Calls, queue::Queue, stage::Halt};
use crate::{Cx, Presence, State, clock, handler::No, presence::Room};

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

pub(super) struct Shared<S: State> {
    pub(super) core: Mutex<Core<S>>,
    /// Tells the writer that something is queued, or that it should end.
    pub(super) work: Condvar,
    pub(super) written: RwLock<WrittenState<S>>,
    pub(super) room: Arc<Room>,
    /// Changes only while the core is locked.
    pub(super) phase: watch::Sender<Phase>,
}

/// What commands are decided against.
pub(super) struct Core<S: State> {
    pub(super) pending: S,
    /// The position of the next record.
    pub(super) next: Position,
    pub(super) calls: Calls,
    pub(super) queue: Queue<S::Change>,
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
