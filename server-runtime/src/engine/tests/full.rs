//! A journal without room, and appends of which the outcome is not known.

use super::*;
use crate::Journal;

#[tokio::test]
async fn without_room_nothing_runs_and_nothing_that_was_acknowledged_is_harmed() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Claim(1))
        .await
        .unwrap();
    let before = (journal.bytes(), state(&engine));
    journal.hold();
    journal.full(true);
    let claim = queued(start(&engine, ("ann", "2", 1), &Ask::Claim(2)).unwrap());
    let joined = queued(start(&engine, ("ann", "2", 2), &Ask::Claim(2)).unwrap());
    let refused = queued(start(&engine, ("ben", "1", 1), &Ask::Claim(2)).unwrap());
    journal.release();
    for waiting in [claim, joined, refused] {
        assert_eq!(waiting.written(SOON).await.unwrap_err(), Halt::Full);
    }
    assert!(!engine.is_ready() && engine.stats().full);
    assert_eq!(
        start(&engine, ("ann", "3", 1), &Ask::Nothing).unwrap_err(),
        Halt::Full,
        "for a second no other is tried"
    );
    assert_eq!((journal.bytes(), state(&engine)), before);
    let pending = engine.handle.shared.core().pending.clone();
    assert_eq!(pending, before.1, "what was decided is taken back");
    assert_eq!(engine.stats().calls.pending, 0);
    let again = send(&engine, ("ann", "1", 2), &Ask::Claim(1))
        .await
        .unwrap();
    assert!(again.1, "what is kept is answered");
}

#[tokio::test]
async fn it_goes_on_when_there_is_room_and_uses_the_positions_again() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.full(true);
    let say = Ask::Say("x".into(), 2);
    assert_eq!(send(&engine, ("ann", "1", 1), &say).await, Err(Halt::Full));
    let waits = engine.handle.shared.core().full.unwrap();
    tokio::time::sleep_until(waits).await;
    assert_eq!(send(&engine, ("ann", "1", 2), &say).await, Err(Halt::Full));
    journal.full(false);
    let waits = engine.handle.shared.core().full.unwrap();
    tokio::time::sleep_until(waits).await;
    assert_eq!(
        send(&engine, ("ann", "1", 3), &say).await.unwrap(),
        ("[0,0]".into(), false)
    );
    assert!(engine.is_ready() && !engine.stats().full);
    assert_eq!(engine.position().position, Position(3));
    let before = state(&engine);
    drop(engine);
    let engine = open(&journal.killed().unwrap());
    assert_eq!(state(&engine), before);
    assert_eq!(engine.opened().records, 3);
}

#[tokio::test]
async fn a_close_without_room_ends() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    journal.full(true);
    let claim = queued(start(&engine, ("ann", "2", 1), &Ask::Claim(2)).unwrap());
    let close = engine.close();
    journal.release();
    close.await.unwrap();
    assert_eq!(claim.written(SOON).await.unwrap_err(), Halt::Full);
}

#[tokio::test]
async fn after_an_unknown_outcome_nothing_is_answered_before_it_is_known() {
    for appended in [true, false] {
        let journal = MemoryJournal::new();
        let engine = open(&journal);
        journal.unknown(appended);
        let say = Ask::Say("x".into(), 2);
        assert_eq!(
            send(&engine, ("ann", "1", 1), &say).await.unwrap(),
            ("[0,0]".into(), false)
        );
        send(&engine, ("ann", "2", 1), &say).await.unwrap();
        let before = state(&engine);
        drop(engine);
        assert_eq!(journal.acquire().unwrap().tail, Position(5), "none twice");
        assert_eq!(state(&open(&journal.killed().unwrap())), before);
    }
}
