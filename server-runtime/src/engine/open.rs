//! What a start finds, and why there may be none.

use link_wire::Position;

use crate::journal::{Found, JournalError};

/// What a start found in its journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many records there are.
    pub records: u64,
    /// How many calls are remembered.
    pub calls: u64,
    /// What the journal had to repair.
    pub found: Found,
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
    /// The writer's thread cannot be started.
    #[error("the writer cannot be started")]
    Thread(#[source] std::io::Error),
}
