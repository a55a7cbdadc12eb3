//! One record as JSON: the one place that knows its fields, for the writer and for each reader.

use std::borrow::Cow;

use link_wire::{CallId, Caller, Position, RunId, UnixMillis};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

mod quick;

use crate::{engine::calls::Fingerprint, handler::Reply, refusal::KeptRefusal};

/// How a call ended, as it is kept and given again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Reply(Reply),
    Refused(KeptRefusal),
    /// It was settled before it arrived.
    Cancelled,
}

/// One record of the log, read. The fields are those of [`crate::log`].
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) position: Position,
    pub(crate) at: UnixMillis,
    pub(crate) entry: Entry<'a>,
}

/// What a record is of.
#[derive(Debug)]
pub(crate) enum Entry<'a> {
    Call(CallLine<'a>),
    /// A writer begins.
    Run {
        run: RunId,
        restored: bool,
    },
    /// Another kind, which a newer program wrote: its JSON.
    Unknown(&'a str),
}

/// A record of a call.
#[derive(Debug)]
pub(crate) struct CallLine<'a> {
    pub(crate) by: Caller,
    pub(crate) command: Cow<'a, str>,
    pub(crate) call: CallId,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) attempt: u32,
    pub(crate) ack: Vec<CallId>,
    pub(crate) foreign: bool,
    /// Its JSON; not looked at.
    pub(crate) change: Option<&'a str>,
    pub(crate) outcome: Option<Outcome>,
}

/// All fields of all kinds.
#[derive(Deserialize)]
struct Fields<'a> {
    position: Position,
    #[serde(default)]
    at: UnixMillis,
    #[serde(borrow, default)]
    by: Option<Text<'a>>,
    #[serde(borrow, default)]
    command: Option<Text<'a>>,
    #[serde(borrow, default)]
    call: Option<Text<'a>>,
    #[serde(borrow, default)]
    fingerprint: Option<Text<'a>>,
    #[serde(default = "first")]
    attempt: u32,
    #[serde(default)]
    ack: Vec<CallId>,
    #[serde(default)]
    foreign: bool,
    /// Missing means no change; `null` is the JSON of a change.
    #[serde(borrow, default, deserialize_with = "present")]
    change: Option<&'a RawValue>,
    #[serde(default)]
    outcome: Option<Outcome>,
    #[serde(default)]
    run: Option<RunId>,
    #[serde(default)]
    restored: bool,
}

/// A text that is lent where its JSON has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn first() -> u32 {
    1
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

impl<'a> Line<'a> {
    fn of(fields: Fields<'a>, json: &'a str) -> Result<Self, serde_json::Error> {
        let (position, at) = (fields.position, fields.at);
        let entry = match (&fields.call, fields.run) {
            (Some(_), None) => Entry::Call(CallLine::of(fields)?),
            (None, Some(run)) => Entry::Run {
                run,
                restored: fields.restored,
            },
            _ => Entry::Unknown(json),
        };
        Ok(Self {
            position,
            at,
            entry,
        })
    }
}

impl<'a> CallLine<'a> {
    fn of(fields: Fields<'a>) -> Result<Self, serde_json::Error> {
        let missing = serde_json::Error::missing_field;
        let Text(by) = fields.by.ok_or_else(|| missing("by"))?;
        let Text(call) = fields.call.ok_or_else(|| missing("call"))?;
        let Text(command) = fields.command.unwrap_or(Text(Cow::Borrowed("")));
        let cancelled = matches!(fields.outcome, Some(Outcome::Cancelled));
        let fingerprint = match fields.fingerprint {
            Some(Text(hex)) => hex.parse().map_err(serde_json::Error::custom)?,
            None if cancelled => Fingerprint::NONE,
            None => return Err(missing("fingerprint")),
        };
        Ok(Self {
            by: by.parse().map_err(serde_json::Error::custom)?,
            command,
            call: call.parse().map_err(serde_json::Error::custom)?,
            fingerprint,
            attempt: fields.attempt,
            ack: fields.ack,
            foreign: fields.foreign,
            change: fields.change.map(RawValue::get),
            outcome: fields.outcome,
        })
    }
}

/// The records of a chunk. After an error it ends.
pub(crate) fn read(chunk: &[u8]) -> Lines<'_> {
    // Looked at once for the whole chunk, not again for each text in it.
    let (chunk, not_text) = match std::str::from_utf8(chunk) {
        Ok(text) => (text, None),
        Err(error) => ("", Some(error)),
    };
    Lines {
        rest: chunk,
        not_text,
    }
}

/// See [`read`].
pub(crate) struct Lines<'a> {
    rest: &'a str,
    not_text: Option<std::str::Utf8Error>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<Line<'a>, serde_json::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.not_text.take() {
            return Some(Err(serde_json::Error::custom(error)));
        }
        if let Some((line, rest)) = quick::read(self.rest) {
            self.rest = rest;
            return Some(Ok(line));
        }
        let mut slow = serde_json::Deserializer::from_str(self.rest).into_iter();
        let fields: Result<Fields<'a>, _> = slow.next()?;
        let (json, rest) = self.rest.split_at(slow.byte_offset());
        let line = fields.and_then(|fields| Line::of(fields, json.trim()));
        self.rest = if line.is_ok() { rest } else { "" };
        Some(line)
    }
}

