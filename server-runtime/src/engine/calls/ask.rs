//! The questions to the table: what is known of a call, and whether an unknown one is new.

use link_wire::{CallFate, CallId, Caller, Fate, Position, UnixMillis};

use super::{Body, Call, Calls, Fingerprint, Known, NotNew, Origin, left, slots::Slot};
use crate::{
    engine::stage::{Queued, Written},
    handler::Reply,
    log::line::Outcome,
    refusal::KeptRefusal,
};

impl Calls {
    /// What is known of this call. A try of a pending one joins those who wait for it.
    pub(in super::super) fn look(&self, call: &Call) -> Option<Known> {
        let slot = &self.slots[self.find(&call.caller, &call.id)?];
        // A cancelled call never had a body that it could be told by.
        if matches!(slot.body, Body::Cancelled) {
            return Some(Known::Cancelled);
        }
        // One that is being cancelled, or a cancel, is no other command.
        let cancels = [slot.fingerprint, call.fingerprint].contains(&Fingerprint::NONE);
        if slot.fingerprint != call.fingerprint && !cancels {
            return Some(Known::Reused);
        }
        Some(match &slot.body {
            Body::Pending(waiters) => Known::Pending(Queued::joined(waiters)),
            Body::Reply(reply) => Known::Kept(again(Outcome::Reply(reply.clone()))),
            Body::Refused(refusal) => Known::Kept(again(Outcome::Refused((**refusal).clone()))),
            Body::ThinRan => Known::ReplyForgotten,
            Body::ThinRefused(refused) => Known::RefusedThin {
                status: refused.0,
                code: refused.1.to_string(),
            },
            Body::Cancelled | Body::Free(_) => Known::Cancelled,
        })
    }

    /// Joins those who wait for a call, if it is pending.
    pub(in super::super) fn join(&self, caller: &Caller, id: &CallId) -> Option<Queued> {
        match &self.slots[self.find(caller, id)?].body {
            Body::Pending(waiters) => Some(Queued::joined(waiters)),
            _ => None,
        }
    }

    /// Whether a call that is not known surely never ran.
    ///
    /// A command that ran lies in the log behind the position that its link had seen before the
    /// first try. So an ID that was dropped had a position above that; the highest one of the
    /// caller is known, and at or above it nothing of the caller was dropped.
    pub(in super::super) fn is_new(
        &self,
        call: &Call,
        written: Position,
        now: UnixMillis,
    ) -> Result<(), NotNew> {
        let account = self.callers.get(&call.caller);
        let account = account.map(|number| &self.accounts[*number as usize]);
        let seen = match call.origin {
            Origin::Made => return Ok(()),
            Origin::Foreign => {
                let Some(account) = account else {
                    return Ok(());
                };
                let keys = account.foreign.len + account.foreign_pending;
                if keys < self.limits.most_foreign {
                    return Ok(());
                }
                // Without an oldest one they are all pending, and that is over soon.
                let oldest = self.slots.iter(account.foreign, super::By::Caller).next();
                let retry_after = oldest.map_or_else(Default::default, |oldest| {
                    left(self.slots[oldest].at, self.limits.keep, now)
                });
                return if retry_after.is_zero() && oldest.is_some() {
                    Ok(())
                } else {
                    Err(NotNew::TooManyKeys { retry_after })
                };
            }
            Origin::Link { seen } => seen,
        };
        if let Some(seen) = seen
            && !self.runs.has(seen, written)
        {
            return Err(NotNew::RolledBack);
        }
        let position = seen.map_or(Position(0), |seen| seen.position);
        let forgotten = account.map_or(0, |account| account.forgotten);
        if position.0 < forgotten || position < self.runs.floor() {
            return Err(NotNew::Forgotten);
        }
        Ok(())
    }

    /// What became of a call that is known.
    pub(in super::super) fn fate(&self, caller: &Caller, id: &CallId) -> Option<CallFate<Reply>> {
        let slot = &self.slots[self.find(caller, id)?];
        Some(self.fate_of(slot, id.clone()))
    }

    fn fate_of(&self, slot: &Slot, call: CallId) -> CallFate<Reply> {
        let (mut reply, mut code, mut detail) = (None, None, None);
        let fate = match &slot.body {
            Body::Pending(_) => Fate::Pending,
            Body::Reply(kept) => {
                reply = Some(kept.clone());
                Fate::Ran
            }
            Body::ThinRan => Fate::Ran,
            Body::Refused(refusal) => {
                (code, detail) = (Some(refusal.code.clone()), Some(refusal.detail.clone()));
                Fate::Refused
            }
            Body::ThinRefused(refused) => {
                code = Some(refused.1.to_string());
                Fate::Refused
            }
            Body::Cancelled | Body::Free(_) => Fate::Cancelled,
        };
        let known = fate != Fate::Pending;
        let command = self.names.get(usize::from(slot.command));
        CallFate {
            call,
            fate,
            position: known.then_some(Position(slot.position)),
            at: known.then_some(UnixMillis(slot.at)),
            command: command.filter(|_| known).map(ToString::to_string),
            reply,
            code,
            detail,
        }
    }
}

/// A kept outcome, for a try that is not the first.
fn again(outcome: Outcome) -> Written {
    Written::kept(outcome)
}

/// What a try of a call is told that was refused, and of which the text is gone.
pub(crate) fn refused_before(status: u16, code: String) -> Written {
    let detail = "it was refused before, and the text is no longer kept".into();
    again(Outcome::Refused(KeptRefusal {
        status,
        code,
        detail,
    }))
}

/// What a try of a call is told that was settled before it came.
pub(crate) fn cancelled_before() -> Written {
    again(Outcome::Cancelled)
}
