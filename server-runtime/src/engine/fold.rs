//! What a log adds up to, chunk by chunk: the state, and what became of each call. The same for a
//! start and for a checkpoint.

use std::borrow::Cow;

use link_wire::{CallId, Position, UnixMillis};

pub(super) use self::parsed::Parsed;
use self::parsed::{ParsedEntry, ParsedLine};
use super::{
    OpenError,
    calls::{Call, CallLimits, Calls, Origin},
    shared::caught,
    stage::Written,
    tail::Durable,
};
use crate::{Record, State};

mod parsed;

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
    pub(super) fn add(
        &mut self,
        durable: &Durable,
        chunk: Parsed<S::Change>,
    ) -> Result<(), OpenError> {
        let mut open = None;
        for line in chunk.lines {
            open = self.add_line(durable, open.take(), line?)?;
        }
        if open.is_some() {
            return Err(parsed::too_short(chunk.end.next()));
        }
        self.end = chunk.end;
        self.digest = chunk.digest;
        self.added += u64::from(chunk.records);
        self.added_bytes += chunk.bytes as u64;
        Ok(())
    }

    /// Adds a record to the call that has not ended, if there is one. Gives that which goes on.
    fn add_line(
        &mut self,
        durable: &Durable,
        open: Option<Open>,
        line: ParsedLine<S::Change>,
    ) -> Result<Option<Open>, OpenError> {
        let (position, at) = (line.position, line.at);
        let wrong = |what: String| OpenError::Record { position, what };
        let of = match (line.entry, &open) {
            (ParsedEntry::Call(of), _) => of,
            (ParsedEntry::Run { .. } | ParsedEntry::Unknown, Some(open)) => {
                return Err(wrong(format!("{} has not ended", key(&open.call))));
            }
            (ParsedEntry::Run { run, restored }, None) => {
                self.calls.run(run, position, restored);
                return Ok(None);
            }
            (ParsedEntry::Unknown, None) => {
                self.pass_over(position);
                return Ok(None);
            }
        };
        let Open { call, ack } = match open {
            Some(open) if of.call == open.call => open,
            Some(open) => {
                let (one, other) = (key(&of.call), key(&open.call));
                return Err(wrong(format!("it is of {one}, and {other} has not ended")));
            }
            None => Open {
                call: of.call,
                ack: of.ack,
            },
        };
        if let Some(change) = of.change {
            self.apply(position, at, &call, &of.command, change)?;
        }
        let Some(outcome) = of.outcome else {
            return Ok(Some(Open { call, ack }));
        };
        let before = self.calls.again();
        let written = Written::new(durable, outcome);
        self.calls
            .keep(&call, position, at, &of.command, written, &ack);
        // A call that is known never runs again, so a second outcome proves that it ran twice. A
        // foreign key may come again after it was forgotten, which smaller limits do sooner.
        if self.calls.again() != before && call.origin != Origin::Foreign {
            let key = key(&call);
            return Err(wrong(format!("{key} has an outcome already: it ran twice")));
        }
        Ok(None)
    }

    fn apply(
        &mut self,
        position: Position,
        at: UnixMillis,
        call: &Call,
        command: &str,
        change: Result<S::Change, serde_json::Error>,
    ) -> Result<(), OpenError> {
        let change = match change {
            Ok(change) => change,
            Err(_) if self.skip_changes => {
                self.pass_over(position);
                return Ok(());
            }
            Err(source) => {
                return Err(OpenError::UnknownChange {
                    position,
                    command: command.to_owned(),
                    source,
                });
            }
        };
        let record = Record {
            position,
            at,
            by: call.caller.clone(),
            command: Cow::Owned(command.to_owned()),
            call: call.id.clone(),
            change,
        };
        caught(|| self.state.apply(&record)).map_err(|panic| {
            tracing::error!(%position, panic, "`apply` failed");
            OpenError::Apply {
                position,
                command: command.to_owned(),
            }
        })
    }

    fn pass_over(&mut self, position: Position) {
        self.unknown += 1;
        self.first_unknown.get_or_insert(position);
    }
}

/// A call that has begun in a chunk.
struct Open {
    call: Call,
    /// What its first record acknowledges.
    ack: Vec<CallId>,
}

/// The key of a call, for a person.
fn key(call: &Call) -> String {
    format!("the call {} of {}", call.id, call.caller)
}

#[cfg(test)]
mod tests;
