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
//! | `change` | what changed; missing when nothing did |
//! | `outcome` | on the last record of a call: `{"reply":…}` or `{"refused":{"status","code","detail"}}` |
//!
//! The records of a call stand together, in one chunk. Names are never reused; a field that is
//! not known is passed over.

use std::{collections::VecDeque, path::Path};

use link_wire::{CallId, Caller, Position, UnixMillis};
use serde_json::Value;

pub(crate) mod line;

use self::line::{Line, Outcome};
use crate::{
    journal::{JournalError, file::reader::Reader},
    refusal::KeptRefusal,
};

/// One record of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// Its place, from 1.
    pub position: Position,
    /// When it was decided.
    pub at: UnixMillis,
    /// Who sent the command.
    pub by: Caller,
    /// The name of the command's route.
    pub command: String,
    /// The call ID.
    pub call: CallId,
    /// The fingerprint of method, path and body: 32 hex digits.
    pub fingerprint: String,
    /// The number of the try that was decided.
    pub attempt: u32,
    /// What changed, if anything did.
    pub change: Option<Value>,
    /// How the call ended; on its last record only.
    pub outcome: Option<LoggedOutcome>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum LoggedOutcome {
    /// It ran, and this is its reply.
    Reply(Value),
    /// It was refused.
    Refused(KeptRefusal),
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
    Ok(Log {
        reader: Some(Reader::open(dir.as_ref())?),
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
                Ok(Some(chunk)) => {
                    let mut position = chunk.first;
                    for line in line::read(chunk.bytes) {
                        let logged = line.and_then(|line| logged(&line));
                        let failed = |source| LogError::Record { position, source };
                        self.ready.push_back(logged.map_err(failed));
                        position = position.next();
                    }
                }
                Ok(None) => self.reader = None,
                Err(error) => self.ready.push_back(Err(error.into())),
            }
        }
    }
}

fn logged(line: &Line<'_>) -> Result<Logged, serde_json::Error> {
    let change = line
        .change
        .map(|raw| serde_json::from_str(raw.get()))
        .transpose()?;
    let outcome = match &line.outcome {
        None => None,
        Some(Outcome::Reply(reply)) => {
            Some(LoggedOutcome::Reply(serde_json::from_str(reply.json())?))
        }
        Some(Outcome::Refused(refusal)) => Some(LoggedOutcome::Refused(refusal.clone())),
    };
    Ok(Logged {
        position: line.position,
        at: line.at,
        by: line.by.clone(),
        command: line.command.clone().into_owned(),
        call: line.call.clone(),
        fingerprint: line.fingerprint.to_string(),
        attempt: line.attempt,
        change,
        outcome,
    })
}
