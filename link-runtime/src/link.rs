//! The one link of a server in this process: its state, its counters, its HTTP client.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use link_wire::{Limits, LogPosition};
use tokio::sync::watch;
use url::Url;

pub use self::base::InvalidBase;
pub(crate) use self::callers::{Acks, Known};
use crate::{
    auth::Credentials,
    outcome::{Evidence, Judge},
    state::{self, State},
    transport::{How, Http},
};

mod base;
mod callers;
mod log;
mod registry;
mod waits;

/// The link of the server at `base`, with [`Limits::DEFAULT`].
///
/// `base` is `http://HOST` or `https://HOST`, with a port and a path before the routes where it
/// has them.
///
/// # Errors
/// What [`InvalidBase`] lists.
pub fn of(base: &str) -> Result<Link, InvalidBase> {
    with(base, Limits::DEFAULT)
}

/// The link of the server at `base`, with these limits.
///
/// Two calls with one server and equal limits give one link while any clone of it lives: the URL
/// is normalised first (case, default port, slashes at its end). After the last clone is gone,
/// the connections are closed and the next call makes a new link, in state [`State::New`].
///
/// # Errors
/// What [`InvalidBase`] lists.
pub fn with(base: &str, limits: Limits) -> Result<Link, InvalidBase> {
    registry::link(&base::normal(base)?, limits, false)
}

/// As [`with`], over HTTP/2 without TLS, spoken from the first byte (h2c with prior knowledge): for a
/// mesh or a proxy that takes it. Over `https:` a link speaks HTTP/2 wherever the server offers
/// it, and needs no more than [`with`].
///
/// The first connection is made by a `GET /healthz`, whatever that answers.
///
/// # Errors
/// What [`InvalidBase`] lists.
pub fn h2c(base: &str, limits: Limits) -> Result<Link, InvalidBase> {
    registry::link(&base::normal(base)?, limits, true)
}

/// The client side that talks to one server. Clones are the same link.
#[derive(Clone)]
pub struct Link(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    base: String,
    limits: Limits,
    /// 8 hex digits; orders the signals of this link together with `signals`.
    id: String,
    signals: AtomicU64,
    state: watch::Sender<State>,
    log: log::SeenLog,
    callers: callers::Callers,
    counters: Counters,
    loopback: bool,
    /// Whether this process ever met anybody at this base, over whichever link: a reply, a
    /// connection that broke, or silence until our own limit. An open of a stream that hung in its
    /// connect until then counts too, since there it looks like silence; a call's try does not.
    met: Arc<AtomicBool>,
    http: Http,
    h2c: bool,
    waits: waits::Waits,
}

#[derive(Debug, Default)]
struct Counters {
    calls: AtomicU64,
    tries: AtomicU64,
    repeats: AtomicU64,
    faults: AtomicU64,
    swaps: AtomicU64,
    rollbacks: AtomicU64,
}

/// What a link has counted since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls that were begun: queries, signals and commands, and the pages of a catch-up.
    pub calls: u64,
    /// Tries of calls, and opens of streams.
    pub tries: u64,
    /// Replies that the server had kept from an earlier try.
    pub repeats: u64,
    /// Tries and streams that ended without an HTTP reply, or in the middle of one.
    pub faults: u64,
    /// How often the HTTP client for calls was replaced after a fault.
    pub swaps: u64,
    /// How often the server said that its log was rolled back (a restored backup, another disk):
    /// once for each run of the log that it does not hold as far as this link has seen it.
    pub rollbacks: u64,
}

impl Link {
    fn new(
        base: &Url,
        limits: Limits,
        h2c: bool,
        met: Arc<AtomicBool>,
    ) -> Result<Self, InvalidBase> {
        let connect = limits.connect;
        let http = Http::new(How { connect, h2c }).map_err(|error| InvalidBase::NoClient {
            why: error.to_string(),
        })?;
        Ok(Self(Arc::new(Shared {
            base: base.as_str().trim_end_matches('/').to_owned(),
            limits,
            // Without randomness, links of two processes may share an ID; nothing else breaks.
            id: format!("{:08x}", getrandom::u32().unwrap_or_default()),
            signals: AtomicU64::new(0),
            state: watch::Sender::new(State::New),
            log: log::SeenLog::default(),
            callers: callers::Callers::default(),
            counters: Counters::default(),
            loopback: base::is_loopback(base),
            met,
            http,
            h2c,
            waits: waits::Waits::default(),
        })))
    }

