//! The table against a plain model of its rules, against its own copies, and what it promises.

use std::{collections::HashMap, time::Duration};

use link_wire::{CallId, Caller, LogPosition, Position, RunId, UnixMillis};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::{engine::stage::Told, handler::Reply, log::line::Outcome, refusal::KeptRefusal};

const RUN: RunId = RunId::from_bytes([1; 16]);

fn limits() -> CallLimits {
    CallLimits {
        keep: Duration::from_millis(50),
        most_kept: 3,
        most_kept_bytes: 60,
        most_thin: 4,
        most_foreign: 3,
        most_bytes: 14 * 160,
    }
}

fn caller(n: u8) -> Caller {
    format!("c{n}").parse().unwrap()
}

fn id(n: u8) -> CallId {
    if n.is_multiple_of(3) {
        // As long as those of a link.
        format!("{n:022}").parse().unwrap()
    } else {
        format!("id-{n}").parse().unwrap()
    }
}

fn reply(bytes: usize) -> Outcome {
    let json = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap();
    Outcome::Reply(Reply(json.into()))
}

fn call(by: u8, n: u8, origin: Origin) -> Call {
    Call {
        caller: caller(by),
        id: id(n),
        fingerprint: Fingerprint(u128::from(n) + 1),
        attempt: 1,
        origin,
    }
}

fn seen(position: u64) -> Origin {
    Origin::Link {
        seen: Some(LogPosition {
            run: RUN,
            position: Position(position),
        }),
    }
}

/// One record of a log.
#[derive(Debug, Clone)]
struct Step {
    by: u8,
    id: u8,
    at: u64,
    /// 0 to 5 a reply of that many tens of bytes, 6 refused, 7 cancelled.
    what: u8,
    foreign: bool,
    ack: Vec<u8>,
    /// How far the link's knowledge lay behind when it made the call.
    behind: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = prop_oneof![9 => 0..60_u64, 1 => 0..1_000_u64];
    let step = (
        (0..3_u8, 0..40_u8, at, 0..8_u8),
        prop::bool::weighted(0.2),
        prop::collection::vec(0..40_u8, 0..3),
        0..12_u64,
    );
    let step = step.prop_map(|((by, id, at, what), foreign, ack, behind)| Step {
        by,
        id,
        at,
        what,
        foreign,
        ack,
        behind,
    });
    prop::collection::vec(step, 1..80)
}

fn outcome(what: u8) -> Outcome {
    match what {
        6 => Outcome::Refused(KeptRefusal {
            status: 409,
            code: "held".into(),
            detail: "ann holds it".into(),
        }),
        7 => Outcome::Cancelled,
        tens => reply(usize::from(tens) * 10),
    }
}

/// Adds the step as an engine would: only if the call is not known and surely new. Gives whether
/// it ran.
fn add(calls: &mut Calls, step: &Step, position: u64) -> bool {
    let origin = if step.foreign {
        Origin::Foreign
    } else {
        seen((position - 1).saturating_sub(step.behind))
    };
    let call = call(step.by, step.id, origin);
    let now = UnixMillis(step.at);
    if calls.look(&call).is_some() || calls.is_new(&call, Position(position), now).is_err() {
        return false;
    }
    let ack: Vec<CallId> = step.ack.iter().map(|n| id(*n)).collect();
    let written = Written::kept(outcome(step.what));
    calls.keep(&call, Position(position), now, "say", written, &ack);
    true
}

fn table(limits: CallLimits) -> Calls {
    let mut calls = Calls::new(limits);
    calls.run(RUN, Position(1), false);
    calls
}

/// The same rules with lists that are walked.
#[derive(Debug, Default)]
struct Model {
    entries: Vec<Entry>,
    forgotten: HashMap<u8, u64>,
    /// Counts up as replies are acknowledged or go.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    step: Step,
    position: u64,
    acked: Option<u64>,
    thin: Option<u64>,
}

impl Entry {
    fn body(&self) -> u64 {
        let bytes = match (self.step.what, self.thin) {
            (6, None) => 16,
            (6, Some(_)) => 4,
            (7, _) | (_, Some(_)) => 0,
            (tens, None) => usize::from(tens) * 10 + 2,
        };
        bytes as u64
    }

    fn is_kept(&self) -> bool {
        self.thin.is_none() && !self.step.foreign
    }
}

