//! The engine against a journal in memory: the table of calls, failures, crashes, restarts.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use link_wire::{Caller, Kind, Route};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Engine, OpenError, Phase,
    calls::{Call, Fingerprint, Known},
    stage::{Halt, Queued, Written},
};
use crate::{
    Accepted, Cx, Decision, Input, MemoryJournal, No, Record, Refusal, State, decision,
    handler::CommandFn, log::line::Outcome, refusal::KeptRefusal,
};

static ROUTE: Route = Route {
    name: "ask",
    kind: Kind::Command,
    method: "POST",
    path: "/v1/ask",
    budget: None,
    line: 1,
};

const SOON: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Default, PartialEq)]
struct Board {
    held: BTreeMap<u8, (Caller, u64)>,
    said: Vec<(u64, Caller, String)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Held { item: u8 },
    Freed { item: u8 },
    Said { text: String },
    Bad,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Claim(u8),
    Free(u8),
    Say(String, u8),
    Nothing,
    Panic,
    Impure,
    Bad,
}

impl State for Board {
    type Change = Change;

    fn apply(&mut self, record: &Record<Change>) {
        match &record.change {
            Change::Held { item } => {
                self.held
                    .insert(*item, (record.by.clone(), record.position.0));
            }
            Change::Freed { item } => {
                self.held.remove(item);
            }
            Change::Said { text } => {
                self.said
                    .push((record.position.0, record.by.clone(), text.clone()));
            }
            Change::Bad => panic!("a change that cannot be applied"),
        }
    }
}

static IMPURE: AtomicU32 = AtomicU32::new(0);

fn ask(board: &Board, cx: &Cx<'_>, input: &Input<'_>) -> Result<Decision<Change>, No> {
    let ask = input.body::<Ask>()?;
    decision(board.ask(cx, ask))
}

impl Board {
    fn ask(&self, cx: &Cx<'_>, ask: Ask) -> Result<Accepted<Change, (usize, usize)>, Refusal> {
        let reply = (self.held.len(), self.said.len());
        match ask {
            Ask::Claim(item) => match self.held.get(&item) {
                Some((by, _)) if by != cx.caller() => {
                    Err(Refusal::conflict("held", format!("{by} holds it")))
                }
                Some(_) => Ok(Accepted::unchanged(reply)),
                None => Ok(Accepted::new(Change::Held { item }, reply)),
            },
            Ask::Free(item) if self.held.contains_key(&item) => {
                Ok(Accepted::new(Change::Freed { item }, reply))
            }
            Ask::Free(_) => Err(Refusal::not_found("free", "nobody holds it")),
            Ask::Say(text, times) => {
                let said = || Change::Said { text: text.clone() };
                Ok(Accepted::many((0..times).map(|_| said()).collect(), reply))
            }
            Ask::Nothing => Ok(Accepted::unchanged(reply)),
            Ask::Panic => panic!("a handler that panics"),
            Ask::Impure => {
                let n = IMPURE.fetch_add(1, Ordering::Relaxed);
                Ok(Accepted::new(
                    Change::Said {
                        text: n.to_string(),
                    },
                    reply,
                ))
            }
            Ask::Bad => Ok(Accepted::new(Change::Bad, reply)),
        }
    }
}

fn open(journal: &MemoryJournal) -> Engine<Board> {
    Engine::open(journal.clone(), Board::default()).unwrap()
}

fn state(engine: &Engine<Board>) -> Board {
    engine.handle.shared.written().state.clone()
}

fn call(caller: &str, id: &str, attempt: u32, body: &[u8]) -> Call {
    let fingerprint = Fingerprint::of("POST", "/v1/ask", body);
    Call {
        caller: caller.parse().unwrap(),
        id: id.parse().unwrap(),
        fingerprint,
        attempt,
    }
}

