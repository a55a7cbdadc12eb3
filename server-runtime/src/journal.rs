//! Where the log is kept: the trait that the engine writes through, and its errors.
//!
//! A chunk is one group commit: whole records, encoded once, durable together or not at all. The
//! trait names no file, so that a replicated journal can stand behind it.
//!
//! | module | what |
//! |---|---|
//! | [`mod@file`] | the log in a directory, and what a person does with its files |
//! | [`memory`] | the log in memory, for tests |
//! | `conformance` | one suite over every journal; feature `conformance` |

use std::{ops::ControlFlow, time::Duration};

use link_wire::Position;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
pub mod file;
pub(crate) mod frame;
pub mod memory;

pub use self::{
    error::{AppendError, JournalError},
    file::FileJournal,
    memory::MemoryJournal,
};

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

impl Chunk<'_> {
    /// The position of the record after its last one.
    pub const fn end(&self) -> Position {
        Position(self.first.0 + self.records as u64)
    }
}

/// A right to write: of two, the higher one. The lower one is fenced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// The sole right to write a journal, as [`Journal::acquire`] gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer {
    /// Its epoch: higher than any before.
    pub epoch: Epoch,
    /// The position of the last record of the log; 0 when there is none.
    pub tail: Position,
}

/// What became of an append whose outcome was not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// The chunk is in the log, and durable.
    Appended,
    /// The chunk is not in the log, and never will be unless it is appended again.
    Absent,
}

/// A log that only grows at its end, that has one writer, and that can be cut at its beginning.
///
/// All methods may be called from several threads at once; they block. Dropping the last handle
/// closes the journal.
pub trait Journal: Send + Sync + 'static {
    /// What the opening found and repaired.
    fn found(&self) -> Found;

    /// Takes the sole right to write. Whoever had it before is fenced: its appends fail from now
    /// on, also those that are on their way.
    ///
    /// # Errors
    /// When the right cannot be had.
    fn acquire(&self) -> Result<Writer, JournalError>;

    /// Tells that the writer lives. A journal whose right to write has no end does nothing.
    ///
    /// # Errors
    /// [`AppendError::Fenced`] when there is a later writer.
    fn renew(&self, writer: &Writer) -> Result<(), AppendError>;

    /// Appends a chunk. When it returns, the chunk is durable.
    ///
    /// `chunk.first` is the position that the writer takes for the next one; a journal that
    /// stands elsewhere appends nothing.
    ///
    /// # Errors
    /// | error | the chunk | what may follow |
    /// |---|---|---|
    /// | `Fenced`, `WrongPosition`, `TooLarge` | is not in the log | nothing by this writer; after `TooLarge`, other chunks |
    /// | `Full` | is not in the log | the same chunk, or another one |
    /// | `Unknown` | may be in the log | [`Journal::resolve`], and nothing else |
    /// | `Failed` | may be in the log | nothing; it shows at the next opening |
    fn append(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<(), AppendError>;

    /// Says what became of a chunk whose append was [`AppendError::Unknown`]. After
    /// [`Resolved::Absent`] it can be appended again; after [`Resolved::Appended`] it is durable.
    ///
    /// # Errors
    /// [`AppendError::Unknown`] when that cannot be known yet: ask again later. Else as
    /// [`Journal::append`]; of another error this chunk's writer learns nothing.
    fn resolve(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<Resolved, AppendError>;

    /// Gives each chunk from the one that holds `from`, the oldest first, until `visit` says
    /// stop. 0 is before the first record.
    ///
    /// What is not durable is not given. What is appended meanwhile may be.
    ///
    /// # Errors
    /// - [`JournalError::Pruned`] when the log begins later than `from`. Where the log begins
    ///   later than at 1, 0 is before its beginning too.
    /// - [`JournalError::Damaged`] at the first chunk that is not whole; those before it were
    ///   given.
    fn read(
        &self,
        from: Position,
        visit: &mut dyn FnMut(Chunk<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError>;

    /// Waits until there is a record at `from` or after it, or until the time is over. True: there
    /// may be one. It is a hint.
    ///
    /// # Errors
    /// When the journal can never tell.
    fn follow(&self, from: Position, within: Duration) -> Result<bool, JournalError>;

    /// The position of the oldest record that is still there; 1 for an empty log.
    fn first(&self) -> Position;

    /// Puts a checkpoint: it is there and durable as a whole, or not at all. One that is there for
    /// this position is replaced.
    ///
    /// # Errors
    /// When it is not durable. The log, and older checkpoints, are unharmed.
    fn put_checkpoint(&self, at: Position, bytes: &[u8]) -> Result<(), JournalError>;

    /// The positions of all checkpoints, the newest first. Damaged ones are among them.
    ///
    /// # Errors
    /// When they cannot be listed.
    fn checkpoints(&self) -> Result<Vec<Position>, JournalError>;

    /// The bytes of a checkpoint, as they were put.
    ///
    /// # Errors
    /// [`JournalError::Damaged`] when they are others, [`JournalError::NoCheckpoint`] when there is
    /// none for this position.
    fn checkpoint(&self, at: Position) -> Result<Vec<u8>, JournalError>;

    /// Removes a checkpoint. It is durably gone on return. One that is not there will do.
    ///
    /// # Errors
    /// When it may still be there.
    fn remove_checkpoint(&self, at: Position) -> Result<(), JournalError>;

    /// Drops the beginning of the log, as far as the journal's way to keep it allows. The chunk
    /// that holds `at` stays, and all after it.
    ///
    /// # Errors
    /// [`JournalError::NoCheckpoint`] when no checkpoint at `at` or later would stand for what is
    /// dropped: then nothing is.
    fn truncate_before(&self, at: Position) -> Result<(), JournalError>;

    /// How large the log is, and what was done since the opening.
    fn stats(&self) -> JournalStats;
}

/// How large a log is, and what its journal did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalStats {
    /// The bytes that the log takes, frames and headers; checkpoints aside.
    pub bytes: u64,
    /// The parts that the log is kept in, each of which can be dropped.
    pub segments: u64,
    /// Chunks that were appended since the opening.
    pub appends: u64,
    /// The bytes of these chunks.
    pub appended_bytes: u64,
    /// Syncs that were asked of the system since the opening.
    pub syncs: u64,
}

/// What the opening of a journal found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// What was cut away at the end: writes that were never acknowledged, torn by a crash.
    pub cut: Vec<Cut>,
    /// The log was put here from a backup, and nothing was appended since.
    pub restored: bool,
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
