//! Reading the segments of a directory in order, chunk by chunk; needs no lock.

use std::{path::Path, vec::IntoIter};

use link_wire::Position;

use super::{
    super::{Chunk, JournalError, frame},
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
    /// The position at which the next segment must begin.
    next: Position,
    /// The salt that the next segment must follow.
    follows: u32,
}

#[derive(Debug)]
struct Loaded {
    listed: Listed,
    bytes: Vec<u8>,
    salt: u32,
    offset: usize,
}

impl Reader {
    /// The log of a directory, from its first record.
    pub(crate) fn open(dir: &Path) -> Result<Self, JournalError> {
        Self::of(segment::list(dir)?)
    }

    /// The log in these segments, which are in order.
    pub(super) fn of(segments: Vec<Listed>) -> Result<Self, JournalError> {
        if let Some(first) = segments.first().filter(|first| first.base != Position(1)) {
            return Err(missing(first));
        }
        let segments = segments.into_iter();
        Ok(Self {
            segments,
            current: None,
            next: Position(1),
            follows: 0,
        })
    }

    /// Reads on to the end, for the errors only.
    pub(super) fn check(mut self) -> Result<(), JournalError> {
        while self.next()?.is_some() {}
        Ok(())
    }

    /// The next chunk.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk<'_>>, JournalError> {
        loop {
            let at_end = self
                .current
                .as_ref()
                .is_none_or(|now| now.offset == now.bytes.len());
            if !at_end {
                break;
            }
            let Some(listed) = self.segments.next() else {
                return Ok(None);
            };
            self.current = self.load(listed)?;
            if self.current.is_none() {
                return Ok(None);
            }
        }
        let last = self.segments.as_slice().is_empty();
        let Some(now) = &mut self.current else {
            return Ok(None);
        };
        let rest = &now.bytes[now.offset..];
        let frame = match frame::read(now.salt, rest) {
            Ok(frame) => frame,
            Err(bad) => {
                let follows = frame::begun_after(now.salt, rest).map(|at| now.offset + at);
                if last && follows.is_none() {
                    return Ok(None);
                }
                return Err(damaged(&now.listed, now.offset, bad, follows));
            }
        };
        let first = self.next;
        now.offset += frame.len();
        self.next = Position(first.0 + u64::from(frame.records));
        Ok(Some(Chunk {
            first,
            records: frame.records,
            bytes: frame.payload,
        }))
    }

    /// Loads a segment. None: it is the last one, and not begun.
    fn load(&mut self, listed: Listed) -> Result<Option<Loaded>, JournalError> {
        let bytes = listed.load()?;
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
        if header.follows != self.follows {
            let what = "it does not belong to the segment before it: it is of another log".into();
            return Err(JournalError::Damaged {
                place: listed.at(0),
                what,
            });
        }
        self.follows = header.salt;
        Ok(Some(Loaded {
            listed,
            bytes,
            salt: header.salt,
            offset: segment::HEADER,
        }))
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
fn missing(listed: &Listed) -> JournalError {
    let what = format!(
        "the log begins at {}: the segments before it are missing",
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
