//! A start from any checkpoint, and from none, gives the same; and what a checkpoint must not do.

use proptest::prelude::*;

use super::{
    super::{
        CheckpointError, EngineOptions,
        checkpoint::{Bound, sum_up},
        fold::Sum,
    },
    *,
};
use crate::{Journal, JournalError, clock};

const HOUR: u64 = 3_600_000;
const NOON: u64 = 1_800_000_000_000;

/// Limits that forget soon.
fn small() -> EngineOptions {
    let calls = CallLimits {
        keep: Duration::from_millis(24 * HOUR),
        most_kept: 3,
        most_thin: 4,
        most_foreign: 3,
        ..CallLimits::default()
    };
    EngineOptions {
        calls,
        checkpoints_kept: usize::MAX,
        ..EngineOptions::default()
    }
}

fn open_with(journal: &MemoryJournal, options: &EngineOptions) -> Engine<Board> {
    Engine::open_with(journal.clone(), Board::default(), options.clone()).unwrap()
}

/// What a start would begin with.
fn sum(journal: &MemoryJournal, options: &EngineOptions) -> (Sum<Board>, Option<u64>) {
    let tail = journal.acquire().unwrap().tail;
    let bound = Bound {
        tail,
        to: tail,
        goes_on: &|| true,
        ahead: true,
    };
    let begun = sum_up(journal, &Board::default(), options, &bound).unwrap();
    (begun.sum, begun.from.map(|at| at.0))
}

fn keep_only(journal: &MemoryJournal, keep: impl Fn(Position) -> bool) -> MemoryJournal {
    let copy = journal.killed().unwrap();
    for at in copy.checkpoints().unwrap() {
        if !keep(at) {
            copy.remove_checkpoint(at).unwrap();
        }
    }
    copy
}

#[derive(Debug, Clone)]
struct Try {
    caller: u8,
    id: u8,
    attempt: u32,
    foreign: bool,
    /// How many of its own earlier calls it acknowledges.
    acks: u8,
    ask: Ask,
}

#[derive(Debug, Clone)]
enum Step {
    /// Some tries at once, of which one chunk may be made.
    Tries(Vec<Try>),
    Clock(u64),
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ask = prop_oneof![
        (0..3_u8).prop_map(Ask::Claim),
        (0..3_u8).prop_map(Ask::Free),
        (0..3_u8).prop_map(|times| Ask::Say("x".into(), times)),
        Just(Ask::Nothing),
    ];
    let a_try = (0..2_u8, 0..20_u8, 1..3_u32, any::<bool>(), 0..3_u8, ask);
    let a_try = a_try.prop_map(|(caller, id, attempt, foreign, acks, ask)| Try {
        caller,
        id,
        attempt,
        foreign,
        acks,
        ask,
    });
    let clocks = [
        0,
        NOON,
        NOON + HOUR,
        NOON + 25 * HOUR,
        NOON - 25 * HOUR,
        4_102_444_800_000,
    ];
    let step = prop_oneof![
        6 => prop::collection::vec(a_try, 1..5).prop_map(Step::Tries),
        1 => prop::sample::select(clocks.to_vec()).prop_map(Step::Clock),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..20)
}

fn as_call(one: &Try, body: &[u8], seen: LogPosition) -> Call {
    let (by, id) = (format!("c{}", one.caller), format!("i{}", one.id));
    let mut call = call(&by, &id, one.attempt, body);
    call.origin = if one.foreign {
        Origin::Foreign
    } else {
        Origin::Link { seen: Some(seen) }
    };
    call
}

fn acks(one: &Try) -> Vec<CallId> {
    let ids = (1..=one.acks).map(|back| one.id.wrapping_sub(back) % 20);
    ids.map(|id| format!("i{id}").parse().unwrap()).collect()
}

