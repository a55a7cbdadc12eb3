//! The task that sends what waits: one command at a time, the oldest first, until none waits.

use std::{sync::Arc, time::Duration};

use super::{
    format::{Entry, SettledHow},
    queue::Queue,
};
use crate::{
    Api,
    call::send_again,
    clock,
    outcome::{Cause, End},
    wait,
};

/// The wait before a command is tried again of which the server knows nobody who may send it, or
/// which needs another build.
const PAUSE: Duration = Duration::from_secs(60);

pub(super) async fn run(queue: Arc<Queue>, api: Api) {
    let mut failed = 0_u32;
    loop {
        let Some(entry) = queue.next() else {
            if queue.ends() {
                return;
            }
            api.link().nap(PAUSE).await;
            queue.resume();
            continue;
        };
        if clock::wall() > entry.until {
            expire(&queue, &entry);
            continue;
        }
        let after = match send_again(&api, &entry).await {
            Ok(()) => {
                queue.end(&entry, SettledHow::Replied, false);
                None
            }
            Err(end) => follows(&queue, &entry, end),
        };
        match after {
            None => failed = 0,
            Some(hint) => {
                failed = failed.saturating_add(1);
                let ours = wait::wait(failed, api.link().limits(), wait::random());
                api.link().nap(ours.max(hint)).await;
            }
        }
    }
}

/// Takes the end of a try. None: the next command has its turn. A time: the server was not
/// reached, and asks for no less.
fn follows(queue: &Queue, entry: &Entry, end: End) -> Option<Duration> {
    match end {
        End::Refused(no) => {
            let (code, detail) = (no.code, no.detail);
            queue.end(entry, SettledHow::Refused { code, detail }, false);
            None
        }
        End::Unknown(cause) if cause.ran() => {
            queue.end(entry, SettledHow::Replied, false);
            None
        }
        End::Unknown(cause) | End::NotSent(cause) => {
            if cause.is_of_another_caller() {
                queue.leave(&entry.id);
            } else if cause.pauses() {
                tracing::warn!(call = %entry.id, %cause, "a command in the outbox waits");
                queue.pause(&entry.id);
            } else if cause.stops() {
                tracing::warn!(call = %entry.id, %cause, "a command in the outbox is not sent any more");
                queue.stop(&entry.id, cause.to_string());
            } else {
                return Some(hint(&cause));
            }
            None
        }
    }
}

fn hint(cause: &Cause) -> Duration {
    match cause {
        Cause::Busy { retry_after, .. } | Cause::FrontEnd { retry_after, .. } => {
            retry_after.unwrap_or_default()
        }
        _ => Duration::ZERO,
    }
}

fn expire(queue: &Queue, entry: &Entry) {
    tracing::warn!(
        call = %entry.id,
        route = entry.route,
        "a command leaves the outbox, as its time is over: it may have run"
    );
    queue.end(entry, SettledHow::Expired, false);
}
