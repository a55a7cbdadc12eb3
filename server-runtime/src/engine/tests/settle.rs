//! Settling a call, and what became of it.

use link_wire::{CallFate, Fate};

use super::*;
use crate::Reply;

async fn settle(engine: &Engine<Board>, id: &str) -> Result<CallFate<Reply>, Halt> {
    let ann = "ann".parse().unwrap();
    let seen = Some(engine.position());
    let origin = Origin::Link { seen };
    engine
        .settle(&ann, &id.parse().unwrap(), origin, SOON)
        .await
}

fn fate(engine: &Engine<Board>, caller: &str, id: &str) -> CallFate<Reply> {
    let seen = Some(engine.position());
    let (caller, id) = (caller.parse().unwrap(), id.parse().unwrap());
    engine.fate(&caller, &id, Origin::Link { seen }).unwrap()
}

fn is_cancelled(known: &Result<Known, Halt>) -> bool {
    matches!(known, Ok(Known::Cancelled))
}

#[tokio::test]
async fn a_try_that_comes_after_its_call_was_settled_does_not_run_also_after_a_restart() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    assert_eq!(fate(&engine, "ann", "1").fate, Fate::Unknown);
    let settled = settle(&engine, "1").await.unwrap();
    assert_eq!(settled.fate, Fate::Cancelled);
    assert_eq!(settled.position, Some(Position(2)));
    assert!(is_cancelled(&start(
        &engine,
        ("ann", "1", 1),
        &Ask::Claim(1)
    )));
    let again = settle(&engine, "1").await.unwrap();
    assert_eq!(
        (again.fate, again.position),
        (settled.fate, settled.position)
    );
    drop(engine);
    let engine = open(&journal.killed().unwrap());
    assert!(is_cancelled(&start(
        &engine,
        ("ann", "1", 2),
        &Ask::Nothing
    )));
    assert_eq!(fate(&engine, "ann", "1").fate, Fate::Cancelled);
    assert!(state(&engine).held.is_empty());
    assert_eq!(fate(&engine, "ben", "1").fate, Fate::Unknown);
}

#[tokio::test]
async fn settling_waits_for_a_call_that_is_on_its_way_and_tells_its_reply() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    let claim = queued(start(&engine, ("ann", "1", 1), &Ask::Claim(1)).unwrap());
    assert_eq!(fate(&engine, "ann", "1").fate, Fate::Pending);
    let mut settled = Box::pin(settle(&engine, "1"));
    assert!(settled.as_mut().now_or_never().is_none());
    journal.release();
    let fate = settled.await.unwrap();
    assert_eq!((fate.fate, fate.position), (Fate::Ran, Some(Position(2))));
    assert_eq!(fate.reply.unwrap().json(), "[0,0]");
    claim.written(SOON).await.unwrap();
}

#[tokio::test]
async fn a_try_that_comes_while_its_call_is_being_settled_is_told_that_it_never_runs() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    let mut settled = Box::pin(settle(&engine, "1"));
    assert!(settled.as_mut().now_or_never().is_none());
    let late = queued(start(&engine, ("ann", "1", 1), &Ask::Claim(1)).unwrap());
    journal.release();
    assert_eq!(settled.await.unwrap().fate, Fate::Cancelled);
    let written = late.written(SOON).await.unwrap();
    assert_eq!(said(&written).0, "cancelled");
    assert!(state(&engine).held.is_empty());
}

#[tokio::test]
async fn a_refused_second_try_keeps_the_first_from_running_and_its_fate_says_why() {
    let engine = open(&MemoryJournal::new());
    send(&engine, ("ann", "1", 2), &Ask::Free(1)).await.unwrap();
    send(&engine, ("ann", "2", 1), &Ask::Claim(1))
        .await
        .unwrap();
    let late = send(&engine, ("ann", "1", 1), &Ask::Free(1)).await.unwrap();
    assert_eq!(late, ("404 free nobody holds it".into(), true));
    let fate = fate(&engine, "ann", "1");
    assert_eq!(
        (fate.fate, fate.code.as_deref()),
        (Fate::Refused, Some("free"))
    );
    assert!(state(&engine).held.contains_key(&1));
}