impl Model {
    fn add(&mut self, step: &Step, position: u64, limits: &CallLimits) {
        for ack in &step.ack {
            let clock = self.clock;
            let entry = self
                .entries
                .iter_mut()
                .find(|e| e.step.by == step.by && id(e.step.id) == id(*ack));
            if let Some(entry) = entry
                && entry.is_kept()
                && entry.acked.is_none()
            {
                entry.acked = Some(clock);
                self.clock += 1;
            }
        }
        self.entries.push(Entry {
            step: step.clone(),
            position,
            acked: None,
            thin: None,
        });
        self.expire(step.at, limits);
        loop {
            let mine = |e: &&Entry| e.step.by == step.by && e.is_kept();
            let kept: Vec<&Entry> = self.entries.iter().filter(mine).collect();
            let bytes: u64 = kept.iter().map(|e| e.body()).sum();
            let over = kept.len() > limits.most_kept as usize || bytes > limits.most_kept_bytes;
            if kept.len() <= 1 || !over {
                break;
            }
            let oldest = kept
                .iter()
                .min_by_key(|e| (e.acked.is_none(), e.acked, e.position))
                .unwrap()
                .position;
            self.thin(oldest);
        }
        loop {
            let mine = |e: &&Entry| e.step.by == step.by && e.thin.is_some();
            let thin: Vec<&Entry> = self.entries.iter().filter(mine).collect();
            if thin.len() <= limits.most_thin as usize {
                break;
            }
            let oldest = thin.iter().min_by_key(|e| e.thin).unwrap().position;
            self.drop(oldest);
        }
        while self.entries.iter().map(|e| 160 + e.body()).sum::<u64>() > limits.most_bytes {
            let kept = self.entries.iter().filter(|e| e.is_kept());
            let oldest = kept.map(|e| e.position).min();
            if let Some(oldest) = oldest.filter(|oldest| *oldest != position) {
                self.thin(oldest);
                continue;
            }
            let thin = self.entries.iter().filter(|e| e.thin.is_some());
            let oldest = thin.min_by_key(|e| e.thin).map(|e| e.position);
            match oldest.filter(|oldest| *oldest != position) {
                Some(oldest) => self.drop(oldest),
                None => break,
            }
        }
    }

    /// From the front of each list, as long as the front is over.
    fn expire(&mut self, now: u64, limits: &CallLimits) {
        let keep = u64::try_from(limits.keep.as_millis()).unwrap();
        for list in 0..3 {
            loop {
                let of = |e: &&Entry| match list {
                    0 => e.is_kept(),
                    1 => e.thin.is_some(),
                    _ => e.step.foreign,
                };
                let front = self
                    .entries
                    .iter()
                    .filter(of)
                    .min_by_key(|e| (e.thin, e.position));
                match front {
                    Some(front) if front.step.at + keep < now => self.drop(front.position),
                    _ => break,
                }
            }
        }
    }

    fn thin(&mut self, position: u64) {
        let clock = self.clock;
        self.clock += 1;
        let entry = self.entries.iter_mut().find(|e| e.position == position);
        entry.unwrap().thin = Some(clock);
    }

    fn drop(&mut self, position: u64) {
        let at = self.entries.iter().position(|e| e.position == position);
        let entry = self.entries.remove(at.unwrap());
        let forgotten = self.forgotten.entry(entry.step.by).or_default();
        *forgotten = (*forgotten).max(entry.position);
    }

    fn says(&self, by: u8, n: u8) -> String {
        let entry = self
            .entries
            .iter()
            .find(|e| e.step.by == by && id(e.step.id) == id(n));
        match entry {
            None => format!("unknown, {}", self.forgotten.get(&by).unwrap_or(&0)),
            Some(e) => match (e.step.what, e.thin) {
                (7, _) => "cancelled".into(),
                (6, Some(_)) => "refused held".into(),
                (_, Some(_)) => "ran".into(),
                (_, None) => "kept".into(),
            },
        }
    }
}

