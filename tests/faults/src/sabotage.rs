//! Takes one protection away, so that it can be seen that the counts would notice.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    Chance, Plan, Sabotage,
    message::{Reply, Request},
};

/// How long nothing was read before an event is taken out of a stream. A catch-up that comes
/// after it would bring the event back.
const QUIET: Duration = Duration::from_millis(500);

/// What is needed to take one protection away.
#[derive(Debug)]
pub(crate) struct Saboteur {
    what: Option<Sabotage>,
    call_header: String,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    done: bool,
    /// Call IDs that were passed on: the server may have run them.
    sent: HashSet<String>,
    /// The last good reply of each route and caller.
    kept: HashMap<(String, String), Vec<u8>>,
    /// Queries that are under way, and when the last one ended.
    reading: usize,
    read_at: Option<Instant>,
    /// Streams whose catch-up has not had its last page: it comes, however long it waits.
    owed: HashSet<(String, String)>,
}

impl Saboteur {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            what: plan.sabotage,
            call_header: format!("{}-call", plan.header_prefix),
            known: Mutex::default(),
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.known().done
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at a request before it is passed on; may change it. A reply means that the request
    /// is answered with it and not passed on.
    pub(crate) fn before(&self, request: &mut Request, chance: &mut Chance) -> Option<Vec<u8>> {
        let call = request.head.header(&self.call_header)?.to_owned();
        match self.what? {
            Sabotage::OtherCallId => {
                let other = format!("{:016x}{:016x}", chance.number(), chance.number());
                request.head.replace(&self.call_header, &other);
                self.known().done = true;
                None
            }
            Sabotage::FakeReply => {
                let mut known = self.known();
                if known.done || !known.sent.insert(call) {
                    return None;
                }
                let fake = known.kept.get(&route_of(request)).cloned()?;
                known.done = true;
                Some(fake)
            }
            Sabotage::DropEvent => None,
        }
    }

    /// Looks at a reply that the client is about to get.
    pub(crate) fn replied(&self, request: &Request, reply: &Reply) {
        let is_command = request.head.header(&self.call_header).is_some();
        if !is_command && reply.is_success() && says_no_more(&reply.bytes) {
            self.known().owed.remove(&of_stream(request));
        }
        if self.what == Some(Sabotage::FakeReply) && is_command && reply.is_success() {
            self.known()
                .kept
                .insert(route_of(request), reply.bytes.clone());
        }
    }

    /// Marks a query as under way for as long as the value lives.
    pub(crate) fn reading(&self, request: &Request) -> Option<Reading<'_>> {
        if request.method() != "GET" || request.asks_for_events() {
            return None;
        }
        self.known().reading += 1;
        Some(Reading { saboteur: self })
    }

    /// Takes note of a stream that opens: a catch-up follows.
    pub(crate) fn opened(&self, request: &Request) {
        self.known().owed.insert(of_stream(request));
    }

    /// Whether an event is still to be taken out of a stream.
    pub(crate) fn wants_streams(&self) -> bool {
        self.what == Some(Sabotage::DropEvent) && !self.is_done()
    }

    /// Whether an event of a stream that was opened then can be taken out by now.
    pub(crate) fn may_drop(&self, opened: Instant) -> bool {
        let known = self.known();
        let quiet = known.read_at.map_or(opened, |at| at.max(opened)).elapsed() >= QUIET;
        !known.done && known.reading == 0 && known.owed.is_empty() && quiet
    }

    /// Takes the one event out. False when that was done before.
    pub(crate) fn drop_one(&self) -> bool {
        !std::mem::replace(&mut self.known().done, true)
    }
}

/// What a stream and its catch-up have in common: the caller, and the path but for its last
/// segment.
fn of_stream(request: &Request) -> (String, String) {
    let (path, caller) = route_of(request);
    let path = path.split('?').next().unwrap_or_default();
    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
    (above.to_owned(), caller)
}

/// Whether a page is the last one of a catch-up.
fn says_no_more(reply: &[u8]) -> bool {
    let last = b"\"more\":false";
    reply.windows(last.len()).any(|window| window == last)
}

/// A query is under way.
pub(crate) struct Reading<'a> {
    saboteur: &'a Saboteur,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut known = self.saboteur.known();
        known.reading = known.reading.saturating_sub(1);
        known.read_at = Some(Instant::now());
    }
}

/// A reply fits another command only of the same route and caller.
fn route_of(request: &Request) -> (String, String) {
    let caller = request.head.header("authorization").unwrap_or_default();
    (request.target().to_owned(), caller.to_owned())
}
