//! The loop of tries: sends, asks the rule what follows, waits. It decides nothing itself.

use std::time::Duration;

use bytes::Bytes;
use link_wire::{CallId, Kind};
use tokio::time::sleep;

use super::{CallError, attempt::attempt};
use crate::{
    budget::{self, Deadline},
    outcome::{Cause, End, Next, Tries},
    request::{self, Request},
    transport::Outgoing,
    wait,
};

/// Sends a call until it has a reply, or until the rule ends it. Gives the body of the reply.
pub(crate) async fn run(
    request: &Request,
    within: Option<Duration>,
    id: Option<&CallId>,
) -> Result<Bytes, CallError> {
    tries(request, within, id).await.map_err(|end| match end {
        End::Refused(refused) => CallError::Refused(refused),
        End::NotSent(cause) => CallError::NotSent { cause },
        End::Unknown(cause) => CallError::Unknown {
            call: id.cloned(),
            cause,
        },
    })
}

async fn tries(
    request: &Request,
    within: Option<Duration>,
    id: Option<&CallId>,
) -> Result<Bytes, End> {
    let (link, route, judge) = (request.link(), request.route(), request.judge());
    let outgoing = outgoing(request, id).map_err(End::NotSent)?;
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
        let outgoing = of_try(request, &outgoing, id.is_some().then_some(number))
            .map_err(|cause| tries.end(cause))?;
        let lease = link.http().calls();
        let seen = attempt(request, &lease, outgoing, deadline).await;
        link.count_try(&seen.evidence);
        // A fault of a client that was replaced is older than what its successor has shown.
        if !seen.evidence.swaps() || link.http().is_current(&lease) {
            link.set_state(&judge, &seen.evidence);
        }
        if seen.evidence.swaps() && link.http().swap(&lease) {
            link.count_swap();
        }
        let class = judge.class(&seen.evidence, route.kind);
        let next = tries.next(class, deadline.left(), limits, wait::random());
        tracing::debug!(route = route.name, attempt = number, ?next, "try");
        match next {
            Next::Reply => return seen.body.map_err(End::Unknown),
            Next::Again(wait) => sleep(wait).await,
            Next::End(end) => return Err(end),
        }
    }
}

/// What all tries of a call send alike: also the call ID, or a signal's place in the order.
fn outgoing(request: &Request, id: Option<&CallId>) -> Result<Outgoing, Cause> {
    let mut outgoing = request.outgoing()?;
    let names = &request.service().headers;
    if let Some(id) = id {
        request::set(&mut outgoing.headers, names.call, id.as_str())?;
    }
    if request.route().kind == Kind::Signal {
        request::set(
            &mut outgoing.headers,
            names.sent,
            request.link().next_signal(),
        )?;
    }
    Ok(outgoing)
}

/// What one try sends: also who calls, and the number of a command's try.
fn of_try(request: &Request, all: &Outgoing, number: Option<u32>) -> Result<Outgoing, Cause> {
    let mut outgoing = all.clone();
    request.prove(&mut outgoing.headers)?;
    if let Some(number) = number {
        let header = request.service().headers.attempt;
        request::set(&mut outgoing.headers, header, number.to_string())?;
    }
    Ok(outgoing)
}