fn start_with(
    engine: &Engine<Board>,
    run: CommandFn<Board>,
    call: impl Fn(&[u8]) -> Call,
    ask: &Ask,
) -> Result<Known, Halt> {
    let body = serde_json::to_vec(ask).unwrap();
    let input = Input {
        path: &[],
        query: "",
        body: &body,
    };
    engine.command(&ROUTE, run, call(&body), &input)
}

fn start(
    engine: &Engine<Board>,
    (caller, id, attempt): (&str, &str, u32),
    what: &Ask,
) -> Result<Known, Halt> {
    start_with(engine, ask, |body| call(caller, id, attempt, body), what)
}

async fn end(known: Known) -> Result<Written, Halt> {
    match known {
        Known::Pending(queued) => queued.written(SOON).await,
        Known::Kept(written) => Ok(written),
        Known::Reused => panic!("the ID is another's"),
    }
}

/// The answer as text, and whether it is a repeat.
fn said(written: &Written) -> (String, bool) {
    let text = match written.outcome() {
        Outcome::Reply(reply) => reply.json().to_owned(),
        Outcome::Refused(KeptRefusal {
            status,
            code,
            detail,
        }) => {
            format!("{status} {code} {detail}")
        }
    };
    (text, written.is_repeat())
}

async fn send(
    engine: &Engine<Board>,
    key: (&str, &str, u32),
    ask: &Ask,
) -> Result<(String, bool), Halt> {
    Ok(said(&end(start(engine, key, ask)?).await?))
}

fn queued(known: Known) -> Queued {
    match known {
        Known::Pending(queued) => queued,
        other => panic!("not queued: {other:?}"),
    }
}

#[tokio::test]
async fn a_kept_call_is_not_run_again_also_after_a_restart() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    let say = Ask::Say("x".into(), 2);
    assert_eq!(
        send(&engine, ("ann", "1", 1), &say).await.unwrap(),
        ("[0,0]".into(), false)
    );
    assert_eq!(
        send(&engine, ("ann", "1", 2), &say).await.unwrap(),
        ("[0,0]".into(), true)
    );
    assert_eq!(state(&engine).said.len(), 2);
    drop(engine);
    let engine = open(&journal.killed().unwrap());
    assert_eq!((engine.opened().records, engine.opened().calls), (2, 1));
    assert_eq!(
        send(&engine, ("ann", "1", 3), &say).await.unwrap(),
        ("[0,0]".into(), true)
    );
    assert_eq!(state(&engine).said.len(), 2);
}

#[tokio::test]
async fn a_try_of_a_pending_call_joins_it_and_another_body_is_refused() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    let say = Ask::Say("x".into(), 1);
    let first = queued(start(&engine, ("ann", "1", 1), &say).unwrap());
    let second = queued(start(&engine, ("ann", "1", 2), &say).unwrap());
    assert!(matches!(
        start(&engine, ("ann", "1", 1), &Ask::Nothing),
        Ok(Known::Reused)
    ));
    let late = queued(start(&engine, ("ann", "1", 3), &say).unwrap());
    assert_eq!(late.written(Duration::ZERO).await.unwrap_err(), Halt::Busy);
    journal.release();
    assert_eq!(
        said(&first.written(SOON).await.unwrap()),
        ("[0,0]".into(), false)
    );
    assert_eq!(
        said(&second.written(SOON).await.unwrap()),
        ("[0,0]".into(), true)
    );
    assert!(matches!(
        start(&engine, ("ann", "1", 1), &Ask::Nothing),
        Ok(Known::Reused)
    ));
    assert_eq!(state(&engine).said.len(), 1);
}

#[tokio::test]
async fn a_call_id_of_another_caller_is_another_call() {
    let engine = open(&MemoryJournal::new());
    send(&engine, ("ann", "1", 1), &Ask::Say("x".into(), 1))
        .await
        .unwrap();
    let ben = send(&engine, ("ben", "1", 1), &Ask::Nothing).await.unwrap();
    assert_eq!(ben, ("[0,1]".into(), false));
}

