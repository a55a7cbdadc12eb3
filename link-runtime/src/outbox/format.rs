//! The lines of an outbox file: one record each, with its checksum. Pure.
//!
//! ```text
//! riff-outbox 1
//! 5d8f2c11 {"of":{"service":"riff","base":"http://127.0.0.1:7433","proof":"…"}}
//! 0b6a93e0 {"put":{"id":"…","route":"post","method":"POST","path":"/v1/…","body":"{…}","made":1796083200000,"until":1796166000000}}
//! 9a01c4d7 {"end":{"id":"…","route":"post","at":1796083201000,"how":"replied"}}
//! ```
//!
//! The checksum is the CRC-32C of the JSON, as 8 hex digits. What a version does not know of a
//! record is left as it is, and a record of an unknown kind is passed over.

use link_wire::{CallId, Caller, LogPosition, UnixMillis};
use serde::{Deserialize, Serialize};

/// The first line of each file.
pub(super) const HEAD: &str = "riff-outbox 1\n";

/// A command that owes a reply, with the exact bytes of each of its tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) id: CallId,
    /// The name of its route, as it was then.
    pub(crate) route: String,
    pub(crate) method: String,
    /// Its path with the query, after the URL of the server.
    pub(crate) path: String,
    /// JSON, byte for byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    pub(crate) made: UnixMillis,
    /// It is not sent after this.
    pub(crate) until: UnixMillis,
    /// What was seen of the server's log before the first try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<LogPosition>,
    /// Whose it is, where a reply had said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<Caller>,
}

impl Entry {
    /// Whether a command says the same.
    pub(super) fn says(&self, method: &str, path: &str, body: Option<&str>) -> bool {
        self.method == method && self.path == path && self.body.as_deref() == body
    }

    /// The bytes that it takes, as far as they differ from entry to entry.
    pub(super) fn bytes(&self) -> u64 {
        let body = self.body.as_ref().map_or(0, String::len);
        (body + self.path.len() + self.route.len() + 256) as u64
    }
}

/// Whose entries a file has: one caller's of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Of {
    pub(super) service: String,
    pub(super) base: String,
    /// The first half of the SHA-256 of the credentials, or nothing for none.
    pub(super) proof: String,
}

/// How a command left the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SettledHow {
    /// Its reply arrived.
    Replied,
    /// The server said no: it did not run.
    Refused {
        /// What is wrong, for a program.
        code: String,
        /// What is wrong, for a person.
        detail: String,
    },
    /// No try of it can have arrived, so it did not run.
    NotSent,
    /// Its time was over, and it may have run.
    Expired,
    /// It was taken out by hand, to be settled with the server.
    Dropped,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) id: CallId,
    pub(super) route: String,
    pub(super) at: UnixMillis,
    pub(super) how: SettledHow,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    /// Whose the file is.
    Of(Of),
    /// A command, before its first try.
    Put(Entry),
    /// The tries of a command say another position from here on: none before ran.
    Seen { id: CallId, seen: LogPosition },
    /// A command is not sent any more, and stays: it may have run.
    Stop { id: CallId, why: String },
    /// A command leaves.
    End(End),
    /// Where the log of a server was.
    Log { seen: LogPosition },
    /// Who the caller is whose credentials these are.
    Caller { of: Of, caller: Caller },
}

/// Appends a record to some lines.
pub(super) fn write(record: &Record, lines: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let json = serde_json::to_vec(record)?;
    lines.extend_from_slice(sum(&json).as_bytes());
    lines.extend_from_slice(&json);
    lines.push(b'\n');
    Ok(())
}

/// What a file holds: its records up to the first line that is damaged, and where that begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) records: Vec<Record>,
    /// The bytes before the damage; all, where there is none.
    pub(super) whole: usize,
}

