//! The stages of a command as types: what is not written cannot become a reply.
//!
//! `Checked` (decided, known to nobody) → `Queued` (has its positions) → `Written` (durable).
//!
//! A [`Written`] is made from a durable chunk and from nothing else: no field of it can be set,
//!
//! ```compile_fail,E0451
//! fn reply(queued: server_runtime::stage::Queued) -> server_runtime::stage::Written {
//!     server_runtime::stage::Written { repeat: false, ..panic!() }
//! }
//! ```
//!
//! and neither a decided nor a queued command turns into one:
//!
//! ```compile_fail,E0277
//! fn reply(queued: server_runtime::stage::Queued) -> server_runtime::stage::Written {
//!     queued.into()
//! }
//! ```
//!
//! ```compile_fail,E0277
//! fn reply(checked: server_runtime::stage::Checked<u8>) -> server_runtime::stage::Written {
//!     checked.into()
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn reply(checked: server_runtime::stage::Written) -> server_runtime::stage::Written {
//!     checked.repeated()
//! }
//! ```
//!
//! What is written is one:
//!
//! ```
//! fn reply(written: server_runtime::stage::Written) -> server_runtime::stage::Written {
//!     written.into()
//! }
//! ```

use std::time::Duration;

use link_wire::{CallId, Route, UnixMillis};

use super::{
    calls::Call,
    tail::Durable,
    told::{Waiter, Waiters},
};
use crate::{
    handler::Decision, journal::MOST_CHUNK_BYTES, log::line::Outcome, refusal::KeptRefusal,
};

/// More than a record's JSON has beside its change, its outcome, the name of its route and the
/// calls that it acknowledges.
const RECORD_BYTES: usize = 1024;

/// A command that was decided, and nothing else yet.
#[derive(Debug)]
pub struct Checked<C> {
    pub(super) call: Call,
    pub(super) ack: Vec<CallId>,
    pub(super) command: &'static str,
    pub(super) at: UnixMillis,
    pub(super) verdict: Verdict<C>,
}

#[derive(Debug)]
pub(super) enum Verdict<C> {
    Accepted(Decision<C>),
    Refused(KeptRefusal),
    /// It is settled before it came, so that it never runs.
    Cancelled,
}

impl<C> Checked<C> {
    /// No less than the bytes of its records in a chunk.
    pub(super) fn bytes(&self) -> usize {
        // A character of an ID is at most two of JSON.
        let ack = self.ack.len() * (2 * CallId::MOST + 3);
        let record = RECORD_BYTES + self.command.len();
        ack + match &self.verdict {
            Verdict::Accepted(decision) => {
                let changes = decision.changes.iter().map(|c| c.json.get().len() + record);
                record + decision.reply.json().len() + changes.sum::<usize>()
            }
            // A character of text is at most six of JSON.
            Verdict::Refused(refusal) => record + 6 * refusal.detail.len(),
            Verdict::Cancelled => record,
        }
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.bytes() > MOST_CHUNK_BYTES
    }
}

/// What all who wait for one write are told.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Written(Written),
    /// It was taken back before it was written: it did not run.
    NotRun,
}

/// A command that waits for its write.
#[derive(Debug)]
pub struct Queued {
    told: Waiter,
    joined: bool,
}

impl Queued {
    pub(super) fn first() -> (Waiters, Self) {
        let waiters = Waiters::new();
        let told = waiters.join();
        let joined = false;
        (waiters, Self { told, joined })
    }

    pub(super) fn joined(waiters: &Waiters) -> Self {
        Self {
            told: waiters.join(),
            joined: true,
        }
    }

    /// Waits until it is written, for so long at most.
    ///
    /// # Cancel safety
    /// The command goes on when the future is dropped; only this reply is lost.
    pub(crate) async fn written(self, within: Duration) -> Result<Written, Halt> {
        match tokio::time::timeout(within, self.told).await {
            Ok(Some(Told::Written(written))) if self.joined => Ok(written.repeated()),
            Ok(Some(Told::Written(written))) => Ok(written),
            Ok(Some(Told::NotRun)) => Err(Halt::Full),
            Ok(None) => Err(Halt::Lost),
            Err(_) => Err(Halt::Unwritten),
        }
    }
}

/// What became of a command. There is no way to make one but from a durable chunk.
#[derive(Debug, Clone)]
pub struct Written {
    outcome: Outcome,
    repeat: bool,
}

impl Written {
    pub(super) fn new(_: &Durable, outcome: Outcome) -> Self {
        Self {
            outcome,
            repeat: false,
        }
    }

    /// What the table of calls has kept of a written one, for a try that is not the first. What
    /// goes into the table is written, and a checkpoint is made of the same.
    pub(super) fn kept(outcome: Outcome) -> Self {
        Self {
            outcome,
            repeat: true,
        }
    }

    pub(super) fn into_outcome(self) -> Outcome {
        self.outcome
    }

    pub(super) fn repeated(self) -> Self {
        Self {
            repeat: true,
            ..self
        }
    }

    /// How the call ended.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Whether an earlier try got this, or will.
    pub(crate) fn is_repeat(&self) -> bool {
        self.repeat
    }
}

/// Why there is no answer of the handler's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// 503: the engine stops or has failed. A command was not queued.
    Unavailable,
    /// 503, again later: too much is queued. A command was not queued.
    Busy,
    /// 503, again later: the journal has no room. The command did not run.
    Full,
    /// 503: the command is queued, and its write takes long. It may run.
    Unwritten,
    /// 503: the command was queued, and the engine failed. The log may have it.
    Lost,
    /// 410: the client has seen a log that is not this one. The command did not run here.
    RolledBack,
    /// 410: the call may have run, and be forgotten. It was not run now.
    Forgotten,
    /// 429: the caller has as many foreign keys as are kept. The command did not run.
    TooManyKeys {
        /// When the oldest of them goes.
        retry_after: Duration,
    },
    /// 400, with this text.
    BadInput(String),
    /// A no to a query, a signal or a stream.
    Refused(KeptRefusal),
    /// 500: the handler of this route is at fault. The log says how.
    Failed { route: &'static str },
}

impl Halt {
    /// A handler's fault. The text goes to the log, and to nobody else.
    pub(super) fn failed(route: &'static Route, what: &str) -> Self {
        tracing::error!(handler = route.name, what, "a handler failed");
        Self::Failed { route: route.name }
    }
}
