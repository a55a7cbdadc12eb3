//! How an engine is started, what a start finds, and why there may be none.

use std::time::Duration;

use link_wire::Position;

use super::calls::CallLimits;
use crate::journal::{AppendError, Found, JournalError};

/// How an engine keeps what it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineOptions {
    /// How long, and how many, calls are remembered.
    pub calls: CallLimits,
    /// After so many bytes of log a checkpoint is made: 64 MiB. Under full load later: it takes no
    /// more than an eighth of one processor.
    pub checkpoint_every_bytes: u64,
    /// After so long a checkpoint is made, if something was written since the last one: 1 h.
    pub checkpoint_every: Duration,
    /// How many checkpoints are kept, at least one: 2. A start uses the newest that is whole.
    pub checkpoints_kept: usize,
    /// Whether the log before the oldest kept checkpoint is dropped: no. It is dropped in whole
    /// segments, and only when as many checkpoints as are to be kept can be read.
    pub prune_log: bool,
    /// Whether a change that this program does not know is passed over at a start: no. The state
    /// then lacks it, the call keeps its reply, and no checkpoint passes it.
    pub skip_unknown_changes: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            calls: CallLimits::default(),
            checkpoint_every_bytes: 64 * 1024 * 1024,
            checkpoint_every: Duration::from_secs(3600),
            checkpoints_kept: 2,
            prune_log: false,
            skip_unknown_changes: false,
        }
    }
}

/// What a start found in its journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many records the log adds up to: the position of its last one, before this start
    /// wrote its own.
    pub records: u64,
    /// How many of them were read: those after the checkpoint.
    pub read: u64,
    /// How many calls are remembered, with and without their replies.
    pub calls: u64,
    /// The position of the checkpoint from which the start began.
    pub checkpoint: Option<Position>,
    /// How many records were passed over, as this program does not know their kind or, with
    /// [`EngineOptions::skip_unknown_changes`], their change. No checkpoint passes the first.
    pub unknown: u64,
    /// What the journal had to repair.
    pub found: Found,
}

impl Opened {
    /// Tells the operator what is not as it should be.
    pub(super) fn tell(&self) {
        for cut in &self.found.cut {
            let (place, bytes, what) = (&cut.place, cut.bytes, cut.what);
            tracing::warn!(
                place,
                bytes,
                what,
                "a torn end of the log was cut away: a crash leaves one, and nobody was told of \
                 what was in it; without a crash the files are damaged, so restore them from a \
                 backup"
            );
        }
        if self.found.restored {
            tracing::warn!(
                "the log was put back from a backup: calls of clients that have seen more of it \
                 do not run"
            );
        }
        if self.unknown > 0 {
            let records = self.unknown;
            tracing::warn!(
                records,
                "records that this program does not know were passed over, and no checkpoint \
                 passes them: start the version that wrote them, or a newer one"
            );
        }
    }
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record is whole and makes no sense.
    #[error("the record at {position} cannot be read: {what}")]
    Record {
        /// Its place.
        position: Position,
        /// What is wrong with it.
        what: String,
    },
    /// A change is not one that this program knows: it is older than the log.
    #[error(
        "this program does not know the change at {position}, made by `{command}`: start the \
         version that wrote it, or a newer one"
    )]
    UnknownChange {
        /// Its place.
        position: Position,
        /// The name of the command's route.
        command: String,
        /// What serde says.
        source: serde_json::Error,
    },
    /// `apply` panicked.
    #[error("`apply` panicked at the record at {position}, made by `{command}`")]
    Apply {
        /// Its place.
        position: Position,
        /// The name of the command's route.
        command: String,
    },
    /// A checkpoint was not made of this log. Nothing was changed.
    #[error(
        "the checkpoint at {checkpoint} was not made of this log: one of the two is of another \
         server, or the log was put back to an older one and written further; restore both from \
         one backup"
    )]
    OtherLog {
        /// The position of the checkpoint.
        checkpoint: Position,
    },
    /// The beginning of the log was dropped, and there is no checkpoint that can be used.
    #[error(
        "the log begins at {first}, and no checkpoint can be used ({passed}): restore the \
         directory from a backup"
    )]
    NoCheckpoint {
        /// The position of the first record that is there.
        first: Position,
        /// Each checkpoint and why it cannot be used.
        passed: String,
    },
    /// The record with which a run begins cannot be written.
    #[error("the log takes no record")]
    Append(#[from] AppendError),
    /// The system gives no random bytes for the name of the run.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
    /// A thread of the engine cannot be started.
    #[error("a thread of the engine cannot be started")]
    Thread(#[source] std::io::Error),
}
