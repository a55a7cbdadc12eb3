//! The log against all that was said, read without the server that wrote it.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use riff_link::server::log::{self, LoggedEntry, LoggedOutcome};
use serde_json::Value;

use crate::writer::{Answer, Told};

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) told: u64,
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) cancelled: u64,
    /// Starts of the server, as the log has them.
    pub(crate) runs: u64,
}

/// What the log has of one call.
#[derive(Debug, Default)]
struct Call {
    changes: Vec<Value>,
    outcomes: Vec<LoggedOutcome>,
}

/// A log as a whole.
#[derive(Debug, Default)]
struct Ledger {
    calls: HashMap<(String, String), Call>,
    /// Each text that was posted, as often as it was.
    posted: HashMap<String, u64>,
    runs: u64,
}

impl Ledger {
    fn read(dir: &Path) -> Result<Self, String> {
        let mut ledger = Self::default();
        let unreadable = |error: log::LogError| format!("the log cannot be read: {error}");
        for record in log::read(dir).map_err(unreadable)? {
            let call = match record.map_err(unreadable)?.entry {
                LoggedEntry::Call(call) => call,
                LoggedEntry::Run(_) => {
                    ledger.runs += 1;
                    continue;
                }
                other => return Err(format!("the log has a record of another kind: {other:?}")),
            };
            let key = (call.by.to_string(), call.call.to_string());
            let entry = ledger.calls.entry(key).or_default();
            if let Some(change) = call.change {
                if let Some(text) = change.pointer("/posted/text").and_then(Value::as_str) {
                    *ledger.posted.entry(text.to_owned()).or_default() += 1;
                }
                entry.changes.push(change);
            }
            entry.outcomes.extend(call.outcome);
        }
        Ok(ledger)
    }
}

/// Compares each answer with the log, and the log with the answers.
///
/// # Errors
/// The log cannot be read.
pub(crate) fn audit(dir: &Path, told: &[Told], wrong: &mut Vec<String>) -> Result<Counts, String> {
    let ledger = Ledger::read(dir)?;
    let mut counts = Counts {
        runs: ledger.runs,
        ..Counts::default()
    };
    let mut known = HashSet::new();
    for one in told {
        counts.told += 1;
        let key = (one.caller.clone(), one.call.clone());
        let call = ledger.calls.get(&key);
        known.insert(key);
        if let Err(what) = holds(one, call, &mut counts) {
            wrong.push(format!(
                "the call {} of {} (POST {} {}) was answered {:?}: {what}",
                one.call, one.caller, one.path, one.body, one.answer
            ));
        }
    }
    for ((by, id), call) in &ledger.calls {
        if call.outcomes.len() != 1 {
            let times = call.outcomes.len();
            wrong.push(format!(
                "the call {id} of {by} ended {times} times in the log"
            ));
        }
        let ran = matches!(call.outcomes.first(), Some(LoggedOutcome::Reply(_)));
        if !ran && !call.changes.is_empty() {
            wrong.push(format!(
                "the call {id} of {by} changed something and has no reply"
            ));
        }
        if !known.contains(&(by.clone(), id.clone())) {
            wrong.push(format!(
                "nobody was told of the call {id} of {by}, and the log has it"
            ));
        }
    }
    for (text, times) in ledger.posted {
        if times > 1 {
            wrong.push(format!("{text:?} was posted twice or more: {times} times"));
        }
    }
    Ok(counts)
}

/// Whether the log has what this answer says.
fn holds(told: &Told, call: Option<&Call>, counts: &mut Counts) -> Result<(), &'static str> {
    let outcome = call.and_then(|call| call.outcomes.first());
    match &told.answer {
        Answer::Reply(reply, _) if reply.status == 200 => {
            counts.acknowledged += 1;
            let said: Option<Value> = serde_json::from_str(&reply.body).ok();
            match outcome {
                Some(LoggedOutcome::Reply(logged)) if Some(logged) == said.as_ref() => Ok(()),
                Some(LoggedOutcome::Reply(_)) => Err("the log has another reply"),
                _ => Err("the log has no reply of it"),
            }
        }
        Answer::Reply(reply, attempt) if reply.refused => {
            counts.refused += 1;
            match outcome {
                None if *attempt == 1 => Ok(()),
                Some(LoggedOutcome::Refused(_)) => Ok(()),
                None => Err("the refusal of a retry is not kept"),
                Some(_) => Err("the log has no refusal"),
            }
        }
        Answer::Reply(..) => Err("neither a reply nor a refusal of the handler"),
        Answer::Settled(fate) => match (fate.as_str(), outcome) {
            ("ran", Some(LoggedOutcome::Reply(_)))
            | ("refused", Some(LoggedOutcome::Refused(_))) => Ok(()),
            ("cancelled", Some(LoggedOutcome::Cancelled)) => {
                counts.cancelled += 1;
                Ok(())
            }
            _ => Err("the log says otherwise"),
        },
    }
}
