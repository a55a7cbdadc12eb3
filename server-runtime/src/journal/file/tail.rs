//! The segment that is written: its making, its frames, and its way back when there is no room.

use std::{
    io::{self, ErrorKind},
    path::Path,
};

use link_wire::Position;

use super::{
    super::{AppendError, JournalError, frame},
    FileOptions,
    disk::{Disk, OpenFile},
    failed,
    segment::{self, Header, Listed},
};

/// A frame of so many bytes or more is written without zeros behind it: its own metadata cost
/// little beside its bytes.
const LARGE: u64 = 32 * 1024;

/// The segment that is written, and where it ends.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: OpenFile,
    pub(super) salt: u32,
    /// The offset of the next frame.
    pub(super) end: u64,
    /// Where the file ends: zeros are between.
    pub(super) filled: u64,
    /// The position of the next record.
    pub(super) next: Position,
    /// How many syncs there were since the opening.
    pub(super) syncs: u64,
}

impl Tail {
    /// Makes a segment. It is durable when this returns.
    ///
    /// After [`AppendError::Full`] nothing of it is left, and after another error perhaps
    /// something that was begun.
    pub(super) fn create(
        disk: &dyn Disk,
        dir: &Path,
        base: Position,
        follows: u32,
    ) -> Result<Self, AppendError> {
        let path = Listed::of(dir, base).path;
        let wrong = |source| AppendError::Failed(failed("creating", &path, source));
        let salt = salt().map_err(wrong)?;
        let header = Header {
            salt,
            base,
            follows,
        };
        let file = match disk.create(&path) {
            Ok(file) => file,
            Err(source) if is_no_room(&source) => return Err(full("creating", &path, source)),
            Err(source) => return Err(wrong(source)),
        };
        match disk.write_at(&file, &header.encode(), 0) {
            Ok(()) => {}
            Err(source) if is_no_room(&source) => {
                disk.remove(&path).map_err(wrong)?;
                disk.sync_dir(dir).map_err(wrong)?;
                return Err(full("creating", &path, source));
            }
            Err(source) => return Err(wrong(source)),
        }
        disk.sync_file(&file).map_err(wrong)?;
        disk.sync_dir(dir).map_err(wrong)?;
        Ok(Self {
            file,
            salt,
            end: segment::HEADER as u64,
            filled: segment::HEADER as u64,
            next: base,
            syncs: 2,
        })
    }

    /// Makes the segment after this one.
    pub(super) fn roll(&self, disk: &dyn Disk, dir: &Path) -> Result<Self, AppendError> {
        let mut new = Self::create(disk, dir, self.next, self.salt)?;
        new.syncs += self.syncs;
        Ok(new)
    }

    /// Writes a frame and makes it durable. The buffer holds the frame.
    pub(super) fn append(
        &mut self,
        disk: &dyn Disk,
        buffer: &mut Vec<u8>,
        options: &FileOptions,
    ) -> Result<(), AppendError> {
        let frame_bytes = buffer.len();
        let end = self.end + frame_bytes as u64;
        let zeros = self.zeros_behind(frame_bytes as u64, options);
        let mut filled = end + zeros as u64;
        let mut written = Ok(());
        if zeros > 0 {
            // In one write with the frame: it needs no sync of its own.
            buffer.resize(frame_bytes + zeros, 0);
            written = disk.write_at(&self.file, buffer, self.end);
            buffer.truncate(frame_bytes);
        }
        if zeros == 0 || written.as_ref().is_err_and(is_no_room) {
            // There may be room for the frame alone. What the first write left behind it is zeros.
            filled = self.filled.max(end);
            written = disk.write_at(&self.file, buffer, self.end);
        }
        match written {
            Ok(()) => {}
            Err(source) if is_no_room(&source) => {
                self.cut(disk)?;
                // What had no room must not come back after it was said that it is not there.
                self.sync_file(disk)?;
                return Err(full("appending to", &self.file.path, source));
            }
            Err(source) => return Err(self.failed(source)),
        }
        self.syncs += 1;
        let synced = disk.sync_data(&self.file);
        synced.map_err(|source| self.failed(source))?;
        (self.end, self.filled) = (end, filled);
        Ok(())
    }

    /// How many zeros are written behind a frame.
    fn zeros_behind(&self, frame_bytes: u64, options: &FileOptions) -> usize {
        let end = self.end + frame_bytes;
        if frame_bytes >= LARGE || end <= self.filled {
            return 0;
        }
        let most = options.segment_bytes.saturating_sub(end);
        usize::try_from(options.fill_bytes.min(most)).unwrap_or(0)
    }

    /// Cuts the file off where its frames end.
    fn cut(&mut self, disk: &dyn Disk) -> Result<(), AppendError> {
        let cut = disk.set_len(&self.file, self.end);
        cut.map_err(|source| self.failed(source))?;
        self.filled = self.end;
        Ok(())
    }

    fn sync_file(&mut self, disk: &dyn Disk) -> Result<(), AppendError> {
        self.syncs += 1;
        let synced = disk.sync_file(&self.file);
        synced.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> AppendError {
        AppendError::Failed(failed("appending to", &self.file.path, source))
    }

    /// At the end: gives back the space that was filled ahead. Where that does not work, the zeros
    /// do no harm.
    pub(super) fn cut_zeros(&mut self, disk: &dyn Disk) {
        if self.filled > self.end && disk.set_len(&self.file, self.end).is_ok() {
            self.filled = self.end;
        }
    }
}

/// A salt for a segment.
fn salt() -> io::Result<u32> {
    let mut salt = [0; 4];
    getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
    // No text has this byte: so even one byte of a marker at the end of a file is known.
    salt[0] = frame::NO_TEXT;
    Ok(u32::from_le_bytes(salt))
}

/// Whether a write failed only since there is no room for it. A file or a quota that is as large
/// as it may be is no other case: nothing is broken, and the operator can help.
fn is_no_room(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

fn full(doing: &'static str, path: &Path, source: io::Error) -> AppendError {
    AppendError::Full {
        source: failed(doing, path, source),
    }
}

/// What stopped the making of a segment, for whom no append waits.
pub(super) fn cause(error: AppendError) -> JournalError {
    match error {
        AppendError::Full { source } | AppendError::Failed(source) => source,
        _ => JournalError::Stopped,
    }
}