#[tokio::test]
async fn a_refused_first_try_keeps_no_key_and_a_refused_retry_does() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    let no = ("404 free nobody holds it".to_owned(), false);
    assert_eq!(
        send(&engine, ("ann", "1", 1), &Ask::Free(1)).await.unwrap(),
        no
    );
    assert!(journal.bytes().is_empty(), "it changed nothing");
    assert_eq!(
        send(&engine, ("ann", "1", 2), &Ask::Free(1)).await.unwrap(),
        no
    );
    send(&engine, ("ann", "2", 1), &Ask::Claim(1))
        .await
        .unwrap();
    let late = send(&engine, ("ann", "1", 1), &Ask::Free(1)).await.unwrap();
    assert_eq!(
        late,
        (no.0.clone(), true),
        "the delayed first try does not run"
    );
    drop(engine);
    let engine = open(&journal.killed().unwrap());
    assert_eq!(
        send(&engine, ("ann", "1", 1), &Ask::Free(1)).await.unwrap(),
        (no.0, true)
    );
    assert!(state(&engine).held.contains_key(&1));
}

#[tokio::test]
async fn nobody_sees_what_is_not_written() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    let claim = queued(start(&engine, ("ann", "1", 1), &Ask::Claim(1)).unwrap());
    let refused = queued(start(&engine, ("ben", "1", 1), &Ask::Claim(1)).unwrap());
    assert!(
        state(&engine).held.is_empty(),
        "a query reads what is written"
    );
    let mut refused = Box::pin(refused.written(SOON));
    let early = tokio::time::timeout(Duration::from_millis(50), &mut refused).await;
    assert!(
        early.is_err(),
        "the refusal shows ann's claim, which is not written"
    );
    journal.release();
    claim.written(SOON).await.unwrap();
    assert_eq!(
        said(&refused.await.unwrap()),
        ("409 held ann holds it".into(), false)
    );
    assert!(state(&engine).held.contains_key(&1));
}

#[tokio::test]
async fn a_refusal_that_saw_a_lost_write_is_no_refusal() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    journal.fail_append(1);
    let claim = queued(start(&engine, ("ann", "1", 1), &Ask::Claim(1)).unwrap());
    let refused = queued(start(&engine, ("ben", "1", 1), &Ask::Claim(1)).unwrap());
    journal.release();
    assert_eq!(claim.written(SOON).await.unwrap_err(), Halt::Unavailable);
    assert_eq!(refused.written(SOON).await.unwrap_err(), Halt::Unavailable);
}

#[tokio::test]
async fn after_a_failed_append_nobody_is_told_done_and_the_retry_runs_at_the_next_start() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.fail_append(1);
    let say = Ask::Say("x".into(), 1);
    assert_eq!(
        send(&engine, ("ann", "1", 1), &say).await,
        Err(Halt::Unavailable)
    );
    assert_eq!(
        send(&engine, ("ann", "1", 2), &say).await,
        Err(Halt::Unavailable)
    );
    assert!(engine.look(&call("ann", "1", 2, b"")).is_err());
    assert!(
        engine
            .close()
            .await
            .unwrap_err()
            .why
            .contains("a test said so")
    );
    let engine = open(&journal.killed().unwrap());
    assert_eq!(
        engine.opened().found.cut.len(),
        1,
        "the half frame is cut away and reported"
    );
    assert_eq!(
        send(&engine, ("ann", "1", 3), &say).await.unwrap(),
        ("[0,0]".into(), false)
    );
    assert_eq!(state(&engine).said.len(), 1);
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_failed_sync_and_a_loss_of_power_at_each_byte() {
    for failing in 1..=6_u64 {
        let journal = MemoryJournal::new();
        let engine = open(&journal);
        journal.fail_sync(failing);
        let mut acknowledged = Vec::new();
        for n in 1..=6_u64 {
            let (id, say) = (n.to_string(), Ask::Say(n.to_string(), 2));
            match send(&engine, ("ann", &id, 1), &say).await {
                Ok(answer) => acknowledged.push((id, say, answer.0)),
                Err(halt) => assert_eq!(halt, Halt::Unavailable),
            }
        }
        assert_eq!(
            acknowledged.len() as u64,
            failing - 1,
            "nothing after the failed sync"
        );
        drop(engine);
        assert!(journal.unsynced() > 0);
        for unsynced in 0..=journal.unsynced() {
            let whole = unsynced == journal.unsynced();
            let engine = open(&journal.without_power(unsynced).unwrap());
            let found = &engine.opened().found;
            assert_eq!(found.cut.is_empty(), unsynced == 0 || whole);
            assert_eq!(
                state(&engine).said.len() as u64,
                2 * (failing - 1 + u64::from(whole))
            );
            for (id, say, answer) in &acknowledged {
                let again = send(&engine, ("ann", id, 2), say).await.unwrap();
                assert_eq!(again, (answer.clone(), true));
            }
            let lost = failing.to_string();
            let retry = send(&engine, ("ann", &lost, 2), &Ask::Say(lost.clone(), 2)).await;
            assert_eq!(retry.unwrap().1, whole, "it runs now, or its reply is kept");
        }
    }
}

