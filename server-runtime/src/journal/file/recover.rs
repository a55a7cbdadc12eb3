//! What a start does with the end of the log: find it, cut it back, make it durable.

use std::{
    fs::{self, File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use link_wire::Position;

use super::{
    super::{Cut, Found, JournalError, frame},
    failed,
    segment::{self, Header, Listed},
    sync_dir,
};

/// The segment that is written, and where it ends.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) salt: u32,
    /// The offset of the next frame.
    pub(super) end: u64,
    /// The position of the next record.
    pub(super) next: Position,
}

impl Tail {
    /// Makes a segment. It is durable when this returns.
    pub(super) fn create(dir: &Path, base: Position, follows: u32) -> Result<Self, JournalError> {
        let path = Listed::of(dir, base).path;
        let mut salt = [0; 4];
        getrandom::fill(&mut salt).map_err(|error| {
            failed(
                "finding a salt for",
                &path,
                std::io::Error::other(error.to_string()),
            )
        })?;
        let salt = u32::from_le_bytes(salt);
        let create = || {
            // What people say to each other is not for every user of the machine.
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            file.write_all(
                &Header {
                    salt,
                    base,
                    follows,
                }
                .encode(),
            )?;
            file.sync_all()?;
            Ok(file)
        };
        let file = create().map_err(|source| failed("creating", &path, source))?;
        sync_dir(dir)?;
        Ok(Self {
            path,
            file,
            salt,
            end: segment::HEADER as u64,
            next: base,
        })
    }
}

/// Opens the end of the log of a directory, whose lock is held.
pub(super) fn recover(dir: &Path) -> Result<(Tail, Found), JournalError> {
    let mut found = Found::default();
    let mut segments = segment::list(dir)?;
    let mut begun = None;
    let Some(mut last) = segments.pop() else {
        return Ok((Tail::create(dir, Position(1), 0)?, found));
    };
    let mut bytes = last.load()?;
    let mut header = Header::read(&last, &bytes)?;
    if header.is_none() {
        // A crash between the creation of the file and its first sync: it never held a record.
        let what = "a new segment without a whole header";
        found.cut.push(Cut {
            place: last.at(0),
            bytes: bytes.len() as u64,
            what,
        });
        let Some(before) = segments.pop() else {
            if last.base != Position(1) {
                return Err(missing(&last));
            }
            remove(dir, &last)?;
            return Ok((Tail::create(dir, Position(1), 0)?, found));
        };
        bytes = before.load()?;
        header = Header::read(&before, &bytes)?;
        begun = Some(std::mem::replace(&mut last, before));
    }
    let Some(header) = header else {
        let what = "the header of a segment is missing, and another segment follows it".into();
        return Err(JournalError::Damaged {
            place: last.at(0),
            what,
        });
    };
    let walk = frame::walk(header.salt, &bytes[segment::HEADER..]);
    let end = segment::HEADER + walk.end;
    if let Some(bad) = walk.bad {
        if let Some(next) = walk.follows {
            return Err(damaged(&last, end, bad, Some(segment::HEADER + next)));
        }
        if begun.is_some() {
            // The next segment was begun, so all of this one had been synced.
            return Err(damaged(&last, end, bad, None));
        }
        let cut = (bytes.len() - end) as u64;
        found.cut.push(Cut {
            place: last.at(end),
            bytes: cut,
            what: bad.as_str(),
        });
    }
    if let Some(begun) = &begun {
        remove(dir, begun)?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&last.path)
        .map_err(|source| failed("opening", &last.path, source))?;
    let again = walk.last.map_or(0, |offset| segment::HEADER + offset);
    // The kernel may take pages for clean that a failed sync dropped: only a new write counts.
    let settle = || {
        (&file).write_all(&bytes[..segment::HEADER])?;
        (&file).seek(SeekFrom::Start(again as u64))?;
        (&file).write_all(&bytes[again..end])?;
        file.set_len(end as u64)?;
        file.sync_all()
    };
    settle().map_err(|source| failed("repairing the end of", &last.path, source))?;
    sync_dir(dir)?;
    let next = Position(header.base.0 + walk.records);
    Ok((
        Tail {
            path: last.path,
            file,
            salt: header.salt,
            end: end as u64,
            next,
        },
        found,
    ))
}

fn remove(dir: &Path, listed: &Listed) -> Result<(), JournalError> {
    fs::remove_file(&listed.path).map_err(|source| failed("removing", &listed.path, source))?;
    sync_dir(dir)
}

/// A bad frame where there can be none.
pub(super) fn damaged(
    listed: &Listed,
    offset: usize,
    bad: frame::Bad,
    next: Option<usize>,
) -> JournalError {
    let what = match next {
        Some(next) => format!(
            "{}, and whole frames follow it from byte {next}",
            bad.as_str()
        ),
        None => format!("{}, and another segment follows it", bad.as_str()),
    };
    JournalError::Damaged {
        place: listed.at(offset),
        what,
    }
}

/// A segment before which others must have been.
pub(super) fn missing(listed: &Listed) -> JournalError {
    let what = format!(
        "the log begins at {}: the segments before it are missing",
        listed.base
    );
    JournalError::Damaged {
        place: listed.at(0),
        what,
    }
}
