//! The doors of commands: look up, decide and queue; settle; tell what became of a call.

use std::time::Duration;

use link_wire::{CallFate, CallId, Caller, Fate, Route, UnixMillis};
use tokio::time::Instant;

use super::{
    Engine,
    calls::{Call, Fingerprint, Known, NotNew, Origin},
    decide,
    shared::{Core, Phase, Shared},
    stage::{Checked, Halt, Queued, Verdict},
};
use crate::{
    Cx, Input, Reply, State, clock,
    handler::{CommandFn, No},
};

/// The name under which a call is cancelled.
const SETTLE: &str = "settle";
/// So many runs of other logs are remembered, so that each is told once.
const MOST_FOREIGN_RUNS: usize = 64;

impl<S: State> Engine<S> {
    /// What is known of a call ID, before anything else of the request is looked at.
    pub(crate) fn look(&self, call: &Call) -> Result<Option<Known>, Halt> {
        let core = self.handle.shared.core();
        if self.has_failed() {
            return Err(Halt::Unavailable);
        }
        Ok(core.calls.look(call))
    }

    /// Decides a command and queues it, with the calls whose replies its caller has got.
    ///
    /// Does not wait for the write, and does not give up its place when the caller goes away.
    pub(crate) fn command(
        &self,
        route: &'static Route,
        run: CommandFn<S>,
        call: Call,
        ack: Vec<CallId>,
        input: &Input<'_>,
    ) -> Result<Known, Halt> {
        let shared = &*self.handle.shared;
        let mut core = shared.core();
        if !self.is_open() {
            return Err(Halt::Unavailable);
        }
        if let Some(known) = core.calls.look(&call) {
            return Ok(known);
        }
        has_room(&core)?;
        let now = clock::now();
        is_new(shared, &mut core, &call, now)?;
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
            ack,
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
        let queued = enqueue(shared, &mut core, checked)?;
        drop(core);
        shared.work.notify_one();
        Ok(Known::Pending(queued))
    }

    /// What became of a call. `origin` says how its tries name it.
    pub(crate) fn fate(
        &self,
        caller: &Caller,
        id: &CallId,
        origin: Origin,
    ) -> Result<CallFate<Reply>, Halt> {
        let shared = &*self.handle.shared;
        let core = shared.core();
        if self.has_failed() {
            return Err(Halt::Unavailable);
        }
        if let Some(fate) = core.calls.fate(caller, id) {
            return Ok(fate);
        }
        let call = nothing(caller, id, origin);
        let fate = match core
            .calls
            .is_new(&call, shared.desk.position(), clock::now())
        {
            Ok(()) | Err(NotNew::TooManyKeys { .. }) => Fate::Unknown,
            Err(NotNew::Forgotten | NotNew::RolledBack) => Fate::Forgotten,
        };
        Ok(CallFate {
            call: id.clone(),
            fate,
            position: None,
            at: None,
            command: None,
            reply: None,
            code: None,
            detail: None,
        })
    }

    /// Settles a call, and tells what became of it: one that is on its way is waited for, one that
    /// is not known and surely never ran is written as cancelled. When this returns, that is
    /// durable. A call that may have run and is forgotten is left as it is: none of its tries runs.
    ///
    /// # Cancel safety
    /// The settling goes on when the future is dropped.
    pub(crate) async fn settle(
        &self,
        caller: &Caller,
        id: &CallId,
        origin: Origin,
        within: Duration,
    ) -> Result<CallFate<Reply>, Halt> {
        if let Some(queued) = self.begin_settle(caller, id, origin)? {
            queued.written(within).await?;
        }
        self.fate(caller, id, origin)
    }

