//! `riff-server log`: shows each record of a log.

use std::path::Path;

use riff_link::server::log::{self, Logged, LoggedOutcome};
use serde_json::{Value, json};

use super::stop::Stop;
use crate::output;

pub(super) fn show(dir: &Path, json: bool) -> Result<(), Stop> {
    for record in log::read(dir).map_err(|error| Stop::of(&error))? {
        let record = record.map_err(|error| Stop::of(&error))?;
        if json {
            output::json(&object(record))?;
        } else {
            output::data(line(&record))?;
        }
    }
    Ok(())
}

/// The record with the names of its file, all of them, so that a program needs no cases.
fn object(record: Logged) -> Value {
    let outcome = record.outcome.map(|outcome| match outcome {
        LoggedOutcome::Reply(reply) => json!({ "reply": reply }),
        LoggedOutcome::Refused(refusal) => json!({ "refused": refusal }),
    });
    json!({
        "position": record.position,
        "at": record.at,
        "by": record.by,
        "command": record.command,
        "call": record.call,
        "fingerprint": record.fingerprint,
        "attempt": record.attempt,
        "change": record.change,
        "outcome": outcome,
    })
}

fn line(record: &Logged) -> String {
    let Logged {
        position,
        by,
        command,
        call,
        attempt,
        change,
        outcome,
        ..
    } = record;
    let time = crate::clock::utc(record.at);
    let attempt = (*attempt > 1).then(|| format!(" (try {attempt})"));
    let change = change.as_ref().map(|change| format!(" {change}"));
    let outcome = outcome.as_ref().map(|outcome| match outcome {
        LoggedOutcome::Reply(reply) => format!(" -> {reply}"),
        LoggedOutcome::Refused(no) => format!(" -> refused: {} ({})", no.detail, no.code),
    });
    let said = [attempt, change, outcome]
        .into_iter()
        .flatten()
        .collect::<String>();
    let line = format!("{position} {time} {by} {command} {call}{said}");
    output::plain(&line)
}
