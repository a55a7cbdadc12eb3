//! The loop of tries: sends, asks the rule what follows, waits. It decides nothing itself.

use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use link_wire::{Attempts, CallId, Caller, Kind};
use serde::de::DeserializeOwned;

use tracing::Instrument as _;

use super::{CallError, PendingCall, attempt::attempt, note::Note, owed, spans};
use crate::{
    auth::Shown,
    budget::{self, Deadline},
    outbox::{Entry, Promise, SettledHow},
    outcome::{Cause, Class, End, Evidence, Next, Tries},
    request::{Api, NotShown, Request},
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
            queued: false,
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

/// Sends a query or a signal until it has a reply, or until the rule ends it.
pub(super) async fn run(
    request: &Request,
    within: Option<Duration>,
    once: bool,
) -> Result<Replied, CallError> {
    let mut note = Note::new(request, None);
    let replied = match request.outgoing() {
        Ok(outgoing) => {
            let (deadline, most) = budget(request, within);
            let most = if once { Attempts::AtMost(1) } else { most };
            let tries = Tries::new(request.route().kind, most);
            send(request, &outgoing, &mut note, (tries, deadline), None).await
        }
        Err(cause) => Err(End::NotSent(cause)),
    };
    let replied = replied.map(|(body, caller)| Replied {
        body,
        caller,
        pending: None,
    });
    replied.map_err(|end| CallError::of(end, None, false))
}

/// Sends a command until it has a reply, or until the rule ends it; by an outbox, if there is one.
pub(super) async fn command(
    request: &Request,
    within: Option<Duration>,
    id: &CallId,
    again: bool,
) -> Result<Replied, CallError> {
    let not_sent = |cause| CallError::NotSent { cause };
    let outgoing = request.outgoing().map_err(not_sent)?;
    let (deadline, most) = budget(request, within);
    let promise = owed::promise(request, &outgoing, id, again).map_err(not_sent)?;
    let id = promise.as_ref().map_or(id, Promise::id).clone();
    let mut note = match &promise {
        Some(promise) => {
            let caller = promise.caller().cloned();
            Note::of(request, Some(&id), (promise.seen(), caller))
        }
        None => Note::new(request, Some(&id)),
    };
    let tries = match &promise {
        Some(promise) if promise.is_earlier() => Tries::after_others(Kind::Command, most),
        _ => Tries::new(Kind::Command, most),
    };
    let turn = match &promise {
        Some(promise) => owed::its_turn(request, promise, deadline).await,
        None => Ok(()),
    };
    let replied = match turn {
        Ok(()) => {
            let of = (tries, deadline);
            send(request, &outgoing, &mut note, of, promise.as_ref()).await
        }
        Err(cause) => Err(tries.end(cause)),
    };
    match replied {
        Ok((body, caller)) => {
            if let Some(promise) = promise {
                promise.end(SettledHow::Replied);
            }
            Ok(Replied {
                body,
                caller,
                pending: note.pending(),
            })
        }
        Err(end) => {
            let queued = promise.is_some_and(|promise| owed::ended(promise, &end));
            Err(CallError::of(end, note.pending(), queued))
        }
    }
}

/// Sends a command of the outbox once more.
pub(crate) async fn send_again(api: &Api, entry: &Entry) -> Result<(), End> {
    let request = api.stored(entry);
    let mut note = Note::new(&request, Some(&entry.id));
    let outgoing = request.outgoing().map_err(End::NotSent)?;
    let (deadline, most) = budget(&request, None);
    let tries = Tries::after_others(Kind::Command, most);
    let sent = send(&request, &outgoing, &mut note, (tries, deadline), None).await;
    sent.map(drop)
}

fn budget(request: &Request, within: Option<Duration>) -> (Deadline, Attempts) {
    let attempt = request.link().limits().attempt;
    let (within, most) = budget::of(request.route().budget, within, attempt);
    (Deadline::of(within), most)
}

/// All tries of one call, in a span.
async fn send(
    request: &Request,
    outgoing: &Outgoing,
    note: &mut Note<'_>,
    of: (Tries, Deadline),
    promise: Option<&Promise>,
) -> Result<(Bytes, Option<Caller>), End> {
    let span = spans::call(request.route(), note.id());
    let ended = tries(request, outgoing, note, of, promise);
    let ended = ended.instrument(span.clone()).await;
    spans::ended(&span, ended.as_ref().err());
    ended
}

async fn tries(
    request: &Request,
    outgoing: &Outgoing,
    note: &mut Note<'_>,
    (mut tries, deadline): (Tries, Deadline),
    promise: Option<&Promise>,
) -> Result<(Bytes, Option<Caller>), End> {
    let (link, route, judge) = (request.link(), request.route(), request.judge());
    let (limits, within) = (link.limits(), deadline.within());
    link.count_call();
    let (mut renewed, mut probe) = (false, None);
    loop {
        if deadline.left().is_zero() {
            return Err(tries.out_of_time(Cause::Budget { within }));
        }
        let shown = match request.shown(deadline).await {
            Ok(shown) => shown,
            Err(NotShown::Ends(cause)) => return Err(tries.end(cause)),
            Err(NotShown::Late(cause)) => return Err(tries.out_of_time(cause)),
            Err(NotShown::Later(cause)) => {
                let class = Class::Again {
                    cause,
                    arrived: false,
                    retry_after: None,
                };
                match tries.next(class, deadline.left(), limits, wait::random()) {
                    Next::Again(wait) => link.pause(wait, deadline, &mut probe).await,
                    Next::End(end) => return Err(end),
                    Next::Reply | Next::AtOnce(_) => {}
                }
                continue;
            }
        };
        let number = tries.number();
        let outgoing =
            of_try(&shown, outgoing, note, number, deadline).map_err(|cause| tries.end(cause))?;
        let lease = link.http().calls();
        if let Some(promise) = promise {
            promise.try_begins();
        }
        let span = spans::attempt(route, number);
        let seen = attempt(request, &lease, outgoing, deadline);
        let seen = seen.instrument(span.clone()).await;
        spans::seen(&span, &seen.evidence);
        request.saw(&seen.evidence);
        if !renewed && request.renew(&shown, &seen.evidence, deadline).await {
            renewed = true;
            tries.not_looked_at();
            continue;
        }
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
            Next::Again(wait) => link.pause(wait, deadline, &mut probe).await,
            Next::AtOnce(here) => {
                note.move_to(here);
                if let Some(promise) = promise {
                    promise.moved(here);
                }
            }
            Next::End(end) => return Err(end),
        }
    }
}

fn caller(evidence: Evidence) -> Option<Caller> {
    match evidence {
        Evidence::Head(head) => head.caller,
        Evidence::NeverSent { .. }
        | Evidence::Fault { .. }
        | Evidence::Unprocessed { .. }
        | Evidence::Brief { .. } => None,
    }
}

/// What one try sends: also who calls, and what its call has noted.
fn of_try(
    shown: &Shown,
    all: &Outgoing,
    note: &Note<'_>,
    number: u32,
    deadline: Deadline,
) -> Result<Outgoing, Cause> {
    let mut outgoing = all.clone();
    if let Some(header) = &shown.header {
        outgoing.headers.insert(AUTHORIZATION, header.clone());
    }
    note.add_to(&mut outgoing.headers, number, deadline)?;
    Ok(outgoing)
}
