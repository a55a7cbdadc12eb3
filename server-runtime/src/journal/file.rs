//! The journal in a directory: segments of checksummed frames, one sync a chunk.
//!
//! ```text
//! DIR                             locked for the life of the journal
//! DIR/lock                        the process ID of its holder, a hint for people
//! DIR/00000000000000000001.log    a segment, named by the position of its first record
//!
//! segment   0          8         10     12     16     24        28       32
//!           | RIFFLOG1 | version | zero | salt | base | follows | crc32c | frames …
//!             8 bytes    u16       u16    u32    u64    u32       u32
//!
//! frame     0        4        8        12        16
//!           | marker | length | crc32c | records | payload: `length` bytes
//!             u32      u32      u32      u32
//! ```
//!
//! All numbers are little endian. `base` is the position of the segment's first record; `follows`
//! is the salt of the segment before it (0 for the first), so that a file of another log shows.
//! The checksum of a segment's header is over its first 28 bytes. The marker of a frame is the
//! salt with 0xFF as its last byte; its checksum is over marker, length, records and payload. A
//! payload is at most 64 MiB: `records` JSON objects, one a line (see [`crate::log`]).
//!
//! | step | what is durable after it |
//! |---|---|
//! | a new segment: header, sync of the file, sync of the directory | an empty segment |
//! | an append: frame, sync of the data | the chunk |
//! | a failed write or sync | not known; nothing is appended any more |
//!
//! A start finds a torn end (a bad frame in the last segment, with no sign of a later one) and
//! cuts it away, once all before it was checked. It writes the last whole frame again and syncs
//! it, as a killed process may have written it without a sync. All else that is not whole stops
//! the start, and then nothing was changed. No segment is ever dropped: the log holds everything
//! from its first record.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use link_wire::Position;

use self::{
    disk::{Disk, Machine},
    lock::Lock,
    reader::Reader,
    recover::Tail,
};
use super::{AppendError, Chunk, Found, Journal, JournalError, frame};

mod disk;
mod lock;
pub(crate) mod reader;
mod recover;
mod segment;
#[cfg(test)]
mod tests;

/// The version of the format that this program writes and reads.
pub const VERSION: u16 = 1;

/// How a [`FileJournal`] cuts its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOptions {
    /// A segment that has this many bytes takes no further chunk. 64 MiB.
    pub segment_bytes: u64,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 * 1024 * 1024,
        }
    }
}

/// The journal in a directory.
#[derive(Debug)]
pub struct FileJournal {
    disk: Box<dyn Disk>,
    dir: PathBuf,
    options: FileOptions,
    found: Found,
    tail: Tail,
    /// The bytes of the frame that is written; kept for its room.
    buffer: Vec<u8>,
    stopped: bool,
    _lock: Lock,
}

impl FileJournal {
    /// Opens the log in a directory, and makes both where they are not there.
    ///
    /// Blocks on the disk. When it returns, what it found is durable and the directory is locked.
    ///
    /// # Errors
    /// Each variant of [`JournalError`] but `Stopped`.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, JournalError> {
        Self::open_with(dir, FileOptions::default())
    }

    /// As [`FileJournal::open`], with options.
    ///
    /// # Errors
    /// As [`FileJournal::open`].
    pub fn open_with(dir: impl AsRef<Path>, options: FileOptions) -> Result<Self, JournalError> {
        Self::open_on(Box::new(Machine), dir.as_ref(), options)
    }

    fn open_on(
        disk: Box<dyn Disk>,
        dir: &Path,
        options: FileOptions,
    ) -> Result<Self, JournalError> {
        disk::create_dirs(&*disk, dir).map_err(|source| failed("creating", dir, source))?;
        let lock = Lock::take(dir)?;
        let (tail, found) = recover::recover(&*disk, dir)?;
        // Nothing was acknowledged before the names above the first record were durable.
        let empty = tail.next == Position(1);
        disk::sync_above(&*disk, dir, empty)
            .map_err(|source| failed("syncing the directories above", dir, source))?;
        let buffer = Vec::new();
        Ok(Self {
            disk,
            dir: dir.into(),
            options,
            found,
            tail,
            buffer,
            stopped: false,
            _lock: lock,
        })
    }

    fn write(&mut self, chunk: Chunk<'_>) -> Result<(), JournalError> {
        let frame_bytes = (frame::HEADER + chunk.bytes.len()) as u64;
        let full = self.tail.end + frame_bytes > self.options.segment_bytes;
        if full && self.tail.end > segment::HEADER as u64 {
            let Tail { next, salt, .. } = self.tail;
            self.tail = Tail::create(&*self.disk, &self.dir, next, salt)?;
        }
        self.buffer.clear();
        frame::encode(self.tail.salt, chunk.records, chunk.bytes, &mut self.buffer);
        let Self { disk, tail, .. } = self;
        let write = disk
            .write_at(&tail.file, &self.buffer, tail.end)
            .and_then(|()| disk.sync_data(&tail.file));
        write.map_err(|source| failed("appending to", &tail.file.path, source))?;
        tail.end += frame_bytes;
        tail.next = Position(tail.next.0 + u64::from(chunk.records));
        Ok(())
    }
}

impl Journal for FileJournal {
    fn found(&self) -> Found {
        self.found.clone()
    }

    fn replay(
        &mut self,
        visit: &mut dyn FnMut(Chunk<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let mut reader = Reader::open(&self.dir)?;
        while let Some(chunk) = reader.next()? {
            if visit(chunk).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn append(&mut self, chunk: Chunk<'_>) -> Result<(), AppendError> {
        if self.stopped {
            return Err(AppendError::Failed(JournalError::Stopped));
        }
        if chunk.bytes.len() > frame::MOST_PAYLOAD {
            return Err(AppendError::TooLarge {
                bytes: chunk.bytes.len(),
            });
        }
        if chunk.first != self.tail.next {
            let stands = self.tail.next;
            return Err(AppendError::WrongPosition {
                stands,
                given: chunk.first,
            });
        }
        self.write(chunk).map_err(|error| {
            self.stopped = true;
            AppendError::Failed(error)
        })
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> JournalError {
    JournalError::Io {
        doing,
        place: path.display().to_string(),
        source,
    }
}
