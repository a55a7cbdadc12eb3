//! Reading the whole log at a start: the state, and what became of each call.

use std::borrow::Cow;

use link_wire::{CallId, Caller, Position};

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
        tracing::warn!(
            place,
            bytes,
            what,
            "a torn end of the log was cut away: a crash leaves one, and nobody was told of what was \
             in it; without a crash the files are damaged, so restore them from a backup"
        );
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
        let mut open: Option<Call> = None;
        for line in line::read(chunk.bytes) {
            let wrong = |what: String| OpenError::Record { position, what };
            let line = line.map_err(|error| wrong(error.to_string()))?;
            if line.position != position || position >= end {
                return Err(wrong(format!(
                    "it says that it is the one at {}",
                    line.position
                )));
            }
            let call = match open.take() {
                Some(call) if belongs(&line, &call) => call,
                Some(call) => {
                    return Err(wrong(format!(
                        "it is of {}, and {} has not ended",
                        key(&line.by, &line.call),
                        key(&call.caller, &call.id)
                    )));
                }
                None => self.begin(&line).map_err(wrong)?,
            };
            if self.add_line(durable, &call, line)? {
                open = Some(call);
            }
            position = position.next();
        }
        if position != end || open.is_some() {
            let what = "the chunk ends before its last call does".into();
            return Err(OpenError::Record { position, what });
        }
        Ok(())
    }

    /// The call that begins with this record.
    fn begin(&self, line: &Line<'_>) -> Result<Call, String> {
        let call = Call {
            caller: line.by.clone(),
            id: line.call.clone(),
            fingerprint: line.fingerprint,
            attempt: line.attempt,
        };
        // A kept call never runs again, so a second outcome proves that it ran twice.
        match self.calls.look(&call) {
            None => Ok(call),
            Some(_) => Err(format!(
                "{} has an outcome already: it ran twice",
                key(&call.caller, &call.id)
            )),
        }
    }

    /// Adds a record. True: its call goes on.
    fn add_line(
        &mut self,
        durable: &Durable,
        call: &Call,
        line: Line<'_>,
    ) -> Result<bool, OpenError> {
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
        let Some(outcome) = line.outcome else {
            return Ok(true);
        };
        self.calls
            .keep(call.clone(), Written::new(durable, outcome));
        self.opened.calls += 1;
        Ok(false)
    }
}

/// Whether this record is one of the call.
fn belongs(line: &Line<'_>, call: &Call) -> bool {
    line.by == call.caller
        && line.call == call.id
        && line.fingerprint == call.fingerprint
        && line.attempt == call.attempt
}

/// The key of a call, for a person.
fn key(caller: &Caller, id: &CallId) -> String {
    format!("the call {id} of {caller}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryJournal;

    #[derive(Debug, Clone, Default)]
    struct Said(Vec<String>);

    impl State for Said {
        type Change = String;

        fn apply(&mut self, record: &Record<String>) {
            self.0.push(record.change.clone());
        }
    }

    /// A record of a caller's call; the last one of the call has an outcome.
    fn record(position: u64, by: &str, call: &str, last: bool) -> String {
        let outcome = if last {
            r#","outcome":{"reply":null}"#
        } else {
            ""
        };
        let ids = format!(r#""by":"{by}","command":"say","call":"{call}""#);
        let fingerprint = format!("{:032x}", 7);
        format!(
            r#"{{"position":{position},"at":2,{ids},"fingerprint":"{fingerprint}","change":"{position}"{outcome}}}"#
        )
    }

    /// What a start makes of these chunks: what was said, or the text of its error.
    fn start(chunks: &[&[String]]) -> Result<Vec<String>, String> {
        let mut journal = MemoryJournal::new();
        let mut first = Position(1);
        for chunk in chunks {
            let records = u32::try_from(chunk.len()).unwrap();
            let bytes = chunk.join("\n");
            let bytes = bytes.as_bytes();
            journal
                .append(Chunk {
                    first,
                    records,
                    bytes,
                })
                .unwrap();
            first = Position(first.0 + u64::from(records));
        }
        match replay(Box::new(journal), Said::default()) {
            Ok(replayed) => Ok(replayed.state.0),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn calls_that_stand_one_after_the_other_are_read() {
        let first = [record(1, "ann", "a", false), record(2, "ann", "a", true)];
        let second = [record(3, "ben", "a", true), record(4, "ann", "b", true)];
        assert_eq!(start(&[&first, &second]).unwrap(), ["1", "2", "3", "4"]);
    }

    #[test]
    fn a_second_outcome_of_a_key_stops_the_start_and_names_it() {
        let first = [record(1, "ann", "a", true)];
        for again in [
            record(3, "ann", "a", true),
            record(3, "ann", "a", true).replace("07", "08"),
        ] {
            let second = [record(2, "ben", "b", true), again];
            let error = start(&[&first, &second]).unwrap_err();
            for part in ["the record at 3 ", "the call a of ann", "twice"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }

    #[test]
    fn calls_that_run_into_each_other_stop_the_start_and_are_named() {
        for other in [
            record(2, "ben", "a", true),
            record(2, "ann", "b", true),
            record(2, "ann", "a", true).replace("07", "08"),
        ] {
            let error = start(&[&[record(1, "ann", "a", false), other]]).unwrap_err();
            for part in ["the record at 2 ", "the call a of ann has not ended"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
