//! Reading a log, for people and for tests: needs no lock and changes nothing.
//!
//! A record is one JSON object, on a line of its own unless an application's own JSON has line
//! breaks:
//!
//! ```json
//! {"position":1,"at":1796083200000,"by":"ann","command":"claim","call":"AAAAAAAAAAAAAAAAAAAAAA",
//!  "fingerprint":"0123456789abcdef0123456789abcdef","attempt":1,
//!  "change":{"held":{"item":"i1"}},"outcome":{"reply":{"item":"i1"}}}
//! ```
//!
//! | field | |
//! |---|---|
//! | `position` | its place, from 1, without gaps |
//! | `at` | when it was decided, in Unix milliseconds |
//! | `by`, `call` | the caller and the call ID: the key of the call |
//! | `command` | the name of the route |
//! | `fingerprint` | of method, path and body: 32 hex digits |
//! | `attempt` | the number of the try that was decided; 1 when missing |
//! | `ack` | on the first record of a call: calls whose replies had arrived at their caller |
//! | `foreign` | `true` when the call came with an `Idempotency-Key` |
//! | `change` | what changed; missing when nothing did |
//! | `outcome` | on the last record of a call: `{"reply":…}`, `{"refused":{"status","code","detail"}}` or `"cancelled"` |
//!
//! A writer begins with a record of its own, the first one of its run:
//!
//! ```json
//! {"position":2,"at":1796083200000,"run":"AAAAAAAAAAAAAAAAAAAAAA","restored":true}
//! ```
//!
//! | field | |
//! |---|---|
//! | `run` | the name of the run: 22 characters of base64url |
//! | `restored` | `true` when the log had been put back from a backup |
//!
//! The records of a call stand together, in one chunk. Names are never reused; a field that is
//! not known is passed over. A record with neither `call` nor `run` is of a kind that a newer
//! program wrote: it is kept and passed over.

use std::{collections::VecDeque, path::Path};

use link_wire::{CallId, Caller, Position, RunId, UnixMillis};
use serde_json::Value;

mod check;
pub(crate) mod line;

pub use self::check::check;

use self::line::{CallLine, Entry, Line, Outcome};
use crate::{
    journal::{JournalError, file::reader::Reader},
    refusal::KeptRefusal,
};

/// One record of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// Its place, from 1.
    pub position: Position,
    /// When it was made, by the server's clock.
    pub at: UnixMillis,
    /// What it says.
    pub entry: LoggedEntry,
}

impl Logged {
    /// The call that it is of, if it is of one.
    pub fn call(&self) -> Option<&LoggedCall> {
        match &self.entry {
            LoggedEntry::Call(call) => Some(call),
            LoggedEntry::Run(_) | LoggedEntry::Unknown(_) => None,
        }
    }

    /// What changed, if anything did.
    pub fn change(&self) -> Option<&Value> {
        self.call()?.change.as_ref()
    }
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoggedEntry {
    /// What a call did, or how it ended.
    Call(LoggedCall),
    /// A writer begins.
    Run(LoggedRun),
    /// Something that a newer program wrote: all of its JSON.
    Unknown(Value),
}

/// A record of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    /// Who sent the command.
    pub by: Caller,
    /// The name of the command's route; `settle` for a call that was cancelled.
    pub command: String,
    /// The call ID.
    pub call: CallId,
    /// The fingerprint of method, path and body: 32 hex digits.
    pub fingerprint: String,
    /// The number of the try that was decided.
    pub attempt: u32,
    /// Calls of the same caller whose replies had arrived.
    pub ack: Vec<CallId>,
    /// Whether the call came with an `Idempotency-Key`.
    pub foreign: bool,
    /// What changed, if anything did.
    pub change: Option<Value>,
    /// How the call ended; on its last record only.
    pub outcome: Option<LoggedOutcome>,
}

