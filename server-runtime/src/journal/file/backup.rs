//! A log copied to another directory, also while a server writes it, and put back from there.
//!
//! A copy is marked as one, so that a server that is started on it knows that records may be
//! missing at its end; and while it is not whole it is marked as that, and nothing starts on it.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use link_wire::Position;

use super::{
    super::{JournalError, frame},
    checkpoint,
    disk::{self, Disk, Machine},
    failed,
    lock::Lock,
    marks,
    reader::{self, Reader},
    segment::{self, Header, Listed},
};

/// How often a backup begins anew when the server drops the beginning of its log meanwhile.
const TRIES: usize = 10;

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// The position of the oldest record.
    pub first: Position,
    /// The position of the last record; 0 when there is none.
    pub last: Position,
    /// How many segments.
    pub segments: u64,
    /// How many checkpoints.
    pub checkpoints: u64,
    /// The bytes of all of them.
    pub bytes: u64,
}

/// Copies a log to a directory that is empty or not there yet. The server may go on.
///
/// The copy holds every record that was acknowledged before this was called, and whole chunks
/// only. When this returns, the copy is durable and was read back. Checkpoints that are damaged
/// stay behind. It takes as much memory as one segment has.
///
/// A server may be started on the copy, or on what [`restore`] makes of it: both know that it is
/// a copy.
///
/// # Errors
/// - [`JournalError::Occupied`]: the target has something in it.
/// - [`JournalError::NotOurs`]: there is no log to be copied.
/// - [`JournalError::Damaged`] and the like: the log cannot be copied as a whole.
/// - [`JournalError::Io`], of either directory.
///
/// After an error the target may hold a part of the copy; it is marked, and no start takes it.
pub fn backup(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Copied, JournalError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    refuse_none(from)?;
    make(to)?;
    let entries = fs::read_dir(to).map_err(|source| failed("reading", to, source))?;
    if let Some(entry) = entries.into_iter().next() {
        let entry = entry.map_err(|source| failed("reading", to, source))?;
        return Err(occupied(to, &entry.path()));
    }
    let _lock = Lock::take(to)?;
    copy(from, to)
}

