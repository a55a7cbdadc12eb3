//! What a log adds up to, chunk by chunk: the state, and what became of each call. The same for a
//! start and for a checkpoint.

use std::borrow::Cow;

use link_wire::{CallId, Caller, Position, UnixMillis};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    OpenError,
    calls::{Call, CallLimits, Calls, Origin},
    shared::caught,
    stage::Written,
    tail::Durable,
};
use crate::{
    Record, State,
    journal::Chunk,
    log::line::{self, CallLine, Entry, Line},
};

/// The sum of a log up to the end of one chunk.
pub(super) struct Sum<S> {
    pub(super) state: S,
    pub(super) calls: Calls,
    /// The position of the last record; 0 for none.
    pub(super) end: Position,
    /// Of the payload of the chunk that ends there.
    pub(super) digest: u128,
    /// How many records were added here, and the bytes of their chunks.
    pub(super) added: u64,
    pub(super) added_bytes: u64,
    /// How many records were passed over, as this program does not know them, and the first.
    pub(super) unknown: u64,
    pub(super) first_unknown: Option<Position>,
    /// Whether a change that is not known is passed over, too.
    pub(super) skip_changes: bool,
}

impl<S: State> Sum<S> {
    /// The sum of no record at all.
    pub(super) fn new(initial: S, limits: CallLimits, skip_changes: bool) -> Self {
        Self::at(Position(0), initial, Calls::new(limits), skip_changes)
    }

    /// The sum of all records up to `end`.
    pub(super) fn at(end: Position, state: S, calls: Calls, skip_changes: bool) -> Self {
        Self {
            state,
            calls,
            end,
            digest: 0,
            added: 0,
            added_bytes: 0,
            unknown: 0,
            first_unknown: None,
            skip_changes,
        }
    }

    /// Adds the next chunk. After an error the sum is of no use.
    pub(super) fn add(&mut self, durable: &Durable, chunk: Chunk<'_>) -> Result<(), OpenError> {
        let mut position = chunk.first;
        let end = last(&chunk);
        let mut open: Option<Open> = None;
        for line in line::read(chunk.bytes) {
            let wrong = |what: String| OpenError::Record { position, what };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            if line.position != position || position > end {
                let says = line.position;
                return Err(wrong(format!("it says that it is the one at {says}")));
            }
            open = self.add_line(durable, open.take(), line)?;
            position = position.next();
        }
        if position != end.next() || open.is_some() {
            let what = "the chunk ends before its last call does".into();
            return Err(OpenError::Record { position, what });
        }
        self.end = end;
        self.digest = xxh3_128(chunk.bytes);
        self.added += u64::from(chunk.records);
        self.added_bytes += chunk.bytes.len() as u64;
        Ok(())
    }

    /// Adds a record to the call that has not ended, if there is one. Gives that which goes on.
    fn add_line(
        &mut self,
        durable: &Durable,
        open: Option<Open>,
        line: Line<'_>,
    ) -> Result<Option<Open>, OpenError> {
        let (position, at) = (line.position, line.at);
        let wrong = |what: String| OpenError::Record { position, what };
        let mut call_line = match (line.entry, &open) {
            (Entry::Call(call), _) => call,
            (Entry::Run { .. } | Entry::Unknown(_), Some(open)) => {
                let key = key(&open.call.caller, &open.call.id);
                return Err(wrong(format!("{key} has not ended")));
            }
            (Entry::Run { run, restored }, None) => {
                self.calls.run(run, position, restored);
                return Ok(None);
            }
            (Entry::Unknown(_), None) => {
                self.pass_over(position);
                return Ok(None);
            }
        };
        let Open { call, ack } = match open {
            Some(open) if belongs(&call_line, &open.call) => open,
            Some(Open { call, .. }) => {
                return Err(wrong(format!(
                    "it is of {}, and {} has not ended",
                    key(&call_line.by, &call_line.call),
                    key(&call.caller, &call.id)
                )));
            }
            None => begin(&mut call_line),
        };
        self.apply(position, at, &call, &call_line)?;
        let Some(outcome) = call_line.outcome else {
            return Ok(Some(Open { call, ack }));
        };
        let before = self.calls.again();
        let written = Written::new(durable, outcome);
        let command = &call_line.command;
        self.calls.keep(&call, position, at, command, written, &ack);
        // A call that is known never runs again, so a second outcome proves that it ran twice. A
        // foreign key may come again after it was forgotten, which smaller limits do sooner.
        if self.calls.again() != before && !call_line.foreign {
            let key = key(&call.caller, &call.id);
            return Err(wrong(format!("{key} has an outcome already: it ran twice")));
        }
        Ok(None)
    }

    fn apply(
        &mut self,
        position: Position,
        at: UnixMillis,
        call: &Call,
        line: &CallLine<'_>,
    ) -> Result<(), OpenError> {
        let Some(json) = line.change else {
            return Ok(());
        };
        let command = || line.command.clone().into_owned();
        let change = match serde_json::from_str(json) {
            Ok(change) => change,
            Err(_) if self.skip_changes => {
                self.pass_over(position);
                return Ok(());
            }
            Err(source) => {
                return Err(OpenError::UnknownChange {
                    position,
                    command: command(),
                    source,
                });
            }
        };
        let record = Record {
            position,
            at,
            by: call.caller.clone(),
            command: Cow::Owned(command()),
            call: call.id.clone(),
            change,
        };
        caught(|| self.state.apply(&record)).map_err(|panic| {
            tracing::error!(%position, panic, "`apply` failed");
            OpenError::Apply {
                position,
                command: command(),
            }
        })
    }

    fn pass_over(&mut self, position: Position) {
        self.unknown += 1;
        self.first_unknown.get_or_insert(position);
    }
}

/// The position of a chunk's last record.
pub(super) fn last(chunk: &Chunk<'_>) -> Position {
    Position(chunk.first.0 + u64::from(chunk.records) - 1)
}

/// A call that has begun in a chunk.
struct Open {
    call: Call,
    /// What its first record acknowledges.
    ack: Vec<CallId>,
}

/// The call that begins with this record.
fn begin(line: &mut CallLine<'_>) -> Open {
    let ack = std::mem::take(&mut line.ack);
    let call = Call {
        caller: line.by.clone(),
        id: line.call.clone(),
        fingerprint: line.fingerprint,
        attempt: line.attempt,
        origin: if line.foreign {
            Origin::Foreign
        } else {
            Origin::Link { seen: None }
        },
    };
    Open { call, ack }
}

/// Whether this record is one of the call.
fn belongs(line: &CallLine<'_>, call: &Call) -> bool {
    line.by == call.caller
        && line.call == call.id
        && line.fingerprint == call.fingerprint
        && line.attempt == call.attempt
        && line.foreign == matches!(call.origin, Origin::Foreign)
}

/// The key of a call, for a person.
fn key(caller: &Caller, id: &CallId) -> String {
    format!("the call {id} of {caller}")
}

#[cfg(test)]
mod tests;
