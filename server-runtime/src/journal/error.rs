//! Why a journal does not do what it was asked for: apart from the trait, as each variant says what
//! its reader can do.

use link_wire::Position;

use super::{Epoch, MOST_CHUNK_BYTES, file};

/// Why a chunk was not appended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// There is a later writer. This one appends nothing any more.
    #[error("the writer of epoch {} is fenced: there is a later one, of epoch {}", given.0, now.0)]
    Fenced {
        /// The epoch of the writer that asked.
        given: Epoch,
        /// The epoch of the journal.
        now: Epoch,
    },
    /// The log does not stand where the writer thinks: there is another writer.
    #[error("the log stands at {stands}, the chunk begins at {given}: there is another writer")]
    WrongPosition {
        /// The position of the next record of the log.
        stands: Position,
        /// That of the chunk's first record.
        given: Position,
    },
    /// The chunk is larger than [`MOST_CHUNK_BYTES`]. Nothing was appended.
    #[error("a chunk of {bytes} bytes is more than a journal takes ({MOST_CHUNK_BYTES})")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// There is no room. Nothing was appended, and that is durable; it may be tried again.
    #[error("the journal has no room: nothing was appended")]
    Full {
        /// What had no room.
        source: JournalError,
    },
    /// Whether the chunk was appended is not known: [`super::Journal::resolve`] says it.
    #[error("whether the chunk was appended is not known")]
    Unknown {
        /// What happened.
        source: JournalError,
    },
    /// The journal failed, now or before, and takes nothing any more.
    #[error("the journal failed")]
    Failed(#[source] JournalError),
}

/// Why a journal cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Another process, or another part of this one, has it open.
    #[error("{place} is in use by {holder}: two servers cannot write one log; stop the other one")]
    Locked {
        /// The directory.
        place: String,
        /// Who has it, as far as it is known.
        holder: String,
    },
    /// There is something else where a log should be.
    #[error("{place} is no log of ours ({what}): move it away, or choose another directory")]
    NotOurs {
        /// The file.
        place: String,
        /// What it is instead.
        what: String,
    },
    /// A log in a format that this program does not know.
    #[error(
        "{place} has version {version} of the log format, this program knows {}: start the version \
         that wrote it, or a newer one",
        file::VERSION
    )]
    OtherVersion {
        /// The file.
        place: String,
        /// Its version.
        version: u16,
    },
    /// The log, or a checkpoint, is damaged where it was whole once. Nothing was changed.
    #[error(
        "the log is damaged at {place}: {what}; nothing was changed; restore the directory from a \
         backup: the records before this place can still be read"
    )]
    Damaged {
        /// The file and the offset.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The log begins later: what was before was dropped.
    #[error("the log begins at {first}: what was before it was dropped")]
    Pruned {
        /// The position of its oldest record.
        first: Position,
    },
    /// A checkpoint is newer than the log. Nothing was changed.
    #[error(
        "the checkpoint at {checkpoint} is newer than the log, which ends at {tail}: the log was \
         put back to an older one, or one of the two is of another server; restore both from one \
         backup"
    )]
    CheckpointAhead {
        /// The position of the checkpoint.
        checkpoint: Position,
        /// That of the last record of the log.
        tail: Position,
    },
    /// There is no such checkpoint.
    #[error("there is no checkpoint at {at} that could be used")]
    NoCheckpoint {
        /// Its position.
        at: Position,
    },
    /// Copying a log to this place did not come to its end.
    #[error("{place} holds a part of a log only: copying it here did not end; do that again")]
    Unfinished {
        /// The directory.
        place: String,
    },
    /// There is something already where a copy of a log should go.
    #[error("{place} is not empty (it has {what}): choose another directory, or empty this one")]
    Occupied {
        /// The directory.
        place: String,
        /// What it has.
        what: String,
    },
    /// The machine failed.
    #[error("{doing} {place} failed")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or directory.
        place: String,
        /// What the machine says.
        source: std::io::Error,
    },
    /// An append or a sync failed before: what is durable is not known until the next opening.
    #[error("an earlier write failed, and the journal takes nothing any more")]
    Stopped,
}
