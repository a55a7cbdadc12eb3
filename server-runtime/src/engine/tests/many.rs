//! Many tries at once, and clocks that step.

use futures_util::future::join_all;

use super::*;
use crate::{clock, engine::EngineOptions};

/// A permutation of `0..n` that follows from the seed.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut state = seed | 1;
    let mut all: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        all.swap(last, usize::try_from(state % (last as u64 + 1)).unwrap());
    }
    all
}

#[tokio::test]
async fn a_thousand_calls_in_flight_that_are_sent_again_in_any_order_run_once_each() {
    const CALLS: usize = 1024;
    for seed in [1, 42, 4711] {
        let journal = MemoryJournal::new();
        let engine = open(&journal);
        journal.hold();
        let say = |n: usize| Ask::Say(n.to_string(), 1);
        let mut waiting = Vec::new();
        for n in 0..CALLS {
            let id = n.to_string();
            waiting.push(queued(start(&engine, ("ann", &id, 1), &say(n)).unwrap()));
        }
        for n in shuffled(CALLS, seed) {
            let id = n.to_string();
            waiting.push(queued(start(&engine, ("ann", &id, 2), &say(n)).unwrap()));
        }
        journal.release();
        let answers = join_all(waiting.into_iter().map(|one| one.written(SOON))).await;
        let repeats = answers
            .iter()
            .filter(|one| one.as_ref().unwrap().is_repeat());
        assert_eq!(repeats.count(), CALLS, "seed {seed}");
        for n in shuffled(CALLS, seed + 1) {
            let again = send(&engine, ("ann", &n.to_string(), 3), &say(n)).await;
            assert!(again.unwrap().1, "seed {seed}");
        }
        assert_eq!(state(&engine).said.len(), CALLS, "seed {seed}");
        assert_eq!(engine.stats().records, CALLS as u64);
    }
}

#[tokio::test]
async fn with_a_window_of_a_millisecond_no_call_runs_twice_inside_of_it_and_none_hangs() {
    let options = EngineOptions {
        calls: CallLimits {
            keep: Duration::from_millis(1),
            ..CallLimits::default()
        },
        ..EngineOptions::default()
    };
    let journal = MemoryJournal::new();
    let engine = Engine::open_with(journal.clone(), Board::default(), options).unwrap();
    let mut answered = 0;
    for round in 0..100_u64 {
        clock::set(Some(UnixMillis(1_000_000 + round)));
        let mut waiting = Vec::new();
        for n in 0..10 {
            // A client of this caller that has seen all that is written.
            let seen = Some(engine.position());
            let of = |body: &[u8]| Call {
                origin: Origin::Link { seen },
                ..call("ann", &n.to_string(), 1, body)
            };
            waiting.push(start_with(&engine, ask, of, &Ask::Say(n.to_string(), 1)).unwrap());
        }
        for known in waiting {
            if matches!(known, Known::Pending(_) | Known::Kept(_)) {
                end(known).await.unwrap();
                answered += 1;
            }
        }
    }
    clock::set(None);
    assert!(answered > 0);
    let said = state(&engine).said;
    drop(engine);
    let mut last = BTreeMap::new();
    let mut ats = BTreeMap::new();
    for line in crate::log::line::read(&payloads(&journal)) {
        let line = line.unwrap();
        if let crate::log::line::Entry::Call(call) = line.entry {
            ats.insert(line.position.0, line.at.0);
            if let Some(before) = last.insert(call.call.to_string(), line.at.0) {
                assert!(
                    line.at.0 > before + 1,
                    "{} ran inside of the window",
                    call.call
                );
            }
        }
    }
    assert_eq!(said.len(), ats.len());
}

/// All records of a log.
fn payloads(journal: &MemoryJournal) -> Vec<u8> {
    let mut all = Vec::new();
    let read = crate::Journal::read(journal, Position(1), &mut |chunk| {
        all.extend_from_slice(chunk.bytes);
        std::ops::ControlFlow::Continue(())
    });
    read.unwrap();
    all
}

#[tokio::test]
async fn a_clock_that_steps_runs_no_call_twice_also_across_a_restart() {
    const NOON: u64 = 1_800_000_000_000;
    const HOUR: u64 = 3_600_000;
    for step in [0, NOON + 25 * HOUR, NOON - 25 * HOUR, 4_102_444_800_000] {
        clock::set(Some(UnixMillis(NOON)));
        let journal = MemoryJournal::new();
        let mut engine = open(&journal);
        let seen = engine.position();
        let claim = |engine: &Engine<Board>, attempt: u32| {
            let of = |body: &[u8]| Call {
                origin: Origin::Link { seen: Some(seen) },
                ..call("ann", "1", attempt, body)
            };
            start_with(engine, ask, of, &Ask::Say("once".into(), 1))
        };
        journal.hold();
        let first = queued(claim(&engine, 1).unwrap());
        clock::set(Some(UnixMillis(step)));
        let pending = queued(claim(&engine, 2).unwrap());
        journal.release();
        first.written(SOON).await.unwrap();
        assert!(pending.written(SOON).await.unwrap().is_repeat());
        for restart in [false, true] {
            // What comes later may make the table forget; it never makes it run again.
            let other = ("ben", if restart { "2" } else { "1" }, 1);
            send(&engine, other, &Ask::Nothing).await.unwrap();
            match claim(&engine, 3) {
                Ok(known) => assert!(end(known).await.unwrap().is_repeat(), "{step}"),
                Err(halt) => assert_eq!(halt, Halt::Forgotten, "{step}"),
            }
            let state = state(&engine);
            let ran = state.said.iter().filter(|said| said.2 == "once");
            assert_eq!(ran.count(), 1, "{step}");
            if !restart {
                drop(engine);
                engine = open(&journal.killed().unwrap());
            }
        }
    }
    clock::set(None);
}