fn says(calls: &Calls, by: u8, n: u8) -> String {
    match calls.look(&call(by, n, Origin::Made)) {
        None => {
            let number = calls.callers.get(&caller(by));
            let forgotten = number.map_or(0, |n| calls.accounts[*n as usize].forgotten);
            format!("unknown, {forgotten}")
        }
        Some(Known::Kept(_)) => "kept".into(),
        Some(Known::ReplyForgotten) => "ran".into(),
        Some(Known::RefusedThin { code, .. }) => format!("refused {code}"),
        Some(Known::Cancelled) => "cancelled".into(),
        Some(other) => format!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_table_keeps_what_a_plain_model_keeps(steps in steps()) {
        let limits = limits();
        let (mut calls, mut model) = (table(limits), Model::default());
        for (position, step) in (2..).zip(&steps) {
            if add(&mut calls, step, position) {
                model.add(step, position, &limits);
            }
            for by in 0..3 {
                for n in 0..40 {
                    prop_assert_eq!(says(&calls, by, n), model.says(by, n), "{} of {}", n, by);
                }
            }
            let bytes: u64 = model.entries.iter().map(|e| 160 + e.body()).sum();
            prop_assert_eq!(calls.stats().bytes, bytes);
        }
    }

    #[test]
    fn a_copy_that_was_saved_and_loaded_anywhere_goes_on_in_the_same_way(steps in steps()) {
        let mut calls = table(limits());
        let mut copies = Vec::new();
        for (position, step) in (2..).zip(&steps) {
            copies.push(Calls::load(&calls.dump(), limits()).unwrap());
            for copy in &mut copies {
                add(copy, step, position);
            }
            add(&mut calls, step, position);
            let dump = calls.dump();
            for copy in &copies {
                prop_assert!(copy.dump() == dump, "at {}", position);
            }
            // The oldest ones went through the most.
            copies.truncate(8);
        }
    }

    #[test]
    fn no_call_that_ran_is_ever_taken_for_a_new_one(steps in steps()) {
        let mut calls = table(limits());
        let mut ran: HashMap<(u8, CallId), (u8, u64)> = HashMap::new();
        for (position, step) in (2..).zip(&steps) {
            let key = (step.by, id(step.id));
            if !step.foreign && ran.contains_key(&key) {
                // A late try of a call that ran: it says what its link had seen before the first.
                let (n, at) = ran[&key];
                let late = call(step.by, n, seen(at - 1));
                let known = calls.look(&late).is_some();
                let now = UnixMillis(step.at);
                prop_assert!(known || calls.is_new(&late, Position(position), now).is_err());
                continue;
            }
            if add(&mut calls, step, position) && !step.foreign {
                ran.insert(key, (step.id, position));
            }
        }
        for ((by, _), (n, at)) in ran {
            for before in 0..at {
                let late = call(by, n, seen(before));
                let known = calls.look(&late).is_some();
                let end = Position(steps.len() as u64 + 2);
                prop_assert!(known || calls.is_new(&late, end, UnixMillis(0)).is_err());
            }
        }
    }
}

#[test]
fn a_caller_of_whom_nothing_was_dropped_needs_no_position() {
    let mut calls = table(limits());
    let none = Origin::Link { seen: None };
    let written = |calls: &mut Calls, n: u8| {
        let call = call(0, n, none);
        let position = Position(u64::from(n) + 2);
        calls.keep(
            &call,
            position,
            UnixMillis(0),
            "say",
            Written::kept(reply(1)),
            &[],
        );
    };
    for n in 0..7 {
        assert_eq!(
            calls.is_new(&call(0, 30, none), Position(9), UnixMillis(0)),
            Ok(())
        );
        written(&mut calls, n);
    }
    written(&mut calls, 7);
    let asked = |origin| calls.is_new(&call(0, 30, origin), Position(9), UnixMillis(0));
    assert_eq!(asked(none), Err(NotNew::Forgotten));
    assert_eq!(asked(seen(1)), Err(NotNew::Forgotten));
    assert_eq!(asked(seen(2)), Ok(()), "the dropped one was at 2");
    assert_eq!(asked(Origin::Foreign), Ok(()));
    let other = call(1, 30, none);
    assert_eq!(calls.is_new(&other, Position(9), UnixMillis(0)), Ok(()));
}

#[test]
fn a_foreign_key_stays_for_its_time_and_too_many_are_told_when_to_come_again() {
    let mut calls = table(limits());
    for n in 0..3 {
        let key = call(0, n, Origin::Foreign);
        assert_eq!(calls.is_new(&key, Position(9), UnixMillis(10)), Ok(()));
        let position = Position(u64::from(n) + 2);
        calls.keep(
            &key,
            position,
            UnixMillis(10),
            "say",
            Written::kept(reply(50)),
            &[],
        );
    }
    let key = call(0, 3, Origin::Foreign);
    let asked = |calls: &Calls, now| calls.is_new(&key, Position(9), UnixMillis(now));
    let retry_after = Duration::from_millis(40);
    assert_eq!(
        asked(&calls, 20),
        Err(NotNew::TooManyKeys { retry_after }),
        "the first goes at 60"
    );
    assert_eq!(asked(&calls, 61), Ok(()));
    for n in 10..30 {
        let position = Position(u64::from(n) + 2);
        let call = call(0, n, seen(9));
        calls.keep(
            &call,
            position,
            UnixMillis(30),
            "say",
            Written::kept(reply(50)),
            &[],
        );
    }
    for n in 0..3 {
        assert_eq!(says(&calls, 0, n), "kept", "no limit but time drops it");
    }
}

#[test]
fn a_pending_foreign_key_counts_and_one_that_is_taken_back_does_not() {
    let mut calls = table(limits());
    for n in 0..3 {
        drop(calls.pend(&call(0, n, Origin::Foreign)));
    }
    let key = call(0, 3, Origin::Foreign);
    let refused = calls.is_new(&key, Position(9), UnixMillis(0));
    assert!(matches!(refused, Err(NotNew::TooManyKeys { .. })));
    let waiting = calls.roll_back_pending();
    assert_eq!((waiting.len(), calls.stats().pending), (3, 0));
    assert_eq!(calls.is_new(&key, Position(9), UnixMillis(0)), Ok(()));
    assert!(calls.look(&call(0, 0, Origin::Foreign)).is_none());
}

#[test]
fn all_who_wait_for_a_call_share_one_cell() {
    let one = call(0, 1, Origin::Made);
    let mut calls = table(limits());
    let mut waiting = vec![calls.pend(&one)];
    for _ in 0..1000 {
        let Some(Known::Pending(queued)) = calls.look(&one) else {
            panic!("it is pending")
        };
        waiting.push(queued);
    }
    waiting.truncate(1);
    let written = Written::kept(reply(1));
    let waiters = calls.keep(
        &one,
        Position(2),
        UnixMillis(1),
        "say",
        written.clone(),
        &[],
    );
    let waiters = waiters.unwrap();
    assert_eq!(waiters.count(), 1, "who went away leaves nothing");
    waiters.tell(Told::Written(written));
}

#[test]
fn what_is_damaged_is_not_loaded() {
    let mut calls = table(limits());
    for n in 0..9 {
        let step = Step {
            by: n % 2,
            id: n,
            at: 1,
            what: n % 8,
            foreign: n == 3,
            ack: vec![n.saturating_sub(2)],
            behind: 0,
        };
        add(&mut calls, &step, u64::from(n) + 2);
    }
    let whole = calls.dump();
    for cut in 0..whole.len() {
        assert!(Calls::load(&whole[..cut], limits()).is_err(), "{cut}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(Calls::load(&longer, limits()).is_err());
    assert_eq!(Calls::load(&whole, limits()).unwrap().dump(), whole);
}

#[test]
fn a_million_kept_calls_fit_under_250_mib() {
    // A tenth of it is made, and the memory is counted from its blocks.
    let calls = 100_000_u32;
    let mut table = Calls::new(CallLimits {
        most_kept: u32::MAX,
        most_bytes: u64::MAX,
        ..CallLimits::default()
    });
    for n in 0..calls {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&u64::from(n).to_le_bytes());
        let call = Call {
            id: CallId::from_bytes(bytes),
            ..call((n % 16).to_le_bytes()[0], 0, Origin::Made)
        };
        let position = Position(u64::from(n) + 1);
        table.keep(
            &call,
            position,
            UnixMillis(1),
            "say",
            Written::kept(reply(38)),
            &[],
        );
    }
    assert_eq!(table.stats().kept, u64::from(calls));
    // At a million, the block and the hash table have at most twice the room that they need.
    let of_one = |bytes: usize| f64::from(u32::try_from(bytes).unwrap()) / f64::from(calls);
    let block = of_one(table.slots.block_bytes());
    let index = of_one(table.index.allocation_size());
    // Two counters, the JSON, and what an allocator adds.
    let reply = 16.0 + 40.0 + 16.0;
    let mib = (block + index + reply) * 1e6 / f64::from(1 << 20);
    println!("a call: {block:.0} + {index:.0} + {reply:.0} bytes; a million: {mib:.0} MiB");
    assert!(mib < 250.0);
}
