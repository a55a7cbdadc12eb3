//! Reading the segments of a directory in order, chunk by chunk; needs no lock.

use std::{io::ErrorKind, ops::Range, path::Path, vec::IntoIter};

use link_wire::Position;

use super::{
    super::{Chunk, JournalError, frame},
    checkpoint,
    segment::{self, Header, Listed},
};

/// The chunks of a log, the oldest first.
///
/// The end is that of the whole frames in the last segment: while a server writes, the last one
/// may be half there.
#[derive(Debug)]
pub(crate) struct Reader {
    segments: IntoIter<Listed>,
    current: Option<Loaded>,
    /// The position at which the next chunk must begin.
    next: Position,
    /// The salt that the next segment must follow; none where the one before was dropped.
    follows: Option<u32>,
}

#[derive(Debug)]
struct Loaded {
    listed: Listed,
    bytes: Vec<u8>,
    salt: u32,
    offset: usize,
    /// Where the bytes were bad, and were read once more for that.
    again: Option<usize>,
}

/// A whole frame of the current segment.
struct Frame {
    first: Position,
    records: u32,
    payload: Range<usize>,
}

impl Reader {
    /// The log of a directory, from its first record that is still there.
    pub(crate) fn open(dir: &Path) -> Result<Self, JournalError> {
        Self::of(dir, segment::list(dir)?)
    }

    /// The log in these segments of a directory, which are in order, and go to its end.
    pub(super) fn of(dir: &Path, segments: Vec<Listed>) -> Result<Self, JournalError> {
        if let Some(first) = segments.first()
            && !is_beginning(dir, first)?
        {
            return Err(missing(first));
        }
        Ok(Self::from(segments))
    }

    /// The log of a directory, from the beginning of the segment that holds a position. What is
    /// before it was checked.
    pub(crate) fn open_at(dir: &Path, from: Position) -> Result<Self, JournalError> {
        let mut before = segment::list(dir)?;
        let skip = before.partition_point(|listed| listed.base <= from);
        let mut reader = Self::from(before.split_off(skip.saturating_sub(1)));
        if let Some(skipped) = before.last() {
            let header = Header::read(skipped, &skipped.head()?)?;
            reader.follows = Some(header.ok_or_else(|| headless(skipped))?.salt);
        }
        Ok(reader)
    }

    fn from(segments: Vec<Listed>) -> Self {
        let next = segments.first().map_or(Position(1), |first| first.base);
        Self {
            segments: segments.into_iter(),
            current: None,
            next,
            follows: (next == Position(1)).then_some(0),
        }
    }

    /// Reads on to the end, and gives the position of the next record.
    pub(super) fn check(mut self) -> Result<Position, JournalError> {
        while self.next()?.is_some() {}
        Ok(self.next)
    }

    /// The position of the next chunk, if there is one.
    pub(super) fn position(&self) -> Position {
        self.next
    }

