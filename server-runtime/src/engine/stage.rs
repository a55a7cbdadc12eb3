//! The stages of a command as types: what is not written cannot become a reply.
//!
//! `Checked` (decided, known to nobody) → `Queued` (has its positions) → `Written` (durable).

use std::time::Duration;

use link_wire::{Route, UnixMillis};
use tokio::sync::watch;

use super::{
    calls::{Call, Waiters},
    tail::Durable,
};
use crate::{
    handler::Decision, journal::MOST_CHUNK_BYTES, log::line::Outcome, refusal::KeptRefusal,
};

/// More than a record's JSON has beside its change, its outcome and the name of its route.
const RECORD_BYTES: usize = 1024;

/// A command that was decided, and nothing else yet.
#[derive(Debug)]
pub(super) struct Checked<C> {
    pub(super) call: Call,
    pub(super) command: &'static str,
    pub(super) at: UnixMillis,
    pub(super) verdict: Verdict<C>,
}

#[derive(Debug)]
pub(super) enum Verdict<C> {
    Accepted(Decision<C>),
    Refused(KeptRefusal),
}

impl<C> Checked<C> {
    /// No less than the bytes of its records in a chunk.
    pub(super) fn bytes(&self) -> usize {
        let record = RECORD_BYTES + self.command.len();
        match &self.verdict {
            Verdict::Accepted(decision) => {
                let changes = decision.changes.iter().map(|c| c.json.get().len() + record);
                record + decision.reply.json().len() + changes.sum::<usize>()
            }
            // A character of text is at most six of JSON.
            Verdict::Refused(refusal) => record + 6 * refusal.detail.len(),
        }
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.bytes() > MOST_CHUNK_BYTES
    }
}

/// A command that waits for its write.
#[derive(Debug)]
pub(crate) struct Queued {
    written: watch::Receiver<Option<Written>>,
    joined: bool,
}

impl Queued {
    pub(super) fn first() -> (Waiters, Self) {
        let (waiters, written) = watch::channel(None);
        (
            waiters,
            Self {
                written,
                joined: false,
            },
        )
    }

    pub(super) fn joined(waiters: &Waiters) -> Self {
        Self {
            written: waiters.subscribe(),
            joined: true,
        }
    }

    /// Waits until it is written, for so long at most.
    ///
    /// # Cancel safety
    /// The command goes on when the future is dropped; only this reply is lost.
    pub(crate) async fn written(mut self, within: Duration) -> Result<Written, Halt> {
        let told = self.written.wait_for(Option::is_some);
        match tokio::time::timeout(within, told).await {
            Ok(Ok(written)) => match written.clone() {
                Some(written) if self.joined => Ok(written.repeated()),
                Some(written) => Ok(written),
                None => Err(Halt::Lost),
            },
            Ok(Err(_)) => Err(Halt::Lost),
            Err(_) => Err(Halt::Unwritten),
        }
    }
}

/// What became of a command. There is no way to make one but from a durable chunk.
#[derive(Debug, Clone)]
pub(crate) struct Written {
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
    /// 503: the command is queued, and its write takes long. It may run.
    Unwritten,
    /// 503: the command was queued, and the engine failed. The log may have it.
    Lost,
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