/// What each of these tries would be told.
fn told(sum: &Sum<Board>, tries: &[(Try, Vec<u8>)], seen: LogPosition) -> Vec<String> {
    let told = tries.iter().map(|(one, body)| {
        let call = as_call(one, body, seen);
        match sum.calls.look(&call) {
            Some(known) => format!("{known:?}"),
            None => format!("{:?}", sum.calls.is_new(&call, sum.end, clock::now())),
        }
    });
    told.collect()
}

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let options = small();
    clock::set(Some(UnixMillis(NOON)));
    let mut journal = MemoryJournal::new();
    let mut engine = open_with(&journal, &options);
    let first = engine.position();
    let mut tries: Vec<(Try, Vec<u8>)> = Vec::new();
    for step in steps {
        match step {
            Step::Clock(at) => clock::set(Some(UnixMillis(at))),
            Step::Restart => {
                drop(engine);
                journal = journal.killed().unwrap();
                engine = open_with(&journal, &options);
            }
            Step::Tries(all) => {
                journal.hold();
                let mut waiting = Vec::new();
                for one in all {
                    let seen = engine.position();
                    let body = serde_json::to_vec(&one.ask).unwrap();
                    let input = Input {
                        path: &[],
                        query: "",
                        body: &body,
                    };
                    let call = as_call(&one, &body, seen);
                    if let Ok(known) = engine.command(&ROUTE, ask, call, acks(&one), &input) {
                        waiting.push(known);
                    }
                    tries.push((one, body));
                }
                journal.release();
                for known in waiting {
                    if let Known::Pending(queued) = known {
                        queued.written(SOON).await.unwrap();
                    }
                }
            }
        }
        engine.checkpoint().await.unwrap();
    }
    let live = (state(&engine), engine.handle.shared.core().calls.dump());
    let (newest, from) = sum(&journal, &options);
    prop_assert_eq!(from, Some(newest.end.0));
    let seen = [first, engine.position()];
    let answers = seen.map(|seen| told(&newest, &tries, seen));
    let checkpoints = journal.checkpoints().unwrap();
    prop_assert!(!checkpoints.is_empty());
    let ends = checkpoints.iter().map(|at| at.0).chain([0]);
    for end in ends {
        let copy = keep_only(&journal, |at| at.0 <= end && at.0 > 0);
        let (sum, from) = sum(&copy, &options);
        prop_assert_eq!(from, (end > 0).then_some(end));
        prop_assert_eq!(&sum.state, &live.0, "from {}", end);
        prop_assert_eq!(&sum.calls.dump(), &live.1, "from {}", end);
        for (seen, answers) in seen.iter().zip(&answers) {
            prop_assert_eq!(&told(&sum, &tries, *seen), answers, "from {}", end);
        }
    }
    clock::set(None);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_start_from_each_checkpoint_and_from_none_gives_the_live_state_table_and_answers(
        steps in steps(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(steps))?;
    }
}

async fn said_and_closed(texts: u32) -> MemoryJournal {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    for n in 0..texts {
        let say = Ask::Say(n.to_string(), 2);
        send(&engine, ("ann", &n.to_string(), 1), &say)
            .await
            .unwrap();
    }
    engine.close().await.unwrap();
    journal
}

#[tokio::test]
async fn a_close_leaves_a_checkpoint_and_the_next_start_reads_only_what_came_after() {
    let journal = said_and_closed(3).await;
    assert_eq!(journal.checkpoints().unwrap(), [Position(7)]);
    let journal = journal.killed().unwrap();
    let engine = open(&journal);
    let opened = engine.opened();
    assert_eq!(opened.checkpoint, Some(Position(7)));
    assert_eq!((opened.records, opened.read, opened.calls), (7, 0, 3));
    assert_eq!(state(&engine).said.len(), 6);
    engine.close().await.unwrap();
    assert_eq!(
        journal.checkpoints().unwrap(),
        [Position(7)],
        "that a run began is nothing new"
    );
}

#[tokio::test]
async fn a_checkpoint_by_hand_stands_at_the_newest_written_record() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Claim(1))
        .await
        .unwrap();
    assert_eq!(engine.checkpoint().await.unwrap(), Position(2));
    assert_eq!(engine.checkpoint().await.unwrap(), Position(2));
    assert_eq!(engine.stats().checkpoint, Some(Position(2)));
    assert_eq!(journal.checkpoints().unwrap(), [Position(2)]);
    engine.close().await.unwrap();
    assert!(matches!(
        engine.checkpoint().await,
        Err(CheckpointError::Stopped)
    ));
}

#[tokio::test]
async fn a_checkpoint_is_due_after_so_many_bytes_and_old_ones_go() {
    let journal = MemoryJournal::new();
    let options = EngineOptions {
        checkpoint_every_bytes: 1,
        ..EngineOptions::default()
    };
    let engine = open_with(&journal, &options);
    for n in 0..10_u32 {
        send(&engine, ("ann", &n.to_string(), 1), &Ask::Nothing)
            .await
            .unwrap();
        // Each is due, and made by another thread: one may stand for several.
        while n < 3 && engine.stats().checkpoint < Some(Position(u64::from(n) + 2)) {
            tokio::task::yield_now().await;
        }
    }
    engine.close().await.unwrap();
    let checkpoints = journal.checkpoints().unwrap();
    assert_eq!(checkpoints.len(), 2, "{checkpoints:?}");
    assert_eq!(checkpoints[0], Position(11));
}