    /// The next chunk.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk<'_>>, JournalError> {
        let Some(frame) = self.step()? else {
            return Ok(None);
        };
        let Some(now) = &self.current else {
            return Ok(None);
        };
        let Frame {
            first,
            records,
            payload,
        } = frame;
        Ok(Some(Chunk {
            first,
            records,
            bytes: &now.bytes[payload],
        }))
    }

    /// Steps over the next whole frame. None: there is no further one.
    fn step(&mut self) -> Result<Option<Frame>, JournalError> {
        loop {
            if let Some(now) = &mut self.current
                && let Some(rest) = now.bytes.get(now.offset..)
                && !rest.is_empty()
            {
                match frame::read(now.salt, rest) {
                    Ok(frame) => {
                        let (first, records) = (self.next, frame.records);
                        let payload = now.offset + frame::HEADER..now.offset + frame.len();
                        now.offset = payload.end;
                        self.next = Position(first.0 + u64::from(records));
                        return Ok(Some(Frame {
                            first,
                            records,
                            payload,
                        }));
                    }
                    Err(_) if frame::is_filling(rest) => {}
                    Err(bad) => {
                        let last = self.segments.as_slice().is_empty();
                        let follows = frame::begun_after(now.salt, rest);
                        if last && follows.is_none() {
                            return Ok(None);
                        }
                        // A server that writes just now may have written two frames while this
                        // segment was read: then it is whole the second time.
                        if last && now.again != Some(now.offset) {
                            now.again = Some(now.offset);
                            now.bytes = now.listed.load()?;
                            continue;
                        }
                        let follows = follows.map(|at| now.offset + at);
                        return Err(damaged(&now.listed, now.offset, bad, follows));
                    }
                }
            }
            let Some(listed) = self.segments.next() else {
                return Ok(None);
            };
            self.current = self.load(listed)?;
            if self.current.is_none() {
                return Ok(None);
            }
        }
    }

    /// Loads a segment. None: it is the last one, and not begun.
    fn load(&mut self, listed: Listed) -> Result<Option<Loaded>, JournalError> {
        let bytes = load(&listed)?;
        let header = Header::read(&listed, &bytes)?;
        if listed.base != self.next {
            let what = format!(
                "it begins at {}, and the log before it ends before {}",
                listed.base, self.next
            );
            return Err(JournalError::Damaged {
                place: listed.at(0),
                what,
            });
        }
        let Some(header) = header else {
            if self.segments.as_slice().is_empty() {
                return Ok(None);
            }
            return Err(headless(&listed));
        };
        if self.follows.is_some_and(|salt| salt != header.follows) {
            return Err(foreign(&listed));
        }
        self.follows = Some(header.salt);
        Ok(Some(Loaded {
            listed,
            bytes,
            salt: header.salt,
            offset: segment::HEADER,
            again: None,
        }))
    }
}

/// The bytes of a segment, which a server may have dropped since it was listed.
fn load(listed: &Listed) -> Result<Vec<u8>, JournalError> {
    let loaded = listed.load();
    if let (Err(JournalError::Io { source, .. }), Some(dir)) = (&loaded, listed.path.parent())
        && source.kind() == ErrorKind::NotFound
        && let Some(first) = segment::list(dir)?.first().map(|first| first.base)
        && first > listed.base
    {
        return Err(JournalError::Pruned { first });
    }
    loaded
}

/// Whether a log may begin with this segment: at 1, or where a checkpoint stands for the rest.
pub(super) fn is_beginning(dir: &Path, first: &Listed) -> Result<bool, JournalError> {
    Ok(first.base == Position(1) || checkpoint::stands_for(dir, first.base)?)
}

/// A segment of another log.
pub(super) fn foreign(listed: &Listed) -> JournalError {
    JournalError::Damaged {
        place: listed.at(0),
        what: "it does not belong to the segment before it: it is of another log".into(),
    }
}

/// A bad frame where there can be none.
fn damaged(
    listed: &Listed,
    offset: usize,
    bad: frame::Bad,
    follows: Option<usize>,
) -> JournalError {
    let bad = bad.as_str();
    let what = match follows {
        Some(next) => format!("{bad}, and a later frame was begun at byte {next}"),
        None => format!("{bad}, and another segment follows it"),
    };
    JournalError::Damaged {
        place: listed.at(offset),
        what,
    }
}

/// A segment before which others must have been.
pub(super) fn missing(listed: &Listed) -> JournalError {
    let what = format!(
        "the log begins at {}: the segments before it are missing, and no checkpoint stands for them",
        listed.base
    );
    JournalError::Damaged {
        place: listed.at(0),
        what,
    }
}

/// A segment that others follow, and that has no header.
pub(super) fn headless(listed: &Listed) -> JournalError {
    JournalError::Damaged {
        place: listed.at(0),
        what: "the header of a segment is missing, and another segment follows it".into(),
    }
}
