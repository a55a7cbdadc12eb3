//! A command in the outbox as its call holds it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use link_wire::{CallId, Caller, LogPosition};

use super::{
    super::format::{Entry, SettledHow},
    Queue,
};
use crate::{Api, clock};

/// A command whose call runs. When it goes without an end after its first try began, the outbox
/// sends it on.
pub(crate) struct Promise {
    queue: Arc<Queue>,
    api: Api,
    entry: Entry,
    /// Whether an earlier call or process may have sent it.
    earlier: bool,
    /// Whether a try of it has begun.
    tried: AtomicBool,
    kept: bool,
}

impl Promise {
    pub(super) fn new(queue: Arc<Queue>, api: Api, entry: Entry, earlier: bool) -> Self {
        Self {
            queue,
            api,
            entry,
            earlier,
            tried: AtomicBool::new(earlier),
            kept: true,
        }
    }

    pub(crate) fn id(&self) -> &CallId {
        &self.entry.id
    }

    pub(crate) fn seen(&self) -> Option<LogPosition> {
        self.entry.seen
    }

    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.entry.caller.as_ref()
    }

    pub(crate) fn is_earlier(&self) -> bool {
        self.earlier
    }

    /// Returns when nothing older waits.
    pub(crate) async fn is_first(&self) {
        self.queue.is_first(&self.entry.id).await;
    }

    /// A try begins.
    pub(crate) fn try_begins(&self) {
        self.tried.store(true, Ordering::Relaxed);
    }

    pub(crate) fn moved(&self, seen: LogPosition) {
        self.queue.moved(&self.entry.id, seen);
    }

    /// The call ended so, and says it.
    pub(crate) fn end(mut self, how: SettledHow) {
        self.kept = false;
        self.queue.end(&self.entry, how, true);
    }

    /// The call ended, and no other try would tell more.
    pub(crate) fn stop(mut self, why: String) {
        self.kept = false;
        self.queue.stop(&self.entry.id, why);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.kept && !self.tried.load(Ordering::Relaxed) {
            self.queue.end(&self.entry, SettledHow::NotSent, true);
        } else if self.kept {
            self.queue.state().live.remove(&self.entry.id);
            self.queue.wake(&self.api);
        }
    }
}

/// The entry of a command that was made now.
pub(crate) fn entry(
    id: CallId,
    route: &str,
    (method, path, body): (&str, &str, Option<&Bytes>),
    keep: Duration,
    (seen, caller): (Option<LogPosition>, Option<Caller>),
) -> Entry {
    let made = clock::wall();
    let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    Entry {
        id,
        route: route.to_owned(),
        method: method.to_owned(),
        path: path.to_owned(),
        // JSON is text.
        body: body.map(|body| String::from_utf8_lossy(body).into_owned()),
        made,
        until: link_wire::UnixMillis(made.0.saturating_add(keep)),
        seen,
        caller,
    }
}
