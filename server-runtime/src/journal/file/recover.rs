//! What a start does with the end of the log: find it, check all before it, cut it back, make it
//! durable.

use std::path::Path;

use link_wire::Position;

use super::{
    super::{Cut, Found, JournalError, frame},
    disk::{Disk, OpenFile},
    failed,
    reader::{Reader, headless},
    segment::{self, Header, Listed},
};

/// The segment that is written, and where it ends.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) file: OpenFile,
    pub(super) salt: u32,
    /// The offset of the next frame.
    pub(super) end: u64,
    /// The position of the next record.
    pub(super) next: Position,
}

impl Tail {
    /// Makes a segment. It is durable when this returns.
    pub(super) fn create(
        disk: &dyn Disk,
        dir: &Path,
        base: Position,
        follows: u32,
    ) -> Result<Self, JournalError> {
        let path = Listed::of(dir, base).path;
        let mut salt = [0; 4];
        getrandom::fill(&mut salt).map_err(|error| {
            failed(
                "finding a salt for",
                &path,
                std::io::Error::other(error.to_string()),
            )
        })?;
        // No text has this byte: so even one byte of a marker at the end of a file is known.
        salt[0] = frame::NO_TEXT;
        let salt = u32::from_le_bytes(salt);
        let header = Header {
            salt,
            base,
            follows,
        };
        let create = || {
            let file = disk.create(&path)?;
            disk.write_at(&file, &header.encode(), 0)?;
            disk.sync_file(&file)?;
            Ok(file)
        };
        let file = create().map_err(|source| failed("creating", &path, source))?;
        sync_dir(disk, dir)?;
        Ok(Self {
            file,
            salt,
            end: segment::HEADER as u64,
            next: base,
        })
    }
}

/// Opens the end of the log of a directory, whose lock is held.
pub(super) fn recover(disk: &dyn Disk, dir: &Path) -> Result<(Tail, Found), JournalError> {
    let segments = segment::list(dir)?;
    let End { last, begun, found } = End::find(&segments)?;
    // All that stops a start is looked for before the first change. The frames of earlier
    // segments are read for it only where there is something to change: a replay reads them too.
    if !found.cut.is_empty() || !linked(&segments)? {
        Reader::of(segments)?.check()?;
    }
    if let Some(begun) = begun {
        disk.remove(&begun.path)
            .map_err(|source| failed("removing", &begun.path, source))?;
    }
    let tail = match last {
        Some(last) => last.settle(disk, dir)?,
        None => Tail::create(disk, dir, Position(1), 0)?,
    };
    Ok((tail, found))
}

/// The end of a log as it was found. To find it changes nothing.
struct End {
    last: Option<Last>,
    /// A segment whose making a crash cut short: it never held a record.
    begun: Option<Listed>,
    found: Found,
}

/// The last segment that has a header.
struct Last {
    listed: Listed,
    bytes: Vec<u8>,
    header: Header,
    walk: frame::Walk,
}

impl End {
    fn find(segments: &[Listed]) -> Result<Self, JournalError> {
        let mut end = Self {
            last: None,
            begun: None,
            found: Found::default(),
        };
        let Some((newest, before)) = segments.split_last() else {
            return Ok(end);
        };
        let (mut listed, mut bytes) = (newest, newest.load()?);
        let mut header = Header::read(listed, &bytes)?;
        if header.is_none() {
            end.found.cut.push(Cut {
                place: newest.at(0),
                bytes: bytes.len() as u64,
                what: "a new segment without a whole header",
            });
            end.begun = Some(newest.clone());
            let Some(last) = before.last() else {
                return Ok(end);
            };
            (listed, bytes) = (last, last.load()?);
            header = Header::read(listed, &bytes)?;
        }
        let header = header.ok_or_else(|| headless(listed))?;
        let walk = frame::walk(header.salt, &bytes[segment::HEADER..]);
        if let Some(bad) = walk.bad {
            let at = segment::HEADER + walk.end;
            end.found.cut.push(Cut {
                place: listed.at(at),
                bytes: (bytes.len() - at) as u64,
                what: bad.as_str(),
            });
        }
        end.last = Some(Last {
            listed: listed.clone(),
            bytes,
            header,
            walk,
        });
        Ok(end)
    }
}

impl Last {
    /// Cuts off what is no whole frame, and makes the rest durable.
    fn settle(self, disk: &dyn Disk, dir: &Path) -> Result<Tail, JournalError> {
        let path = &self.listed.path;
        let end = segment::HEADER + self.walk.end;
        let again = self.walk.last.map_or(0, |offset| segment::HEADER + offset);
        let settle = || {
            let file = disk.open(path)?;
            // The kernel may take pages for clean that a failed sync dropped: only a new write
            // counts. What is before the last frame was synced before that frame was begun.
            disk.write_at(&file, &self.bytes[again..end], again as u64)?;
            disk.set_len(&file, end as u64)?;
            disk.sync_file(&file)?;
            Ok(file)
        };
        let file = settle().map_err(|source| failed("repairing the end of", path, source))?;
        sync_dir(disk, dir)?;
        Ok(Tail {
            file,
            salt: self.header.salt,
            end: end as u64,
            next: Position(self.header.base.0 + self.walk.records),
        })
    }
}

/// Whether these segments are a log from its beginning, as far as their headers tell.
fn linked(segments: &[Listed]) -> Result<bool, JournalError> {
    let mut follows = 0;
    for (n, listed) in segments.iter().enumerate() {
        let header = Header::read(listed, &listed.head()?)?;
        match header {
            Some(header) if header.follows == follows => follows = header.salt,
            _ => return Ok(false),
        }
        if n == 0 && listed.base != Position(1) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sync_dir(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    disk.sync_dir(dir)
        .map_err(|source| failed("syncing the directory", dir, source))
}
