//! What a start does with the end of the log: find it, check all before it, cut it back, make it
//! durable.

use std::path::Path;

use link_wire::Position;

use super::{
    super::{Cut, Found, JournalError, frame},
    checkpoint,
    disk::Disk,
    failed, marks,
    reader::{self, Reader, headless},
    segment::{self, Header, Listed},
    tail::{self, Tail},
};

/// Opens the end of the log of a directory, whose lock is held.
pub(super) fn recover(disk: &dyn Disk, dir: &Path) -> Result<(Tail, Found), JournalError> {
    let segments = segment::list(dir)?;
    if segments.is_empty()
        && let Some(newest) = checkpoint::list(dir)?.first()
    {
        return Err(JournalError::Damaged {
            place: newest.path.display().to_string(),
            what: "there is a checkpoint, and no segment of its log".into(),
        });
    }
    let End {
        last,
        begun,
        mut found,
    } = End::find(&segments)?;
    found.restored = marks::is_restored(dir)?;
    // All that stops a start is looked for before the first change. The frames of earlier
    // segments are read for it only where there is something to change: a replay reads them too.
    if !found.cut.is_empty() || !linked(dir, &segments)? {
        Reader::of(dir, segments)?.check()?;
    }
    if let (None, Some(begun)) = (&last, &begun)
        && begun.base != Position(1)
    {
        return Err(reader::missing(begun));
    }
    checkpoint::refuse_newer(dir, last.as_ref().map_or(Position(0), Last::tail))?;
    if let Some(begun) = begun {
        disk.remove(&begun.path)
            .map_err(|source| failed("removing", &begun.path, source))?;
    }
    let tail = match last {
        Some(last) => last.settle(disk, dir)?,
        None => Tail::create(disk, dir, Position(1), 0).map_err(tail::cause)?,
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
    /// The position of the last whole record.
    fn tail(&self) -> Position {
        Position((self.header.base.0 + self.walk.records).saturating_sub(1))
    }

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
            filled: end as u64,
            syncs: 2,
            next: Position(self.header.base.0 + self.walk.records),
        })
    }
}

/// Whether these segments are one log from its beginning, as far as their headers tell.
fn linked(dir: &Path, segments: &[Listed]) -> Result<bool, JournalError> {
    let Some(first) = segments.first() else {
        return Ok(true);
    };
    if !reader::is_beginning(dir, first)? {
        return Ok(false);
    }
    let mut follows = (first.base == Position(1)).then_some(0);
    for listed in segments {
        match Header::read(listed, &listed.head()?)? {
            Some(header) if follows.is_none_or(|salt| salt == header.follows) => {
                follows = Some(header.salt);
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

pub(super) fn sync_dir(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    disk.sync_dir(dir)
        .map_err(|source| failed("syncing the directory", dir, source))
}