/// A record of a call, to be written.
#[derive(Debug, Serialize)]
pub(crate) struct CallRecord<'a> {
    pub(crate) position: Position,
    pub(crate) at: UnixMillis,
    pub(crate) by: &'a str,
    pub(crate) command: &'a str,
    pub(crate) call: &'a str,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) attempt: u32,
    #[serde(skip_serializing_if = "<[CallId]>::is_empty")]
    pub(crate) ack: &'a [CallId],
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) foreign: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'a Outcome>,
}

/// The record with which a writer begins.
#[derive(Debug, Serialize)]
pub(crate) struct RunRecord {
    pub(crate) position: Position,
    pub(crate) at: UnixMillis,
    pub(crate) run: RunId,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) restored: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(rest: &str) -> String {
        let of = r#""position":1,"at":2,"by":"ann","command":"claim","call":"c""#;
        format!(r#"{{{of},"fingerprint":"{:032x}"{rest}}}"#, 7)
    }

    fn call(json: &str) -> CallLine<'_> {
        match read(json.as_bytes()).next().unwrap().unwrap().entry {
            Entry::Call(call) => call,
            other => panic!("no call: {other:?}"),
        }
    }

    #[test]
    fn a_missing_change_is_none_and_null_is_one() {
        let (none, null) = (with(r#","later":[1]"#), with(r#","change":null"#));
        let none = call(&none);
        assert_eq!(
            (none.change.is_none(), none.attempt, none.outcome.is_none()),
            (true, 1, true)
        );
        assert_eq!(call(&null).change, Some("null"));
    }

    #[test]
    fn a_name_with_escapes_is_read_as_it_was_written() {
        let record = CallRecord {
            position: Position(1),
            at: UnixMillis(2),
            by: r#"a"\n"#,
            command: "say",
            call: r#"\""#,
            fingerprint: Fingerprint::NONE,
            attempt: 2,
            ack: &[],
            foreign: true,
            change: None,
            outcome: Some(&Outcome::Cancelled),
        };
        let json = serde_json::to_string(&record).unwrap();
        assert!(!json.contains("ack"), "{json}");
        let read = call(&json);
        assert_eq!((read.by.as_str(), read.call.as_str()), (r#"a"\n"#, r#"\""#));
        assert_eq!((read.attempt, read.foreign), (2, true));
        assert!(matches!(read.outcome, Some(Outcome::Cancelled)));
    }

    #[test]
    fn what_is_read_quickly_is_what_serde_reads() {
        let reply = r#"{"a":"}\",[\\","b":[1,{"c":null}]}"#;
        let plain = with(&format!(
            r#","attempt":2,"foreign":true,"change":{reply},"outcome":{{"reply":{reply}}}"#
        ));
        for (json, quickly) in [
            (plain.clone(), true),
            (with(r#","attempt":1"#), true),
            (
                with(r#","attempt":1,"change":-1.5e3,"outcome":{"reply":"x"}"#),
                true,
            ),
            (with(r#","attempt":01"#), false),
            (with(r#","attempt":99999999999"#), false),
            (with(r#","attempt":1,"outcome":{"reply":{"a"}}"#), false),
            (with(r#","attempt":1,"outcome":{"reply":}"#), false),
            (with(r#","attempt":1,"outcome":"cancelled""#), false),
            (with(r#","attempt":1,"ack":["x"]"#), false),
            (with(r#","later":[1]"#), false),
            (plain.replace("ann", r"a\u006en"), false),
            (plain.replace("ann", "a nn"), false),
            (plain.replace(r#""at":2"#, r#""at": 2"#), false),
        ] {
            let json = json + "\n";
            let quick = quick::read(&json);
            assert_eq!(quick.is_some(), quickly, "{json}");
            let fields = serde_json::from_str::<Fields<'_>>(&json);
            let slow = fields.and_then(|fields| Line::of(fields, &json));
            if let Some((quick, rest)) = quick {
                assert_eq!(rest, "");
                assert_eq!(
                    format!("{quick:?}"),
                    format!("{:?}", slow.unwrap()),
                    "{json}"
                );
            }
        }
    }

    #[test]
    fn a_record_of_another_kind_is_given_as_it_stands() {
        let run = RunRecord {
            position: Position(2),
            at: UnixMillis(3),
            run: RunId::from_bytes([1; 16]),
            restored: true,
        };
        let other = r#"{"position":1,"lease":{"of":"x"}}"#;
        let chunk = format!("{other}\n{}\n", serde_json::to_string(&run).unwrap());
        let lines: Vec<_> = read(chunk.as_bytes()).map(Result::unwrap).collect();
        assert_eq!((lines[0].position.0, lines[1].position.0), (1, 2));
        assert!(matches!(lines[0].entry, Entry::Unknown(json) if json == other));
        assert!(matches!(
            lines[1].entry,
            Entry::Run { run, restored: true } if run == RunId::from_bytes([1; 16])
        ));
    }

    #[test]
    fn a_call_needs_its_key_and_only_a_cancelled_one_no_fingerprint() {
        let cancelled = r#"{"position":1,"at":2,"by":"ann","call":"c","outcome":"cancelled"}"#;
        assert_eq!(call(cancelled).fingerprint, Fingerprint::NONE);
        for without in [
            r#"{"position":1,"at":2,"by":"ann","call":"c"}"#,
            r#"{"position":1,"at":2,"call":"c","outcome":"cancelled"}"#,
        ] {
            let error = read(without.as_bytes()).next().unwrap().unwrap_err();
            assert!(error.to_string().contains("missing field"), "{error}");
        }
    }
}
