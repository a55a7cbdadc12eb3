//! What a log that makes no sense is told of, and what is passed over.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{super::tail, *};
use crate::{Journal, MemoryJournal, journal::Chunk};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

/// What these chunks add up to, or the text of the error.
fn sum(chunks: &[&[String]], skip_changes: bool) -> Result<Sum<Said>, String> {
    sum_with(chunks, CallLimits::default(), skip_changes)
}

fn sum_with(
    chunks: &[&[String]],
    limits: CallLimits,
    skip_changes: bool,
) -> Result<Sum<Said>, String> {
    let journal = MemoryJournal::new();
    let epoch = journal.acquire().unwrap().epoch;
    let mut first = Position(1);
    for chunk in chunks {
        let records = u32::try_from(chunk.len()).unwrap();
        let bytes = chunk.join("\n");
        let bytes = bytes.as_bytes();
        let chunk = Chunk {
            first,
            records,
            bytes,
        };
        journal.append(epoch, chunk).unwrap();
        first = Position(first.0 + u64::from(records));
    }
    let mut sum = Sum::new(Said::default(), limits, skip_changes);
    let added = tail::read::<OpenError>(&journal, Position(1), |durable, chunk| {
        sum.add(durable, Parsed::of(chunk))?;
        Ok(ControlFlow::Continue(()))
    });
    added.map(|()| sum).map_err(|error| error.to_string())
}

fn start(chunks: &[&[String]]) -> Result<Vec<String>, String> {
    sum(chunks, false).map(|sum| sum.state.0)
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
fn a_foreign_key_that_was_forgotten_may_run_again() {
    let foreign = |position| {
        let record = record(position, "ann", "a", true);
        record.replace(r#""at":2"#, r#""at":2,"foreign":true"#)
    };
    assert_eq!(start(&[&[foreign(1)], &[foreign(2)]]).unwrap(), ["1", "2"]);
}

#[test]
fn what_the_first_record_of_a_call_acknowledges_goes_first() {
    let limits = CallLimits {
        most_kept: 2,
        ..CallLimits::default()
    };
    let ack = record(3, "ann", "c", false).replace(r#""at":2"#, r#""at":2,"ack":["b"]"#);
    let third = [ack, record(4, "ann", "c", true)];
    let chunks: [&[String]; 3] = [
        &[record(1, "ann", "a", true)],
        &[record(2, "ann", "b", true)],
        &third,
    ];
    let sum = sum_with(&chunks, limits, false).unwrap();
    let known = |id: &str| {
        let fate = sum
            .calls
            .fate(&"ann".parse().unwrap(), &id.parse().unwrap());
        fate.unwrap().reply.is_some()
    };
    assert_eq!(["a", "b", "c"].map(known), [true, false, true]);
}

#[test]
fn calls_that_run_into_each_other_stop_the_start_and_are_named() {
    for other in [
        record(2, "ben", "a", true),
        record(2, "ann", "b", true),
        record(2, "ann", "a", true).replace("07", "08"),
        r#"{"position":2,"at":1,"run":"AAAAAAAAAAAAAAAAAAAAAA"}"#.into(),
        r#"{"position":2,"lease":1}"#.into(),
    ] {
        let error = start(&[&[record(1, "ann", "a", false), other]]).unwrap_err();
        for part in ["the record at 2 ", "the call a of ann has not ended"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn a_chunk_that_ends_inside_of_a_call_or_counts_wrong_stops_the_start() {
    let open = [record(1, "ann", "a", false)];
    assert!(start(&[&open]).unwrap_err().contains("ends before"));
    let wrong = [record(2, "ann", "a", true)];
    assert!(start(&[&wrong]).unwrap_err().contains("says that it is"));
}

#[test]
fn a_record_of_another_kind_is_counted_and_passed_over() {
    let lease = r#"{"position":2,"at":1,"lease":{"of":"x"}}"#.to_owned();
    let chunk = [
        record(1, "ann", "a", true),
        lease,
        record(3, "ann", "b", true),
    ];
    let sum = sum(&[&chunk], false).unwrap();
    assert_eq!(sum.state.0, ["1", "3"]);
    assert_eq!((sum.unknown, sum.first_unknown), (1, Some(Position(2))));
    assert_eq!((sum.end, sum.added), (Position(3), 3));
}

#[test]
fn a_change_that_is_not_known_is_passed_over_when_that_is_wanted_and_its_reply_is_kept() {
    let other = record(2, "ann", "b", true).replace(r#""change":"2""#, r#""change":[2]"#);
    let chunks: [&[String]; 2] = [&[record(1, "ann", "a", true)], &[other]];
    let error = start(&chunks).unwrap_err();
    assert!(error.contains("the change at 2"), "{error}");
    let sum = sum(&chunks, true).unwrap();
    assert_eq!(sum.state.0, ["1"]);
    assert_eq!((sum.unknown, sum.first_unknown), (1, Some(Position(2))));
    assert_eq!(sum.calls.stats().kept, 2);
}