/// The record with which a writer begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRun {
    /// Its name.
    pub run: RunId,
    /// Whether the log had been put back from a backup.
    pub restored: bool,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoggedOutcome {
    /// It ran, and this is its reply.
    Reply(Value),
    /// It was refused.
    Refused(KeptRefusal),
    /// It was settled before it arrived, and never runs.
    Cancelled,
}

/// Why a log cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The files are damaged, or cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record is whole and makes no sense.
    #[error("the record at {position} cannot be read")]
    Record {
        /// Its place.
        position: Position,
        /// What its JSON lacks.
        source: serde_json::Error,
    },
}

/// The records of a log in order. After an error it ends.
#[derive(Debug)]
pub struct Log {
    reader: Option<Reader>,
    from: Position,
    ready: VecDeque<Result<Logged, LogError>>,
}

/// Reads the log in a directory, from its first record.
///
/// While a server writes it, the end is that of the last whole chunk at this moment; its last
/// chunk may not be synced yet.
///
/// # Errors
/// [`LogError::Journal`] when there is no such directory, or its beginning is missing.
pub fn read(dir: impl AsRef<Path>) -> Result<Log, LogError> {
    read_from(dir, Position(1))
}

/// As [`read`], from the record at a position. What is before it is passed over, most of it
/// unread. Where the log begins later, from its first record that is still there.
///
/// # Errors
/// As [`read`].
pub fn read_from(dir: impl AsRef<Path>, from: Position) -> Result<Log, LogError> {
    let dir = dir.as_ref();
    let reader = if from <= Position(1) {
        Reader::open(dir)?
    } else {
        Reader::open_at(dir, from)?
    };
    Ok(Log {
        reader: Some(reader),
        from,
        ready: VecDeque::new(),
    })
}

impl Iterator for Log {
    type Item = Result<Logged, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                if ready.is_err() {
                    self.reader = None;
                    self.ready.clear();
                }
                return Some(ready);
            }
            match self.reader.as_mut()?.next() {
                Ok(Some(chunk)) if chunk.end() <= self.from => {}
                Ok(Some(chunk)) => {
                    let mut position = chunk.first;
                    for line in line::read(chunk.bytes) {
                        let logged = line.and_then(logged);
                        let failed = |source| LogError::Record { position, source };
                        if position >= self.from || logged.is_err() {
                            self.ready.push_back(logged.map_err(failed));
                        }
                        position = position.next();
                    }
                }
                Ok(None) => self.reader = None,
                Err(error) => self.ready.push_back(Err(error.into())),
            }
        }
    }
}

fn logged(line: Line<'_>) -> Result<Logged, serde_json::Error> {
    let entry = match line.entry {
        Entry::Call(call) => LoggedEntry::Call(logged_call(call)?),
        Entry::Run { run, restored } => LoggedEntry::Run(LoggedRun { run, restored }),
        Entry::Unknown(json) => LoggedEntry::Unknown(serde_json::from_str(json)?),
    };
    Ok(Logged {
        position: line.position,
        at: line.at,
        entry,
    })
}

fn logged_call(call: CallLine<'_>) -> Result<LoggedCall, serde_json::Error> {
    let value = |raw: &str| serde_json::from_str::<Value>(raw);
    let change = call.change.map(value).transpose()?;
    let outcome = match call.outcome {
        None => None,
        Some(Outcome::Reply(reply)) => Some(LoggedOutcome::Reply(value(reply.json())?)),
        Some(Outcome::Refused(refusal)) => Some(LoggedOutcome::Refused(refusal)),
        Some(Outcome::Cancelled) => Some(LoggedOutcome::Cancelled),
    };
    Ok(LoggedCall {
        by: call.by,
        command: call.command.into_owned(),
        call: call.call,
        fingerprint: call.fingerprint.to_string(),
        attempt: call.attempt,
        ack: call.ack,
        foreign: call.foreign,
        change,
        outcome,
    })
}
