//! `riff-server calls list`: the newest calls of each caller, folded from the log.

use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
};

use riff_link::{
    CallId, Caller, Position, UnixMillis,
    server::log::{self, Logged, LoggedEntry, LoggedOutcome},
};
use serde_json::{Value, json};

use crate::{
    clock, output,
    server::{place, stop::Stop},
};

/// How a call ended.
struct Ended {
    call: CallId,
    command: String,
    fate: &'static str,
    /// The code of a refusal.
    code: Option<String>,
    position: Position,
    at: UnixMillis,
}

/// The newest calls of each caller, the oldest of them first.
#[derive(Default)]
struct Newest {
    callers: BTreeMap<Caller, VecDeque<Ended>>,
}

pub(super) fn list(
    dir: &Path,
    caller: Option<&Caller>,
    most: usize,
    json: bool,
) -> Result<(), Stop> {
    place::there(dir)?;
    let mut newest = Newest::default();
    for record in log::read(dir).map_err(|error| Stop::of(&error))? {
        let record = record.map_err(|error| Stop::of(&error))?;
        newest.add(record, caller, most);
    }
    output::bulk(|out| {
        for (caller, calls) in &newest.callers {
            for ended in calls.iter().rev() {
                if json {
                    writeln!(out, "{}", ended.object(caller))?;
                } else {
                    writeln!(out, "{}", ended.line(caller))?;
                }
            }
        }
        Ok(())
    })
}

impl Newest {
    fn add(&mut self, record: Logged, only: Option<&Caller>, most: usize) {
        let LoggedEntry::Call(call) = record.entry else {
            return;
        };
        if only.is_some_and(|only| call.by != *only) {
            return;
        }
        let (fate, code) = match call.outcome {
            None => return,
            Some(LoggedOutcome::Reply(_)) => ("ran", None),
            Some(LoggedOutcome::Refused(refusal)) => ("refused", Some(refusal.code)),
            Some(LoggedOutcome::Cancelled) => ("cancelled", None),
            Some(_) => ("ended in a way that this program does not know", None),
        };
        let calls = self.callers.entry(call.by).or_default();
        calls.push_back(Ended {
            call: call.call,
            command: call.command,
            fate,
            code,
            position: record.position,
            at: record.at,
        });
        if calls.len() > most {
            calls.pop_front();
        }
    }
}

impl Ended {
    fn object(&self, caller: &Caller) -> Value {
        json!({
            "caller": caller,
            "call": self.call,
            "command": self.command,
            "fate": self.fate,
            "code": self.code,
            "position": self.position,
            "at": self.at,
        })
    }

    fn line(&self, caller: &Caller) -> String {
        let code = self.code.as_ref().map(|code| format!(" ({code})"));
        let line = format!(
            "{caller} {} {} {}{}, {} at {}",
            self.call,
            self.command,
            self.fate,
            code.unwrap_or_default(),
            clock::utc(self.at),
            self.position
        );
        output::plain(&line)
    }
}
