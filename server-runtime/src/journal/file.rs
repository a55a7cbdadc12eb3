//! The journal in a directory: segments of checksummed frames, one sync a chunk.
//!
//! ```text
//! DIR                                    locked for the life of the journal
//! DIR/lock                               the process ID of its holder, a hint for people
//! DIR/00000000000000000001.log           a segment, named by the position of its first record
//! DIR/checkpoint-00000000000000000007    what the log adds up to, up to this record
//! DIR/restored                           the log was put here from a backup
//! DIR/unfinished                         copying a log to here did not end
//!
//! segment   0          8         10     12     16     24        28       32
//!           | RIFFLOG1 | version | zero | salt | base | follows | crc32c | frames … zeros
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
//! | an append: frame, perhaps with zeros behind it, sync of the data | the chunk |
//! | no room for an append: cut back, sync | the log as it was |
//! | another failed write, or any failed sync | not known; nothing is appended any more |
//! | a checkpoint: a file of another name, its sync, rename, sync of the directory | the checkpoint |
//! | dropping a segment, the oldest first: remove, sync of the directory | the log that is left |
//!
//! The zeros behind a frame are there so that the next frames need no new space: then a sync
//! writes no metadata. They are the end of the log, like the end of the file.
//!
//! A start finds a torn end (a bad frame in the last segment, with no sign of a later one) and
//! cuts it away, once all before it was checked. It writes the last whole frame again and syncs
//! it, as a killed process may have written it without a sync. All else that is not whole stops
//! the start, and then nothing was changed.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use link_wire::Position;

use self::{
    disk::{Disk, Machine},
    lock::Lock,
    reader::Reader,
    write::{End, Shown},
};
use super::{
    AppendError, Chunk, Cut, Epoch, Found, Journal, JournalError, JournalStats, Resolved, Writer,
    frame,
};

mod backup;
pub(crate) mod check;
mod checkpoint;
mod disk;
mod lock;
mod marks;
pub(crate) mod reader;
mod recover;
mod segment;
mod tail;
#[cfg(test)]
mod tests;
mod write;

pub use self::{
    backup::{Copied, backup, restore},
    check::{Outcome, Problem, ProblemKind, Report, check},
};

/// The version of the format that this program writes and reads.
pub const VERSION: u16 = 1;

/// How a [`FileJournal`] cuts its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOptions {
    /// A segment that has this many bytes takes no further chunk. 64 MiB.
    pub segment_bytes: u64,
    /// So much space is filled with zeros ahead of the frames to come; 0 for none. 1 MiB.
    pub fill_bytes: u64,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 * 1024 * 1024,
            fill_bytes: 1024 * 1024,
        }
    }
}

/// The journal in a directory. Its epochs are those of this handle: the lock of the directory
/// keeps all others out.
#[derive(Debug)]
pub struct FileJournal {
    disk: Box<dyn Disk>,
    dir: PathBuf,
    options: FileOptions,
    cut: Vec<Cut>,
    /// Held while a chunk is written and synced.
    end: Mutex<End>,
    shown: Mutex<Shown>,
    /// The log grew.
    grown: Condvar,
    /// Held while checkpoints or old segments come and go.
    old: Mutex<()>,
    _lock: Lock,
}

impl FileJournal {
    /// Opens the log in a directory, and makes both where they are not there.
    ///
    /// Blocks on the disk. When it returns, what it found is durable and the directory is locked.
    ///
    /// # Errors
    /// `Locked`, `NotOurs`, `OtherVersion`, `Damaged`, `Unfinished` and `Io` of [`JournalError`].
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
        marks::refuse_unfinished(dir)?;
        let (tail, found) = recover::recover(&*disk, dir)?;
        checkpoint::remove_begun(&*disk, dir)?;
        // Nothing was acknowledged before the names above the first record were durable.
        let empty = tail.next == Position(1);
        disk::sync_above(&*disk, dir, empty)
            .map_err(|source| failed("syncing the directories above", dir, source))?;
        let shown = Shown::of(dir, &tail, found.restored)?;
        Ok(Self {
            disk,
            dir: dir.into(),
            options,
            cut: found.cut,
            end: Mutex::new(End {
                tail,
                epoch: Epoch(0),
                last: None,
                marked: found.restored,
                buffer: Vec::new(),
                stopped: false,
            }),
            shown: Mutex::new(shown),
            grown: Condvar::new(),
            old: Mutex::new(()),
            _lock: lock,
        })
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        locked(&self.shown)
    }
}

impl Journal for FileJournal {
    fn found(&self) -> Found {
        Found {
            cut: self.cut.clone(),
            restored: self.shown().restored,
        }
    }

