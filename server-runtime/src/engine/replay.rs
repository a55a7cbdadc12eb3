//! Reading the whole log at a start: the state, and what became of each call.

use std::borrow::Cow;

use link_wire::Position;

use super::{
    OpenError, Opened,
    calls::{Call, Calls},
    shared::caught,
    stage::Written,
    tail::{Durable, Tail},
};
use crate::{
    Record, State,
    journal::{Chunk, Journal},
    log::line::{self, Line},
};

/// What the log adds up to.
pub(super) struct Replayed<S> {
    pub(super) state: S,
    pub(super) calls: Calls,
    pub(super) tail: Tail,
    pub(super) opened: Opened,
}

/// Reads the log into `state`.
pub(super) fn replay<S: State>(
    journal: Box<dyn Journal>,
    state: S,
) -> Result<Replayed<S>, OpenError> {
    let mut sum = Sum {
        state,
        calls: Calls::default(),
        opened: Opened::default(),
    };
    let tail = Tail::replay(journal, |durable, chunk| sum.add(durable, chunk))?;
    let Sum {
        state,
        calls,
        mut opened,
    } = sum;
    opened.found = tail.found();
    for cut in &opened.found.cut {
        let (place, bytes, what) = (&cut.place, cut.bytes, cut.what);
        tracing::warn!(place, bytes, what, "a torn end of the log was cut away");
    }
    Ok(Replayed {
        state,
        calls,
        tail,
        opened,
    })
}

struct Sum<S> {
    state: S,
    calls: Calls,
    opened: Opened,
}

impl<S: State> Sum<S> {
    fn add(&mut self, durable: &Durable, chunk: Chunk<'_>) -> Result<(), OpenError> {
        let mut position = chunk.first;
        let end = Position(chunk.first.0 + u64::from(chunk.records));
        let mut open_call = false;
        for line in line::read(chunk.bytes) {
            let wrong = |what: String| OpenError::Record { position, what };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            if line.position != position || position >= end {
                return Err(wrong(format!(
                    "it says that it is the one at {}",
                    line.position
                )));
            }
            open_call = line.outcome.is_none();
            self.add_line(durable, line)?;
            position = position.next();
        }
        if position != end || open_call {
            let what = "the chunk ends before its last call does".into();
            return Err(OpenError::Record { position, what });
        }
        Ok(())
    }

    fn add_line(&mut self, durable: &Durable, line: Line<'_>) -> Result<(), OpenError> {
        let Line {
            position, command, ..
        } = line;
        if let Some(json) = line.change {
            let change =
                serde_json::from_str(json.get()).map_err(|source| OpenError::UnknownChange {
                    position,
                    command: command.to_string(),
                    source,
                })?;
            let record = Record {
                position,
                at: line.at,
                by: line.by.clone(),
                command: Cow::Owned(command.clone().into_owned()),
                call: line.call.clone(),
                change,
            };
            caught(|| self.state.apply(&record)).map_err(|panic| {
                tracing::error!(%position, panic, "`apply` failed");
                OpenError::Apply {
                    position,
                    command: command.to_string(),
                }
            })?;
        }
        self.opened.records += 1;
        if let Some(outcome) = line.outcome {
            let Line {
                by: caller,
                call: id,
                fingerprint,
                attempt,
                ..
            } = line;
            let call = Call {
                caller,
                id,
                fingerprint,
                attempt,
            };
            self.calls.keep(call, Written::new(durable, outcome));
            self.opened.calls += 1;
        }
        Ok(())
    }
}
