//! Where the log is kept: the trait that the engine writes through, and its errors.
//!
//! A chunk is one group commit: whole records, encoded once, durable together or not at all. The
//! trait names no file, so that a replicated journal can stand behind it.

use link_wire::Position;

pub mod file;
pub(crate) mod frame;
pub mod memory;

pub use self::{file::FileJournal, memory::MemoryJournal};

/// The most bytes that a chunk may have: 64 MiB.
pub const MOST_CHUNK_BYTES: usize = frame::MOST_PAYLOAD;

/// Some records, one after another, that become durable together.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The position of its first record.
    pub first: Position,
    /// How many records it has; at least one.
    pub records: u32,
    /// Their JSON, one record a line.
    pub bytes: &'a [u8],
}

/// A log that only grows, and that has one writer.
///
/// A journal that was opened holds the sole right to write, until it is dropped.
pub trait Journal: Send + 'static {
    /// What the opening found and repaired.
    fn found(&self) -> Found;

    /// Gives each chunk, the oldest first, until `visit` says stop.
    ///
    /// # Errors
    /// [`JournalError::Damaged`] at the first chunk that is not whole; those before it were given.
    fn replay(
        &mut self,
        visit: &mut dyn FnMut(Chunk<'_>) -> std::ops::ControlFlow<()>,
    ) -> Result<(), JournalError>;

    /// Appends a chunk. When it returns, the chunk is durable.
    ///
    /// `chunk.first` is the position that the writer takes for the next one; a journal that
    /// stands elsewhere appends nothing.
    ///
    /// # Errors
    /// After [`AppendError::Failed`] nothing can be appended any more, and whether this chunk is
    /// in the log shows at the next opening only.
    fn append(&mut self, chunk: Chunk<'_>) -> Result<(), AppendError>;
}

/// What the opening of a journal found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// What was cut away at the end: writes that were never acknowledged, torn by a crash.
    pub cut: Vec<Cut>,
}

/// A torn end that was cut away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Where it was, for a person: the file and the offset.
    pub place: String,
    /// How many bytes it had.
    pub bytes: u64,
    /// What was wrong with it.
    pub what: &'static str,
}

/// Why a chunk was not appended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
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
    /// The log is damaged where it was whole once. Nothing was changed.
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