    fn acquire(&self) -> Result<Writer, JournalError> {
        let mut end = locked(&self.end);
        if end.stopped {
            return Err(JournalError::Stopped);
        }
        end.epoch.0 += 1;
        Ok(Writer {
            epoch: end.epoch,
            tail: Position(end.tail.next.0 - 1),
        })
    }

    fn renew(&self, writer: &Writer) -> Result<(), AppendError> {
        locked(&self.end).check(writer.epoch)
    }

    fn append(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<(), AppendError> {
        let mut end = locked(&self.end);
        end.check(epoch)?;
        if chunk.bytes.len() > frame::MOST_PAYLOAD {
            return Err(AppendError::TooLarge {
                bytes: chunk.bytes.len(),
            });
        }
        if chunk.first != end.tail.next {
            let stands = end.tail.next;
            return Err(AppendError::WrongPosition {
                stands,
                given: chunk.first,
            });
        }
        if let Err(error) = self.write(&mut end, chunk) {
            end.stopped = matches!(error, AppendError::Failed(_));
            return Err(error);
        }
        if end.marked {
            self.unmark(&mut end);
        }
        self.show(&end, chunk);
        Ok(())
    }

    fn resolve(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<Resolved, AppendError> {
        let end = locked(&self.end);
        end.check(epoch)?;
        if chunk.first == end.tail.next {
            return Ok(Resolved::Absent);
        }
        if end.last == Some(chunk.first) && end.tail.next == chunk.end() {
            return Ok(Resolved::Appended);
        }
        Err(AppendError::WrongPosition {
            stands: end.tail.next,
            given: chunk.first,
        })
    }

    fn read(
        &self,
        from: Position,
        visit: &mut dyn FnMut(Chunk<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let Shown { first, next, .. } = *self.shown();
        if from < first && first > Position(1) {
            return Err(JournalError::Pruned { first });
        }
        let mut reader = Reader::open_at(&self.dir, from)?;
        while reader.position() < next {
            let ends = reader.position();
            let Some(chunk) = reader.next()? else {
                return Err(JournalError::Damaged {
                    place: self.dir.display().to_string(),
                    what: format!("it ends before {ends}, and it had all before {next}"),
                });
            };
            if chunk.end() > from && visit(chunk).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn follow(&self, from: Position, within: Duration) -> Result<bool, JournalError> {
        let nothing = |shown: &mut Shown| shown.next <= from;
        let waited = self.grown.wait_timeout_while(self.shown(), within, nothing);
        let (shown, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(shown.next > from)
    }

    fn first(&self) -> Position {
        self.shown().first
    }

    fn put_checkpoint(&self, at: Position, bytes: &[u8]) -> Result<(), JournalError> {
        let _old = locked(&self.old);
        checkpoint::put(&*self.disk, &self.dir, at, bytes)
    }

    fn checkpoints(&self) -> Result<Vec<Position>, JournalError> {
        let listed = checkpoint::list(&self.dir)?;
        Ok(listed.iter().map(|listed| listed.at).collect())
    }

    fn checkpoint(&self, at: Position) -> Result<Vec<u8>, JournalError> {
        checkpoint::Listed::of(&self.dir, at).load()
    }

    fn remove_checkpoint(&self, at: Position) -> Result<(), JournalError> {
        let _old = locked(&self.old);
        checkpoint::remove(&*self.disk, &self.dir, at)
    }

    fn truncate_before(&self, at: Position) -> Result<(), JournalError> {
        let _old = locked(&self.old);
        if !checkpoint::stands_for(&self.dir, at)? {
            return Err(JournalError::NoCheckpoint { at });
        }
        let segments = segment::list(&self.dir)?;
        for pair in segments.windows(2).take_while(|pair| pair[1].base <= at) {
            let bytes = pair[0].len()?;
            // One by one and synced each: a hole between two segments would be damage.
            let path = &pair[0].path;
            let removed = self.disk.remove(path);
            removed.map_err(|source| failed("removing", path, source))?;
            recover::sync_dir(&*self.disk, &self.dir)?;
            let mut shown = self.shown();
            shown.first = pair[1].base;
            shown.full_bytes = shown.full_bytes.saturating_sub(bytes);
            shown.stats.bytes = shown.stats.bytes.saturating_sub(bytes);
            shown.stats.segments -= 1;
        }
        Ok(())
    }

    fn stats(&self) -> JournalStats {
        self.shown().stats
    }
}

impl Drop for FileJournal {
    fn drop(&mut self) {
        let end = self.end.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !end.stopped {
            end.tail.cut_zeros(&*self.disk);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> JournalError {
    JournalError::Io {
        doing,
        place: path.display().to_string(),
        source,
    }
}