/// Puts a log back from a backup, into a directory that has none. Other files in it stay.
///
/// A server that starts on it says so in the log: what it forgot by that, it does not run again.
/// When this returns, the log is durable and was read back. What an earlier call left of its work
/// is removed first.
///
/// # Errors
/// - [`JournalError::Occupied`]: the target has a log.
/// - [`JournalError::Locked`]: a server has the target open.
/// - As [`backup`] else.
pub fn restore(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Copied, JournalError> {
    let (from, to) = (from.as_ref(), to.as_ref());
    refuse_none(from)?;
    make(to)?;
    let _lock = Lock::take(to)?;
    let files = log_files(to)?;
    if marks::is_unfinished(to)? {
        remove(&files)?;
    } else if let Some(file) = files.first() {
        return Err(occupied(to, file));
    }
    copy(from, to)
}

/// Makes the target, and the names above it durable.
fn make(to: &Path) -> Result<(), JournalError> {
    disk::create_dirs(&Machine, to).map_err(|source| failed("creating", to, source))?;
    disk::sync_above(&Machine, to, true)
        .map_err(|source| failed("syncing the directories above", to, source))
}

/// Copies a log into a directory that has none, and marks it.
fn copy(from: &Path, to: &Path) -> Result<Copied, JournalError> {
    marks::begin_copy(to)?;
    let mut tries = 1;
    let mut copied = loop {
        match copy_once(from, to) {
            // The server dropped what was about to be copied: what is there now is enough.
            Err(error) if tries < TRIES && is_gone(from, &error) => {
                tries += 1;
                remove(&log_files(to)?)?;
            }
            copied => break copied?,
        }
    };
    let end = read_back(to).or_else(|error| {
        // Where the log itself is damaged, that is what there is to tell.
        Reader::open(from)?.check()?;
        Err(error)
    })?;
    copied.last = Position(end.0 - 1);
    marks::end_copy(to)?;
    Ok(copied)
}

/// Whether something went away that was there just now.
fn is_gone(from: &Path, error: &JournalError) -> bool {
    match error {
        JournalError::Pruned { .. } | JournalError::NoCheckpoint { .. } => true,
        JournalError::Io { source, place, .. } => {
            source.kind() == ErrorKind::NotFound && Path::new(place).parent() == Some(from)
        }
        _ => false,
    }
}

fn copy_once(from: &Path, to: &Path) -> Result<Copied, JournalError> {
    let mut copied = Copied {
        first: Position(1),
        last: Position(0),
        segments: 0,
        checkpoints: 0,
        bytes: 0,
    };
    // Checkpoints first: so the log that is listed afterwards goes at least as far as they do.
    for listed in checkpoint::list(from)? {
        match listed.load() {
            Ok(payload) => {
                checkpoint::put(&Machine, to, listed.at, &payload)?;
                copied.checkpoints += 1;
                copied.bytes += payload.len() as u64;
            }
            Err(JournalError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let segments = segment::list(from)?;
    if let Some(first) = segments.first() {
        copied.first = first.base;
        if !reader::is_beginning(to, first)? {
            // The checkpoint that stands for the beginning may have come after those were copied.
            let (there, first) = (reader::is_beginning(from, first)?, first.base);
            return Err(if there {
                JournalError::Pruned { first }
            } else {
                reader::missing(&segments[0])
            });
        }
    }
    for (n, listed) in segments.iter().enumerate() {
        let last = n + 1 == segments.len();
        let bytes = if last {
            whole(listed)?
        } else {
            Some(listed.load()?)
        };
        // A segment that was only begun is none yet.
        let Some(bytes) = bytes else { break };
        write(&Listed::of(to, listed.base).path, &bytes)?;
        copied.segments += 1;
        copied.bytes += bytes.len() as u64;
    }
    Ok(copied)
}

/// The bytes of the last segment up to the end of its last whole frame at this moment. None: it
/// was only begun.
fn whole(listed: &Listed) -> Result<Option<Vec<u8>>, JournalError> {
    let read = || {
        let bytes = listed.load()?;
        let header = Header::read(listed, &bytes)?;
        Ok(header.map(|header| {
            let walk = frame::walk(header.salt, &bytes[segment::HEADER..]);
            (bytes, walk)
        }))
    };
    let Some(mut read_once) = read()? else {
        return Ok(None);
    };
    if read_once.1.follows.is_some() {
        // Two frames may have been written while it was read; then it is whole the second time.
        match read()? {
            Some(again) => read_once = again,
            None => return Ok(None),
        }
    }
    let (mut bytes, walk) = read_once;
    // Damage is copied: reading it back tells of it.
    if walk.follows.is_none() {
        bytes.truncate(segment::HEADER + walk.end);
    }
    Ok(Some(bytes))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    let write = || {
        let file = Machine.create(path)?;
        Machine.write_at(&file, bytes, 0)?;
        Machine.sync_file(&file)
    };
    write().map_err(|source| failed("writing", path, source))
}

/// Reads a copy to its end, and gives the position of its next record.
fn read_back(dir: &Path) -> Result<Position, JournalError> {
    for listed in checkpoint::list(dir)? {
        listed.load()?;
    }
    Reader::open(dir)?.check()
}

/// Refuses a directory in which no log is.
fn refuse_none(from: &Path) -> Result<(), JournalError> {
    marks::refuse_unfinished(from)?;
    if segment::list(from)?.is_empty() {
        return Err(JournalError::NotOurs {
            place: from.display().to_string(),
            what: "it has no segment of a log".into(),
        });
    }
    Ok(())
}

/// The files of the log in a directory.
fn log_files(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let mut files: Vec<_> = segment::list(dir)?
        .into_iter()
        .map(|listed| listed.path)
        .collect();
    let (checkpoints, begun) = checkpoint::names(dir)?;
    files.extend(checkpoints.into_iter().map(|listed| listed.path));
    files.extend(begun);
    Ok(files)
}

fn remove(files: &[PathBuf]) -> Result<(), JournalError> {
    let mut files = files.iter();
    files.try_for_each(|path| {
        let removed = Machine.remove(path);
        removed.map_err(|source| failed("removing", path, source))
    })
}

fn occupied(dir: &Path, has: &Path) -> JournalError {
    let name = has.file_name().unwrap_or(has.as_os_str());
    JournalError::Occupied {
        place: dir.display().to_string(),
        what: name.to_string_lossy().into_owned(),
    }
}