/// Reads a file.
pub(super) fn read(bytes: &[u8]) -> Held {
    let mut held = Held {
        records: Vec::new(),
        whole: 0,
    };
    if !bytes.starts_with(HEAD.as_bytes()) {
        return held;
    }
    held.whole = HEAD.len();
    while let Some((line, json)) = next(&bytes[held.whole..]) {
        // Another kind of record, of a newer version, says nothing to this one.
        if let Ok(record) = serde_json::from_slice(json) {
            held.records.push(record);
        }
        held.whole += line;
    }
    held
}

/// The length of the next line, and its JSON; none where it is damaged, or there is none.
fn next(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((end + 1, json(&bytes[..end])?))
}

/// The record of one line; none where it is damaged, or of a kind that is not known.
pub(super) fn record(line: &[u8]) -> Option<Record> {
    serde_json::from_slice(json(line)?).ok()
}

/// The JSON of a line whose checksum is right.
fn json(line: &[u8]) -> Option<&[u8]> {
    let (said, json) = line.split_at_checked(9)?;
    (said == sum(json).as_bytes()).then_some(json)
}

/// What stands before the JSON of a line.
fn sum(json: &[u8]) -> String {
    format!("{:08x} ", crc32c::crc32c(json))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn entry(id: &str) -> Entry {
        Entry {
            id: id.parse().unwrap(),
            route: "post".into(),
            method: "POST".into(),
            path: "/v1/threads/a/messages?x=\u{e9}".into(),
            body: Some("{\"text\":\"\\u00e9\\n\", \"n\":1.0}".into()),
            made: UnixMillis(1),
            until: UnixMillis(2),
            seen: None,
            caller: Some("ann".parse().unwrap()),
        }
    }

    fn records() -> Vec<Record> {
        vec![
            Record::Of(Of {
                service: "riff".into(),
                base: "http://a".into(),
                proof: "0".into(),
            }),
            Record::Put(entry("one")),
            Record::Stop {
                id: "one".parse().unwrap(),
                why: "forgotten".into(),
            },
            Record::End(End {
                id: "one".parse().unwrap(),
                route: "post".into(),
                at: UnixMillis(3),
                how: SettledHow::Refused {
                    code: "held".into(),
                    detail: "held by ben".into(),
                },
            }),
        ]
    }

    fn file() -> Vec<u8> {
        let mut lines = HEAD.as_bytes().to_vec();
        for record in records() {
            write(&record, &mut lines).unwrap();
        }
        lines
    }

    #[test]
    fn what_was_written_is_read_byte_for_byte() {
        let held = read(&file());
        assert_eq!((held.records, held.whole), (records(), file().len()));
    }

    #[test]
    fn a_file_that_is_cut_or_zeroed_anywhere_gives_the_records_before() {
        let file = file();
        let ends: Vec<usize> = (1..=file.len())
            .filter(|&end| file[end - 1] == b'\n')
            .collect();
        for cut in 0..file.len() {
            let mut zeroed = file[..cut].to_vec();
            zeroed.resize(file.len() + 10, 0);
            for bytes in [&file[..cut], &zeroed] {
                let held = read(bytes);
                let before = ends.iter().copied().filter(|&end| end <= cut);
                assert_eq!(held.whole, before.clone().next_back().unwrap_or(0), "{cut}");
                let lines = before.count().saturating_sub(1);
                assert_eq!(held.records, records()[..lines], "{cut}");
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_never_taken_for_what_was_written() {
        let file = file();
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut bytes = file.clone();
                bytes[at] ^= 1 << bit;
                let held = read(&bytes);
                assert!(held.whole <= at, "{at}");
                assert!(records().starts_with(&held.records), "{at}");
            }
        }
    }

    #[test]
    fn a_record_of_another_version_is_passed_over() {
        let json = br#"{"lease":{"of":"x"}}"#;
        let mut lines = HEAD.as_bytes().to_vec();
        lines.extend(sum(json).bytes());
        lines.extend_from_slice(json);
        lines.push(b'\n');
        write(&records()[1], &mut lines).unwrap();
        assert_eq!(read(&lines).records, records()[1..2]);
    }
}