#[tokio::test]
async fn a_checkpoint_that_is_newer_than_the_log_stops_the_start_and_is_named() {
    let journal = said_and_closed(3).await;
    let bytes = journal.checkpoint(Position(7)).unwrap();
    let short = said_and_closed(1).await;
    let short = keep_only(&short, |_| false);
    short.put_checkpoint(Position(7), &bytes).unwrap();
    let before = short.bytes();
    let error = Engine::open(short.clone(), Board::default()).unwrap_err();
    let OpenError::Journal(JournalError::CheckpointAhead { checkpoint, tail }) = error else {
        panic!("another error: {error}")
    };
    assert_eq!((checkpoint.0, tail.0), (7, 3));
    assert_eq!(short.bytes(), before, "nothing was written");
}

#[tokio::test]
async fn a_checkpoint_of_another_log_stops_the_start_and_is_named() {
    let (ours, theirs) = (said_and_closed(3).await, said_and_closed(5).await);
    let swapped = keep_only(&theirs, |_| false);
    let bytes = ours.checkpoint(Position(7)).unwrap();
    swapped.put_checkpoint(Position(7), &bytes).unwrap();
    let error = Engine::open(swapped, Board::default()).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::OtherLog {
                checkpoint: Position(7)
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_checkpoint_that_cannot_be_read_is_passed_over() {
    let journal = said_and_closed(3).await;
    let whole = sum(&journal, &EngineOptions::default()).0;
    let bytes = journal.checkpoint(Position(7)).unwrap();
    let with = |from: &str, to: &str| {
        let at = bytes
            .windows(from.len())
            .position(|part| part == from.as_bytes());
        let mut bytes = bytes.clone();
        let at = at.unwrap();
        bytes.splice(at..at + from.len(), to.bytes());
        bytes
    };
    for (bad, from) in [
        (with("\"said\"", "\"sung\""), None),
        (with(r#"{"checkpoint":1"#, r#"{"checkpoint":2"#), None),
        (with(r#""position":7"#, r#""position":6"#), None),
        (bytes[..bytes.len() / 2].to_vec(), None),
        (Vec::new(), None),
        (bytes.clone(), Some(7)),
    ] {
        let copy = keep_only(&journal, |_| false);
        copy.put_checkpoint(Position(7), &bad).unwrap();
        let (sum, began) = sum(&copy, &EngineOptions::default());
        assert_eq!(began, from, "{}", String::from_utf8_lossy(&bad));
        assert_eq!(sum.state, whole.state);
        assert_eq!(sum.calls.dump(), whole.calls.dump());
    }
}

/// A log in which a record of a kind that is not known stands at 4.
async fn with_an_unknown_kind() -> MemoryJournal {
    let journal = said_and_closed(1).await;
    let journal = keep_only(&journal, |_| false);
    let writer = journal.acquire().unwrap();
    let chunk = crate::journal::Chunk {
        first: Position(4),
        records: 1,
        bytes: br#"{"position":4,"at":1,"lease":{"of":"x"}}"#,
    };
    journal.append(writer.epoch, chunk).unwrap();
    journal
}

#[tokio::test]
async fn no_checkpoint_passes_a_record_of_a_kind_that_is_not_known() {
    let journal = with_an_unknown_kind().await;
    let engine = open(&journal);
    assert_eq!((engine.opened().unknown, engine.opened().records), (1, 4));
    send(&engine, ("ann", "new", 1), &Ask::Claim(1))
        .await
        .unwrap();
    assert_eq!(engine.checkpoint().await.unwrap(), Position(3));
    let none = engine.checkpoint().await;
    assert!(matches!(
        none,
        Err(CheckpointError::Unknown {
            position: Position(4)
        })
    ));
    engine.close().await.unwrap();
    let engine = open(&journal.killed().unwrap());
    let opened = engine.opened();
    assert_eq!((opened.checkpoint, opened.unknown), (Some(Position(3)), 1));
    assert!(state(&engine).held.contains_key(&1));
}

#[tokio::test]
async fn no_checkpoint_passes_a_change_that_was_passed_over() {
    let journal = said_and_closed(2).await;
    let journal = keep_only(&journal, |_| false);
    let options = EngineOptions {
        skip_unknown_changes: true,
        ..EngineOptions::default()
    };
    let older = Engine::open_with(journal.clone(), failures::Older, options.clone()).unwrap();
    assert_eq!(older.opened().unknown, 4);
    let made = older.checkpoint().await.unwrap();
    assert_eq!(
        made,
        Position(1),
        "only the record of the first run stands before"
    );
    let known = older
        .look(&call("ann", "1", 2, br#"{"say":["1",2]}"#))
        .unwrap();
    let (_, repeat) = said(&end(known.unwrap()).await.unwrap());
    assert!(repeat, "its reply is kept");
    older.close().await.unwrap();
    assert_eq!(state(&open(&journal.killed().unwrap())).said.len(), 4);
}
