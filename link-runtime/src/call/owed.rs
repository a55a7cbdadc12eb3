//! A command and the outbox: how it gets in, when it has its turn, and how it leaves.

use link_wire::{CallId, OutboxRule};
use tokio::time::timeout;

use crate::{
    budget::Deadline,
    outbox::{self, Promise, SettledHow},
    outcome::{Cause, End},
    request::Request,
    transport::Outgoing,
};

/// Puts the command into the outbox, if it goes through one. From here on no crash of the process
/// loses it.
pub(super) fn promise(
    request: &Request,
    outgoing: &Outgoing,
    id: &CallId,
    again: bool,
) -> Result<Option<Promise>, Cause> {
    let (link, route) = (request.link(), request.route());
    let keep = match route.outbox {
        OutboxRule::Keep => link.limits().outbox_keep,
        OutboxRule::Within(most) => most.min(link.limits().outbox_keep),
        OutboxRule::No => return Ok(None),
    };
    let Some(queue) = request.api().queue() else {
        return Ok(None);
    };
    let base = link.base();
    let url = outgoing.url.as_str();
    let path = url.strip_prefix(base).unwrap_or(url);
    let said = (outgoing.method.as_str(), path, outgoing.body.as_ref());
    let caller = request.known().caller().or_else(|| queue.caller());
    let seen = (link.seen().or_else(|| queue.seen()), caller);
    let entry = outbox::entry(id.clone(), route.name, said, keep, seen);
    let promise = queue.promise(request.api(), entry, again);
    promise.map(Some).map_err(|error| Cause::Outbox {
        why: error.to_string(),
    })
}

/// Waits until no older command of the caller waits in the outbox.
pub(super) async fn its_turn(
    request: &Request,
    promise: &Promise,
    deadline: Deadline,
) -> Result<(), Cause> {
    if let Some(queue) = request.api().queue() {
        queue.wake(request.api());
    }
    match timeout(deadline.left(), promise.is_first()).await {
        Ok(()) => Ok(()),
        Err(_) => Err(Cause::Behind {
            ahead: request.api().queue().map_or(0, |queue| queue.waiting()),
        }),
    }
}

/// Takes the end of a call without a reply. Whether the outbox sends the command again.
pub(super) fn ended(promise: Promise, end: &End) -> bool {
    match end {
        End::Refused(no) => promise.end(SettledHow::Refused {
            code: no.code.clone(),
            detail: no.detail.clone(),
        }),
        End::NotSent(_) => promise.end(SettledHow::NotSent),
        End::Unknown(cause) if cause.ran() => promise.end(SettledHow::Replied),
        End::Unknown(cause) if cause.stops() => promise.stop(cause.to_string()),
        End::Unknown(_) => return true,
    }
    false
}