#[tokio::test]
async fn a_handler_that_panics_harms_nobody_else() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    let failed = Err(Halt::Failed { route: "ask" });
    assert_eq!(send(&engine, ("ann", "1", 1), &Ask::Panic).await, failed);
    assert!(journal.bytes().is_empty());
    let read: Result<(), Halt> = engine.read(&ROUTE, &"ann".parse().unwrap(), |_, _| {
        panic!("a query that panics")
    });
    assert_eq!(read, Err(Halt::Failed { route: "ask" }));
    send(&engine, ("ann", "2", 1), &Ask::Claim(1))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_handler_that_is_not_pure_is_found_and_nothing_of_it_is_queued() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    let answer = send(&engine, ("ann", "1", 1), &Ask::Impure).await;
    assert_eq!(answer, Err(Halt::Failed { route: "ask" }));
    assert!(journal.bytes().is_empty());
    assert!(engine.look(&call("ann", "1", 1, b"")).unwrap().is_none());
}

#[tokio::test]
async fn an_apply_that_panics_stops_the_engine() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Claim(1))
        .await
        .unwrap();
    assert_eq!(
        send(&engine, ("ann", "2", 1), &Ask::Bad).await,
        Err(Halt::Unavailable)
    );
    assert_eq!(
        send(&engine, ("ann", "3", 1), &Ask::Claim(2)).await,
        Err(Halt::Unavailable)
    );
    assert!(matches!(*engine.phase().borrow(), Phase::Failed(_)));
    drop(engine);
    assert_eq!(open(&journal.killed().unwrap()).opened().records, 1);
}

#[tokio::test]
async fn a_close_writes_what_is_queued() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    let queued: Vec<_> = (0..10)
        .map(|n| queued(start(&engine, ("ann", &n.to_string(), 1), &Ask::Nothing).unwrap()))
        .collect();
    let close = tokio::spawn({
        let engine = engine.clone();
        async move { engine.close().await }
    });
    let mut phase = engine.phase();
    phase
        .wait_for(|phase| *phase == Phase::Closing)
        .await
        .unwrap();
    assert_eq!(
        send(&engine, ("ann", "late", 1), &Ask::Nothing).await,
        Err(Halt::Unavailable)
    );
    journal.release();
    close.await.unwrap().unwrap();
    for queued in queued {
        queued.written(SOON).await.unwrap();
    }
    assert_eq!(open(&journal.killed().unwrap()).opened().calls, 10);
}

#[derive(Debug, Clone, Default)]
struct Older;

impl State for Older {
    type Change = BTreeMap<String, u8>;

    fn apply(&mut self, _: &Record<Self::Change>) {}
}

