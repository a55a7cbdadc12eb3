//! The journal in a directory: segments of checksummed frames, one sync a chunk.
//!
//! ```text
//! DIR/lock                        locked for the life of the journal; holds the process ID
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
//! A start finds a torn end (a bad frame with no whole frame after it, in the last segment) and
//! cuts it away. It writes the last whole frame again and syncs it, as a killed process may have
//! written it without a sync. All else that is not whole stops the start. No segment is ever
//! dropped: the log holds everything from its first record.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use link_wire::Position;

use self::{lock::Lock, reader::Reader};
use super::{AppendError, Chunk, Found, Journal, JournalError, frame};

mod lock;
pub(crate) mod reader;
mod recover;
mod segment;

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
    dir: PathBuf,
    options: FileOptions,
    found: Found,
    tail: recover::Tail,
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
        let dir = dir.as_ref();
        create_dir(dir)?;
        let lock = Lock::take(dir)?;
        let (tail, found) = recover::recover(dir)?;
        let buffer = Vec::new();
        Ok(Self {
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
            self.tail = recover::Tail::create(&self.dir, self.tail.next, self.tail.salt)?;
        }
        self.buffer.clear();
        frame::encode(self.tail.salt, chunk.records, chunk.bytes, &mut self.buffer);
        let Self { tail, buffer, .. } = self;
        let write = (&tail.file).seek(SeekFrom::Start(tail.end)).and_then(|_| {
            (&tail.file).write_all(buffer)?;
            tail.file.sync_data()
        });
        write.map_err(|source| failed("appending to", &tail.path, source))?;
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

/// Makes the directory, and each one above it that is missing, and makes all of them durable.
fn create_dir(dir: &Path) -> Result<(), JournalError> {
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    std::fs::create_dir_all(dir).map_err(|source| failed("creating", dir, source))?;
    for made in missing {
        match made.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_dir(Path::new("."))?,
            Some(parent) => sync_dir(parent)?,
            None => {}
        }
    }
    Ok(())
}

/// A new file, a removed one and a rename are durable only after this.
fn sync_dir(dir: &Path) -> Result<(), JournalError> {
    File::open(dir)
        .and_then(|dir| dir.sync_all())
        .map_err(|source| failed("syncing the directory", dir, source))
}
