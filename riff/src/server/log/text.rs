//! One record of a log: as a line for a person, and as JSON for a program.

use riff_link::server::log::{Logged, LoggedCall, LoggedEntry, LoggedOutcome};
use serde_json::{Value, json};

use crate::{clock, output};

/// The record with the names of its file. That of a call has all of them, so that a program needs
/// no cases.
pub(super) fn object(record: Logged) -> Value {
    let (position, at) = (record.position, record.at);
    match record.entry {
        LoggedEntry::Call(call) => {
            let outcome = call.outcome.map(|outcome| match outcome {
                LoggedOutcome::Reply(reply) => json!({ "reply": reply }),
                LoggedOutcome::Refused(refusal) => json!({ "refused": refusal }),
                LoggedOutcome::Cancelled => json!("cancelled"),
                other => json!(format!("{other:?}")),
            });
            json!({
                "position": position,
                "at": at,
                "by": call.by,
                "command": call.command,
                "call": call.call,
                "fingerprint": call.fingerprint,
                "attempt": call.attempt,
                "ack": call.ack,
                "foreign": call.foreign,
                "change": call.change,
                "outcome": outcome,
            })
        }
        LoggedEntry::Run(run) => json!({
            "position": position,
            "at": at,
            "run": run.run,
            "restored": run.restored,
        }),
        LoggedEntry::Unknown(json) => json,
        other => json!({ "position": position, "at": at, "unknown": format!("{other:?}") }),
    }
}

/// The record as a line.
pub(super) fn line(record: &Logged) -> String {
    let said = match &record.entry {
        LoggedEntry::Call(call) => call_line(call),
        LoggedEntry::Run(run) if run.restored => {
            format!(
                "a server starts on a backup that was put back, run {}",
                run.run
            )
        }
        LoggedEntry::Run(run) => format!("a server starts, run {}", run.run),
        LoggedEntry::Unknown(json) => format!("of a kind that this program does not know: {json}"),
        other => format!("{other:?}"),
    };
    let time = clock::utc(record.at);
    output::plain(&format!("{} {time} {said}", record.position))
}

fn call_line(record: &LoggedCall) -> String {
    let LoggedCall {
        by,
        command,
        call,
        attempt,
        change,
        outcome,
        ..
    } = record;
    let attempt = (*attempt > 1).then(|| format!(" (try {attempt})"));
    let change = change.as_ref().map(|change| format!(" {change}"));
    let outcome = outcome.as_ref().map(|outcome| match outcome {
        LoggedOutcome::Reply(reply) => format!(" -> {reply}"),
        LoggedOutcome::Refused(no) => format!(" -> refused: {} ({})", no.detail, no.code),
        LoggedOutcome::Cancelled => " -> cancelled".into(),
        other => format!(" -> {other:?}"),
    });
    let said = [attempt, change, outcome].into_iter().flatten();
    format!("{by} {command} {call}{}", said.collect::<String>())
}