#[tokio::test]
async fn a_change_that_is_not_known_stops_the_start() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Nothing).await.unwrap();
    send(&engine, ("ann", "2", 1), &Ask::Claim(1))
        .await
        .unwrap();
    drop(engine);
    let error = Engine::open(journal.killed().unwrap(), Older).unwrap_err();
    let OpenError::UnknownChange {
        position, command, ..
    } = error
    else {
        panic!("another error: {error}")
    };
    assert_eq!((position.0, command.as_str()), (2, "ask"));
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Ticks(u64);

impl State for Ticks {
    type Change = ();

    fn apply(&mut self, _: &Record<()>) {
        self.0 += 1;
    }
}

#[tokio::test]
async fn a_change_whose_json_is_null_is_still_a_change() {
    let journal = MemoryJournal::new();
    let engine = Engine::open(journal.clone(), Ticks(0)).unwrap();
    let input = Input {
        path: &[],
        query: "",
        body: b"",
    };
    let tick: CommandFn<Ticks> = |_, _, _| decision(Ok(Accepted::new((), ())));
    let known = engine
        .command(&ROUTE, tick, call("ann", "1", 1, b""), &input)
        .unwrap();
    end(known).await.unwrap();
    drop(engine);
    let engine = Engine::open(journal.killed().unwrap(), Ticks(0)).unwrap();
    assert_eq!(engine.handle.shared.written().state, Ticks(1));
}

#[derive(Debug, Clone)]
enum Step {
    /// Some sends at once: caller, ID, try, what.
    Send(Vec<(u8, u8, u32, Ask)>),
    Restart,
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        (0..3_u8).prop_map(Ask::Claim),
        (0..3_u8).prop_map(Ask::Free),
        ("[a-z\\n\"]{0,4}", 0..3_u8).prop_map(|(text, times)| Ask::Say(text, times)),
        Just(Ask::Nothing),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sends = prop::collection::vec((0..2_u8, 0..12_u8, 1..3_u32, asks()), 1..6);
    let step = prop_oneof![4 => sends.prop_map(Step::Send), 1 => Just(Step::Restart)];
    prop::collection::vec(step, 1..25)
}

/// What each key was answered, and the bytes it was asked with.
type Answers = BTreeMap<(u8, u8), (Vec<u8>, String)>;

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut journal = MemoryJournal::new();
    let mut engine = open(&journal);
    let mut answers = Answers::new();
    for step in steps {
        match step {
            Step::Restart => {
                let before = state(&engine);
                drop(engine);
                journal = journal.without_power(0).unwrap();
                engine = open(&journal);
                prop_assert_eq!(before, state(&engine), "a replay gives the live state");
                prop_assert_eq!(engine.opened().calls as usize, answers.len());
            }
            Step::Send(sends) => {
                journal.hold();
                let mut known = Vec::new();
                for (caller, id, attempt, ask) in sends {
                    let (by, name) = (format!("c{caller}"), format!("i{id}"));
                    let body = serde_json::to_vec(&ask).unwrap();
                    let look = start(&engine, (&by, &name, attempt), &ask).unwrap();
                    known.push(((caller, id), attempt, body, look));
                }
                journal.release();
                for (key, attempt, body, look) in known {
                    if matches!(look, Known::Reused) {
                        let (first, _) = answers.get(&key).expect("its first use is known");
                        prop_assert_ne!(first, &body);
                        continue;
                    }
                    let (answer, repeat) = said(&end(look).await.unwrap());
                    match answers.get(&key) {
                        Some((first, kept)) => {
                            prop_assert!(repeat);
                            prop_assert_eq!((first, kept), (&body, &answer));
                        }
                        None => {
                            prop_assert!(!repeat);
                            if attempt > 1 || answer.starts_with('[') {
                                answers.insert(key, (body, answer));
                            }
                        }
                    }
                }
            }
        }
        let core = engine.handle.shared.core();
        prop_assert_eq!(&core.pending, &engine.handle.shared.written().state);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn a_restart_at_any_point_changes_neither_the_state_nor_an_answer(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(run(steps))?;
    }
}
