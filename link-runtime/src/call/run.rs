//! The loop of tries: sends, asks the rule what follows, waits. It decides nothing itself.

use std::time::Duration;

use bytes::Bytes;
use link_wire::{CallId, Caller};
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use super::{CallError, PendingCall, attempt::attempt, note::Note};
use crate::{
    budget::{self, Deadline},
    outcome::{Cause, Class, End, Evidence, Next, Tries},
    request::Request,
    transport::Outgoing,
    wait,
};

/// The reply of a call.
pub(crate) struct Replied {
    body: Bytes,
    /// The caller that the reply names.
    caller: Option<Caller>,
    /// The command, in case that the body cannot be read.
    pending: Option<PendingCall>,
}

impl Replied {
    /// Reads the body of a yes. A reply without one is that of a type that JSON writes as `null`.
    pub(super) fn read<R: DeserializeOwned>(&self) -> Result<R, CallError> {
        let json: &[u8] = if self.body.is_empty() {
            b"null"
        } else {
            &self.body
        };
        serde_json::from_slice(json).map_err(|error| CallError::Unknown {
            call: self.pending.clone(),
            cause: Cause::Undecodable {
                why: error.to_string(),
            },
        })
    }

    /// Lets the server know, with the next command, that the reply of this one is here.
    pub(super) fn acknowledge(self, request: &Request) {
        if let (Some(call), Some(caller)) = (self.pending, self.caller) {
            request.known().arrived(&caller, call.id);
        }
    }
}

/// Sends a call until it has a reply, or until the rule ends it.
pub(crate) async fn run(
    request: &Request,
    within: Option<Duration>,
    id: Option<&CallId>,
) -> Result<Replied, CallError> {
    let mut note = Note::new(request, id);
    match tries(request, within, &mut note).await {
        Ok((body, caller)) => Ok(Replied {
            body,
            caller,
            pending: note.pending(),
        }),
        Err(End::Refused(refused)) => Err(CallError::Refused(refused)),
        Err(End::NotSent(cause)) => Err(CallError::NotSent { cause }),
        Err(End::Unknown(cause)) => Err(CallError::Unknown {
            call: note.pending(),
            cause,
        }),
    }
}

async fn tries(
    request: &Request,
    within: Option<Duration>,
    note: &mut Note<'_>,
) -> Result<(Bytes, Option<Caller>), End> {
    let (link, route, judge) = (request.link(), request.route(), request.judge());
    let outgoing = request.outgoing().map_err(End::NotSent)?;
    let limits = link.limits();
    let (within, most) = budget::of(route.budget, within, limits.attempt);
    let deadline = Deadline::of(within);
    let mut tries = Tries::new(route.kind, most);
    link.count_call();
    loop {
        if deadline.left().is_zero() {
            return Err(tries.out_of_time(Cause::Budget { within }));
        }
        let number = tries.number();
        let outgoing =
            of_try(request, &outgoing, note, number, deadline).map_err(|cause| tries.end(cause))?;
        let lease = link.http().calls();
        let seen = attempt(request, &lease, outgoing, deadline).await;
        request.saw(&seen.evidence);
        // A fault of a client that was replaced is older than what its successor has shown.
        if !seen.evidence.swaps() || link.http().is_current(&lease) {
            link.set_state(&judge, &seen.evidence);
        }
        if seen.evidence.swaps() && link.http().swap(&lease) {
            link.count_swap();
        }
        if let (true, Some(lost)) = (seen.evidence.is_rollback(), note.seen()) {
            link.rolled_back(lost);
        }
        let class = judge.class(&seen.evidence, route.kind);
        if class == Class::Reply {
            note.replied();
        }
        let next = tries.next(class, deadline.left(), limits, wait::random());
        tracing::debug!(route = route.name, attempt = number, ?next, "try");
        match next {
            Next::Reply => return Ok((seen.body.map_err(End::Unknown)?, caller(seen.evidence))),
            Next::Again(wait) => sleep(wait).await,
            Next::AtOnce(here) => note.move_to(here),
            Next::End(end) => return Err(end),
        }
    }
}

fn caller(evidence: Evidence) -> Option<Caller> {
    match evidence {
        Evidence::Head(head) => head.caller,
        Evidence::NeverSent { .. } | Evidence::Fault { .. } | Evidence::Brief { .. } => None,
    }
}

/// What one try sends: also who calls, and what its call has noted.
fn of_try(
    request: &Request,
    all: &Outgoing,
    note: &Note<'_>,
    number: u32,
    deadline: Deadline,
) -> Result<Outgoing, Cause> {
    let mut outgoing = all.clone();
    request.prove(&mut outgoing.headers)?;
    note.add_to(&mut outgoing.headers, number, deadline)?;
    Ok(outgoing)
}
