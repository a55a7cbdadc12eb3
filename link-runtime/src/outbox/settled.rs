//! How commands ended whose callers were not told: one file for all processes, which only grows at
//! its end, and is put aside when it is large.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use super::{
    OutboxError,
    format::{self, End, HEAD, Record},
};

const NAME: &str = "settled";
/// The one before it.
const OLD: &str = "settled.old";
/// From this many bytes on a new one is begun.
const MOST_BYTES: u64 = 128 * 1024;

/// Adds an end.
pub(super) fn append(dir: &Path, end: &End) -> Result<(), OutboxError> {
    let path = dir.join(NAME);
    let failed = |source| OutboxError::of("writing", &path, source);
    if fs::metadata(&path).is_ok_and(|file| file.len() > MOST_BYTES) {
        fs::rename(&path, dir.join(OLD)).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(failed)?;
    let mut line = Vec::new();
    if file.metadata().map_err(failed)?.len() == 0 {
        line.extend_from_slice(HEAD.as_bytes());
    }
    format::write(&Record::End(end.clone()), &mut line).map_err(|error| failed(error.into()))?;
    // In one piece, so that the lines of two processes do not mix.
    file.write_all(&line).map_err(failed)
}

/// All that are noted, the oldest first.
pub(super) fn read(dir: &Path) -> Result<Vec<End>, OutboxError> {
    let mut ends = Vec::new();
    for name in [OLD, NAME] {
        let path = dir.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(OutboxError::of("reading", &path, source)),
        };
        // A line that a crash tore hides no other.
        let lines = bytes.split(|&byte| byte == b'\n');
        ends.extend(lines.filter_map(format::record).filter_map(end));
    }
    Ok(ends)
}

fn end(record: Record) -> Option<End> {
    match record {
        Record::End(end) => Some(end),
        _ => None,
    }
}
