//! The engine against a journal in memory: the table of calls, failures, crashes, restarts.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use futures_util::FutureExt as _;
use link_wire::{CallId, Caller, Kind, LogPosition, Position, Route, RunId, UnixMillis};
use serde::{Deserialize, Serialize};

use super::{
    Engine, OpenError,
    calls::{Call, CallLimits, Fingerprint, Known, Origin},
    shared::Phase,
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
    outbox: link_wire::OutboxRule::Keep,
    line: 1,
};

mod checkpoints;
mod failures;
mod full;
mod locks;
mod many;
mod positions;
mod replay;
mod settle;

const SOON: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Board {
    held: BTreeMap<u8, (Caller, u64)>,
    said: Vec<(u64, Caller, String)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Held {
        item: u8,
    },
    Freed {
        item: u8,
    },
    Said {
        text: String,
    },
    Bad,
    /// Can be decided against, and not written: `apply` panics in the writer only.
    BadLater,
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
    BadLater,
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
            Change::BadLater => {
                let writer = std::thread::current().name() == Some("journal-writer");
                assert!(!writer, "a change that cannot be applied again");
            }
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
            Ask::BadLater => {
                let changes = vec![Change::Held { item: 1 }, Change::BadLater];
                Ok(Accepted::many(changes, reply))
            }
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
        origin: Origin::Link { seen: None },
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
    engine.command(&ROUTE, run, call(&body), Vec::new(), &input)
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
        other => panic!("no answer: {other:?}"),
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
        Outcome::Cancelled => "cancelled".into(),
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
    assert_eq!((engine.opened().records, engine.opened().calls), (3, 1));
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
    assert_eq!(
        late.written(Duration::ZERO).await.unwrap_err(),
        Halt::Unwritten
    );
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
    let begun = journal.bytes();
    let no = ("404 free nobody holds it".to_owned(), false);
    assert_eq!(
        send(&engine, ("ann", "1", 1), &Ask::Free(1)).await.unwrap(),
        no
    );
    assert_eq!(journal.bytes(), begun, "it changed nothing");
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
    assert!(
        refused.as_mut().now_or_never().is_none(),
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
