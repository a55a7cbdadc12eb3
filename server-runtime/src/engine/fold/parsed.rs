//! A chunk whose JSON was read: all of a sum's work that needs nothing of what is before it.

use link_wire::{CallId, Position, RunId, UnixMillis};
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::super::{
    OpenError,
    calls::{Call, Origin},
};
use crate::{
    journal::Chunk,
    log::line::{self, CallLine, Entry, Line, Outcome},
};

/// A chunk.
pub(in super::super) struct Parsed<C> {
    /// The position of its last record.
    pub(in super::super) end: Position,
    /// Of its payload.
    pub(in super::super) digest: u128,
    pub(super) records: u32,
    pub(super) bytes: usize,
    /// Its records. After an error there are no more of them.
    pub(super) lines: Vec<Result<ParsedLine<C>, OpenError>>,
}

/// A record.
pub(super) struct ParsedLine<C> {
    pub(super) position: Position,
    pub(super) at: UnixMillis,
    pub(super) entry: ParsedEntry<C>,
}

pub(super) enum ParsedEntry<C> {
    Call(ParsedCall<C>),
    Run { run: RunId, restored: bool },
    Unknown,
}

/// A record of a call.
pub(super) struct ParsedCall<C> {
    pub(super) call: Call,
    pub(super) ack: Vec<CallId>,
    pub(super) command: String,
    pub(super) change: Option<Result<C, serde_json::Error>>,
    pub(super) outcome: Option<Outcome>,
}

impl<C: DeserializeOwned> Parsed<C> {
    pub(in super::super) fn of(chunk: Chunk<'_>) -> Self {
        let mut position = chunk.first;
        let end = Position(chunk.first.0 + u64::from(chunk.records) - 1);
        let mut lines = Vec::with_capacity(chunk.records as usize);
        for line in line::read(chunk.bytes) {
            let wrong = |what: String| OpenError::Record { position, what };
            let line = match line {
                Ok(line) if line.position == position && position <= end => Ok(line.into()),
                Ok(line) => {
                    let says = line.position;
                    Err(wrong(format!("it says that it is the one at {says}")))
                }
                Err(error) => Err(wrong(error.to_string())),
            };
            let stops = line.is_err();
            lines.push(line);
            if stops {
                break;
            }
            position = position.next();
        }
        if position <= end && lines.last().is_none_or(Result::is_ok) {
            lines.push(Err(too_short(position)));
        }
        Self {
            end,
            digest: xxh3_128(chunk.bytes),
            records: chunk.records,
            bytes: chunk.bytes.len(),
            lines,
        }
    }
}

impl<C: DeserializeOwned> From<Line<'_>> for ParsedLine<C> {
    fn from(line: Line<'_>) -> Self {
        let entry = match line.entry {
            Entry::Call(call) => ParsedEntry::Call(call.into()),
            Entry::Run { run, restored } => ParsedEntry::Run { run, restored },
            Entry::Unknown(_) => ParsedEntry::Unknown,
        };
        Self {
            position: line.position,
            at: line.at,
            entry,
        }
    }
}

impl<C: DeserializeOwned> From<CallLine<'_>> for ParsedCall<C> {
    fn from(line: CallLine<'_>) -> Self {
        let origin = if line.foreign {
            Origin::Foreign
        } else {
            Origin::Link { seen: None }
        };
        Self {
            call: Call {
                caller: line.by,
                id: line.call,
                fingerprint: line.fingerprint,
                attempt: line.attempt,
                origin,
            },
            ack: line.ack,
            command: line.command.into_owned(),
            change: line.change.map(serde_json::from_str),
            outcome: line.outcome,
        }
    }
}

/// What is said of a chunk in which this record is missing, or belongs to a call that goes on.
pub(super) fn too_short(position: Position) -> OpenError {
    OpenError::Record {
        position,
        what: "the chunk ends before its last call does".into(),
    }
}
