//! One record as JSON: the one place that knows its fields, for the writer and for each reader.

use std::borrow::Cow;

use link_wire::{CallId, Caller, Position, UnixMillis};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::{engine::calls::Fingerprint, handler::Reply, refusal::KeptRefusal};

/// How a call ended, as it is kept and given again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Reply(Reply),
    Refused(KeptRefusal),
}

/// One record of the log. The fields are those of [`crate::log`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line<'a> {
    pub(crate) position: Position,
    pub(crate) at: UnixMillis,
    pub(crate) by: Caller,
    #[serde(borrow)]
    pub(crate) command: Cow<'a, str>,
    pub(crate) call: CallId,
    pub(crate) fingerprint: Fingerprint,
    #[serde(default = "first")]
    pub(crate) attempt: u32,
    /// Missing means no change; `null` is the JSON of a change.
    #[serde(
        borrow,
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) change: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<Outcome>,
}

fn first() -> u32 {
    1
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

/// The records of a chunk. After an error it ends.
pub(crate) fn read(chunk: &[u8]) -> impl Iterator<Item = Result<Line<'_>, serde_json::Error>> {
    serde_json::Deserializer::from_slice(chunk).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_change_is_none_and_null_is_one() {
        let with = |rest: &str| {
            format!(
                r#"{{"position":1,"at":2,"by":"ann","command":"claim","call":"c","fingerprint":"{:032x}"{rest}}}"#,
                7
            )
        };
        let (none, null) = (with(r#","later":[1]"#), with(r#","change":null"#));
        let none = read(none.as_bytes()).next().unwrap().unwrap();
        assert_eq!(
            (none.change.is_none(), none.attempt, none.outcome.is_none()),
            (true, 1, true)
        );
        let null = read(null.as_bytes()).next().unwrap().unwrap();
        assert_eq!(null.change.map(RawValue::get), Some("null"));
    }
}