    /// The URL of the server, normalised, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.0.base
    }

    /// The limits that it was made with.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// How the link stands, now and at each change. See [`link_line`](crate::link_line) for its
    /// text.
    pub fn state(&self) -> watch::Receiver<State> {
        self.0.state.subscribe()
    }

    /// What was counted so far. The numbers are read one after the other.
    pub fn stats(&self) -> Stats {
        let Counters {
            calls,
            tries,
            repeats,
            faults,
            swaps,
            rollbacks,
        } = &self.0.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            calls: read(calls),
            tries: read(tries),
            repeats: read(repeats),
            faults: read(faults),
            swaps: read(swaps),
            rollbacks: read(rollbacks),
        }
    }

    pub(crate) fn http(&self) -> &Http {
        &self.0.http
    }

    /// The order of the next signal: `LINK.NUMBER`, the number from 1.
    pub(crate) fn next_signal(&self) -> String {
        format!(
            "{}.{}",
            self.0.id,
            self.0.signals.fetch_add(1, Ordering::Relaxed) + 1
        )
    }

    /// Whether a refused connect means that nobody was ever there.
    pub(crate) fn nobody_ever(&self) -> bool {
        self.0.loopback && !self.0.met.load(Ordering::Relaxed)
    }

    /// The newest place in the server's log that a reply has said.
    pub(crate) fn seen(&self) -> Option<LogPosition> {
        self.0.log.newest()
    }

    /// What is known of the caller that these credentials prove.
    pub(crate) fn known(&self, credentials: &Credentials) -> Arc<Known> {
        self.0.callers.of(credentials)
    }

    /// Reports, once for each run, that the server does not hold what this link has seen of it.
    pub(crate) fn rolled_back(&self, lost: LogPosition) {
        if self.0.log.lose(lost.run) {
            self.0.counters.rollbacks.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(
                server = self.base(),
                seen = %lost,
                "the server's log was rolled back: commands after its end are lost"
            );
        }
    }

    pub(crate) fn count_call(&self) {
        self.0.counters.calls.fetch_add(1, Ordering::Relaxed);
        self.fund();
    }

    pub(crate) fn count_swap(&self) {
        self.0.counters.swaps.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what was seen of a try, and notes where the server's log is.
    pub(crate) fn count_try(&self, evidence: &Evidence) {
        let counters = &self.0.counters;
        counters.tries.fetch_add(1, Ordering::Relaxed);
        match evidence {
            Evidence::Head(head) => {
                self.0.met.store(true, Ordering::Relaxed);
                if let Some(said) = head.log {
                    self.0.log.saw(said);
                }
                if head.repeat {
                    counters.repeats.fetch_add(1, Ordering::Relaxed);
                }
            }
            Evidence::Fault { .. } => {
                self.0.met.store(true, Ordering::Relaxed);
                self.count_fault();
            }
            Evidence::NeverSent { .. } => self.count_fault(),
            // A server that ends in order is no fault.
            Evidence::Unprocessed { .. } => self.0.met.store(true, Ordering::Relaxed),
            Evidence::Brief { .. } => {}
        }
    }

    pub(crate) fn count_fault(&self) {
        self.0.counters.faults.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the state by what was seen of a try.
    pub(crate) fn set_state(&self, judge: &Judge, evidence: &Evidence) {
        state::set(&self.0.state, judge.standing(evidence));
    }

    fn is(&self, limits: &Limits, h2c: bool) -> bool {
        self.0.limits == *limits && self.0.h2c == h2c
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.0.base)
    }
}
