//! What fails, and what nobody is told then.

use super::*;

#[tokio::test]
async fn a_refusal_that_saw_a_lost_write_is_no_refusal() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.hold();
    journal.fail_append(1);
    let claim = queued(start(&engine, ("ann", "1", 1), &Ask::Claim(1)).unwrap());
    let refused = queued(start(&engine, ("ben", "1", 1), &Ask::Claim(1)).unwrap());
    journal.release();
    assert_eq!(claim.written(SOON).await.unwrap_err(), Halt::Lost);
    assert_eq!(refused.written(SOON).await.unwrap_err(), Halt::Lost);
}

#[tokio::test]
async fn after_a_failed_append_nobody_is_told_done_and_the_retry_runs_at_the_next_start() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    journal.fail_append(1);
    let say = Ask::Say("x".into(), 1);
    assert_eq!(send(&engine, ("ann", "1", 1), &say).await, Err(Halt::Lost));
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
                Err(halt) if n == failing => assert_eq!(halt, Halt::Lost),
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
    let begun = journal.bytes();
    let failed = Err(Halt::Failed { route: "ask" });
    assert_eq!(send(&engine, ("ann", "1", 1), &Ask::Panic).await, failed);
    assert_eq!(journal.bytes(), begun);
    let read: Result<(), Halt> = engine.read(&ROUTE, &"ann".parse().unwrap(), |_, _| {
        panic!("a query that panics")
    });
    assert_eq!(read, Err(Halt::Failed { route: "ask" }));
    send(&engine, ("ann", "2", 1), &Ask::Claim(1))
        .await
        .unwrap();
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn a_handler_that_is_not_pure_is_found_and_nothing_of_it_is_queued() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    let begun = journal.bytes();
    let answer = send(&engine, ("ann", "1", 1), &Ask::Impure).await;
    assert_eq!(answer, Err(Halt::Failed { route: "ask" }));
    assert_eq!(journal.bytes(), begun);
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
    assert_eq!(open(&journal.killed().unwrap()).opened().records, 2);
}

#[tokio::test]
async fn half_a_chunk_that_was_applied_is_seen_by_nobody() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    assert_eq!(
        send(&engine, ("ann", "1", 1), &Ask::BadLater).await,
        Err(Halt::Lost)
    );
    assert!(
        state(&engine).held.contains_key(&1),
        "half of it stands there"
    );
    let ann = "ann".parse().unwrap();
    let read: Result<(), Halt> = engine.read(&ROUTE, &ann, |_, _| panic!("it is asked"));
    assert_eq!(read, Err(Halt::Unavailable));
    let tail = engine.tail(&ROUTE, &ann, |_, _| panic!("it is asked"));
    assert_eq!(tail.err(), Some(Halt::Unavailable));
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

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Older;

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
    assert_eq!((position.0, command.as_str()), (3, "ask"));
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
        .command(&ROUTE, tick, call("ann", "1", 1, b""), Vec::new(), &input)
        .unwrap();
    end(known).await.unwrap();
    drop(engine);
    let engine = Engine::open(journal.killed().unwrap(), Ticks(0)).unwrap();
    assert_eq!(engine.handle.shared.written().state, Ticks(1));
}