    fn begin_settle(
        &self,
        caller: &Caller,
        id: &CallId,
        origin: Origin,
    ) -> Result<Option<Queued>, Halt> {
        let shared = &*self.handle.shared;
        let mut core = shared.core();
        if self.has_failed() {
            return Err(Halt::Unavailable);
        }
        if let Some(queued) = core.calls.join(caller, id) {
            return Ok(Some(queued));
        }
        let call = nothing(caller, id, origin);
        let (written, now) = (shared.desk.position(), clock::now());
        if core.calls.look(&call).is_some() {
            return Ok(None);
        }
        match core.calls.is_new(&call, written, now) {
            Ok(()) => {}
            Err(NotNew::Forgotten | NotNew::RolledBack) => return Ok(None),
            Err(NotNew::TooManyKeys { retry_after }) => {
                return Err(Halt::TooManyKeys { retry_after });
            }
        }
        if !self.is_open() {
            return Err(Halt::Unavailable);
        }
        has_room(&core)?;
        let checked = Checked {
            call,
            ack: Vec::new(),
            command: SETTLE,
            at: now,
            verdict: Verdict::Cancelled,
        };
        let queued = enqueue(shared, &mut core, checked)?;
        drop(core);
        shared.work.notify_one();
        Ok(Some(queued))
    }

    fn has_failed(&self) -> bool {
        matches!(*self.handle.shared.phase.borrow(), Phase::Failed(_))
    }
}

/// A call of which only the key is known.
fn nothing(caller: &Caller, id: &CallId, origin: Origin) -> Call {
    Call {
        caller: caller.clone(),
        id: id.clone(),
        fingerprint: Fingerprint::NONE,
        attempt: 1,
        origin,
    }
}

/// Whether the queue and, as far as it is known, the journal take a command.
fn has_room<S: State>(core: &Core<S>) -> Result<(), Halt> {
    if core.full.is_some_and(|until| Instant::now() < until) {
        return Err(Halt::Full);
    }
    if core.queue.is_full() {
        return Err(Halt::Busy);
    }
    Ok(())
}

/// Whether an unknown call never ran.
fn is_new<S: State>(
    shared: &Shared<S>,
    core: &mut Core<S>,
    call: &Call,
    now: UnixMillis,
) -> Result<(), Halt> {
    match core.calls.is_new(call, shared.desk.position(), now) {
        Ok(()) => Ok(()),
        Err(NotNew::Forgotten) => Err(Halt::Forgotten),
        Err(NotNew::TooManyKeys { retry_after }) => Err(Halt::TooManyKeys { retry_after }),
        Err(NotNew::RolledBack) => {
            tell_rollback(core, call);
            Err(Halt::RolledBack)
        }
    }
}

/// Says once for each run that a client has seen a log which is not this one.
fn tell_rollback<S: State>(core: &mut Core<S>, call: &Call) {
    let Origin::Link { seen: Some(seen) } = call.origin else {
        return;
    };
    if core.foreign_runs.contains(&seen.run) {
        return;
    }
    if core.foreign_runs.len() == MOST_FOREIGN_RUNS {
        core.foreign_runs.pop_front();
    }
    core.foreign_runs.push_back(seen.run);
    tracing::warn!(
        caller = call.caller.as_str(),
        seen = %seen,
        "a client has seen a log that this one is not: it was put back to an older one, or is \
         another; calls that may have run there do not run here"
    );
}

fn enqueue<S: State>(
    shared: &Shared<S>,
    core: &mut Core<S>,
    checked: Checked<S::Change>,
) -> Result<Queued, Halt> {
    core.enqueue(checked).map_err(|why| {
        shared.fail(core, &why);
        Halt::Unavailable
    })
}

impl<S: State> Engine<S> {
    /// Whether a command is worth a try now: the engine is open, and the journal was not found
    /// without room in the last second. Does not wait for a handler.
    ///
    /// Whether there is room again only a command can find out: a server that stayed not ready
    /// until one succeeds would get none.
    pub fn is_ready(&self) -> bool {
        let until = *self.handle.shared.counts.full_until();
        self.is_open() && until.is_none_or(|until| Instant::now() >= until)
    }
}
