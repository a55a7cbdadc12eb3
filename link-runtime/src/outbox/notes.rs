//! What is noted beside the commands, for all processes: how commands ended whose callers were not
//! told, and who the callers are, in two files that only grow at their end; and where the log of each
//! server was.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use link_wire::{Caller, LogPosition};

use super::{
    OutboxError, digest,
    file::{private, random_name},
    format::{self, End, HEAD, Of, Record},
};

const SETTLED: &str = "settled";
/// The one before it.
const OLD: &str = "settled.old";
/// From this many bytes on a new one is begun.
const MOST_BYTES: u64 = 128 * 1024;
const CALLERS: &str = "callers";

/// Adds an end.
pub(super) fn settle(dir: &Path, end: &End) -> Result<(), OutboxError> {
    let path = dir.join(SETTLED);
    if fs::metadata(&path).is_ok_and(|file| file.len() > MOST_BYTES) {
        let old = fs::rename(&path, dir.join(OLD));
        old.map_err(|source| OutboxError::of("renaming", &path, source))?;
    }
    append(&path, &Record::End(end.clone()))
}

/// All ends that are noted, the oldest first.
pub(super) fn settled(dir: &Path) -> Result<Vec<End>, OutboxError> {
    let mut ends = Vec::new();
    for name in [OLD, SETTLED] {
        let records = read(&dir.join(name))?.into_iter();
        ends.extend(records.filter_map(|record| match record {
            Record::End(end) => Some(end),
            _ => None,
        }));
    }
    Ok(ends)
}

/// Notes who the caller is whose credentials these are.
pub(super) fn remember(dir: &Path, of: &Of, caller: &Caller) -> Result<(), OutboxError> {
    let (of, caller) = (of.clone(), caller.clone());
    append(&dir.join(CALLERS), &Record::Caller { of, caller })
}

/// Who that caller is, if it was noted.
pub(super) fn remembered(dir: &Path, of: &Of) -> Result<Option<Caller>, OutboxError> {
    let records = read(&dir.join(CALLERS))?.into_iter();
    let mut callers = records.filter_map(|record| match record {
        Record::Caller { of: noted, caller } if noted == *of => Some(caller),
        _ => None,
    });
    Ok(callers.next_back())
}

/// Notes where the log of a server was, in place of what was noted before.
pub(super) fn see(dir: &Path, of: &Of, seen: LogPosition) -> Result<(), OutboxError> {
    let path = dir.join(log_of(of));
    let failed = |source| OutboxError::of("writing", &path, source);
    let mut lines = HEAD.as_bytes().to_vec();
    format::write(&Record::Log { seen }, &mut lines).map_err(|error| failed(error.into()))?;
    // Under its name only when it is whole. What a crash leaves is swept like a begun outbox.
    let begun = dir.join(format!("{}.begun", random_name()?));
    let mut file = private().create_new(true).open(&begun).map_err(failed)?;
    file.write_all(&lines).map_err(failed)?;
    fs::rename(&begun, &path).map_err(failed)
}

/// Where the log of a server was, if it was noted.
pub(super) fn seen(dir: &Path, of: &Of) -> Result<Option<LogPosition>, OutboxError> {
    let records = read(&dir.join(log_of(of)))?.into_iter();
    let mut seen = records.filter_map(|record| match record {
        Record::Log { seen } => Some(seen),
        _ => None,
    });
    Ok(seen.next_back())
}

fn log_of(of: &Of) -> String {
    format!(
        "log-{}",
        digest(format!("{}\0{}", of.service, of.base).as_bytes())
    )
}

/// A FIFO would be waited for, and a link leads elsewhere.
fn is_a_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no file")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn append(path: &Path, record: &Record) -> Result<(), OutboxError> {
    let failed = |source| OutboxError::of("writing", path, source);
    is_a_file(path).map_err(failed)?;
    let mut file = private().create(true).open(path).map_err(failed)?;
    let mut line = Vec::new();
    if file.metadata().map_err(failed)?.len() == 0 {
        line.extend_from_slice(HEAD.as_bytes());
    }
    format::write(record, &mut line).map_err(|error| failed(error.into()))?;
    // In one piece, so that the lines of two processes do not mix.
    file.write_all(&line).map_err(failed)
}

fn read(path: &Path) -> Result<Vec<Record>, OutboxError> {
    is_a_file(path).map_err(|source| OutboxError::of("reading", path, source))?;
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(OutboxError::of("reading", path, source)),
    };
    // A line that a crash tore hides no other.
    let lines = bytes.split(|&byte| byte == b'\n');
    Ok(lines.filter_map(format::record).collect())
}
