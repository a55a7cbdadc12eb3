//! What a client has seen of a log decides whether its unknown call is surely new.

use super::*;
use crate::{clock, engine::EngineOptions};

fn with(engine: &Engine<Board>, id: &str, origin: Origin, ask_for: &Ask) -> Result<Known, Halt> {
    let of = |body: &[u8]| Call {
        origin,
        ..call("ann", id, 1, body)
    };
    start_with(engine, ask, of, ask_for)
}

fn seen(engine: &Engine<Board>, id: &str, seen: Option<LogPosition>) -> Result<Known, Halt> {
    with(engine, id, Origin::Link { seen }, &Ask::Nothing)
}

fn few() -> EngineOptions {
    EngineOptions {
        calls: CallLimits {
            most_kept: 1,
            most_thin: 1,
            most_foreign: 2,
            ..CallLimits::default()
        },
        ..EngineOptions::default()
    }
}

#[tokio::test]
async fn a_log_that_was_put_back_runs_no_late_try_as_new() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Claim(1))
        .await
        .unwrap();
    let backup = journal.killed().unwrap();
    let at_backup = engine.position();
    send(&engine, ("ann", "2", 1), &Ask::Claim(2))
        .await
        .unwrap();
    let after = engine.position();
    drop(engine);
    for restored in [true, false] {
        let copy = backup.killed().unwrap();
        let copy = if restored { copy.restored() } else { copy };
        let engine = open(&copy);
        // What ran after the backup was taken is not known here, and is not run again.
        let late = seen(&engine, "2", Some(after));
        assert_eq!(late.unwrap_err(), Halt::RolledBack);
        // Before the backup was taken nobody had seen more than it holds: only the mark tells.
        let late = seen(&engine, "3", Some(at_backup));
        match late {
            Err(halt) => assert_eq!((halt, restored), (Halt::RolledBack, true)),
            Ok(known) => {
                assert!(!restored, "{known:?}");
                end(known).await.unwrap();
            }
        }
        let known = seen(&engine, "4", Some(engine.position())).unwrap();
        end(known).await.unwrap();
        let kept = send(&engine, ("ann", "1", 2), &Ask::Claim(1))
            .await
            .unwrap();
        assert!(kept.1, "what the backup holds is answered");
    }
}

#[tokio::test]
async fn a_run_that_the_log_does_not_hold_is_another_log() {
    let engine = open(&MemoryJournal::new());
    let other = LogPosition {
        run: RunId::from_bytes([7; 16]),
        position: Position(1),
    };
    for id in ["1", "2"] {
        let halt = seen(&engine, id, Some(other)).unwrap_err();
        assert_eq!(halt, Halt::RolledBack);
    }
    assert_eq!(
        engine.handle.shared.core().foreign_runs.len(),
        1,
        "told once"
    );
    let beyond = LogPosition {
        position: Position(99),
        ..engine.position()
    };
    let halt = seen(&engine, "1", Some(beyond)).unwrap_err();
    assert_eq!(halt, Halt::RolledBack);
}

#[tokio::test]
async fn a_run_of_an_earlier_start_is_known_up_to_its_end() {
    let journal = MemoryJournal::new();
    let engine = open(&journal);
    send(&engine, ("ann", "1", 1), &Ask::Claim(1))
        .await
        .unwrap();
    let first = engine.position();
    drop(engine);
    let engine = open(&journal.killed().unwrap());
    assert_ne!(engine.position().run, first.run);
    end(seen(&engine, "2", Some(first)).unwrap()).await.unwrap();
    let beyond = LogPosition {
        position: first.position.next(),
        ..first
    };
    let halt = seen(&engine, "3", Some(beyond)).unwrap_err();
    assert_eq!(halt, Halt::RolledBack, "that run never came so far");
}

#[tokio::test]
async fn a_call_that_may_have_been_dropped_is_not_run_and_one_that_cannot_have_been_is() {
    let journal = MemoryJournal::new();
    let engine = Engine::open_with(journal.clone(), Board::default(), few()).unwrap();
    let before = engine.position();
    for id in ["1", "2", "3", "4"] {
        let now = Some(engine.position());
        end(seen(&engine, id, now).unwrap()).await.unwrap();
    }
    for engine in [
        engine,
        Engine::open_with(journal.killed().unwrap(), Board::default(), few()).unwrap(),
    ] {
        for (id, at) in [("1", Some(before)), ("1", None), ("new", Some(before))] {
            let halt = seen(&engine, id, at).unwrap_err();
            assert_eq!(halt, Halt::Forgotten, "{id} {at:?}");
        }
        let (ann, one) = ("ann".parse().unwrap(), "1".parse().unwrap());
        let origin = Origin::Link { seen: Some(before) };
        let fate = engine.fate(&ann, &one, origin).unwrap();
        assert_eq!(fate.fate, link_wire::Fate::Forgotten);
        let position = engine.position();
        let fate = engine.settle(&ann, &one, origin, SOON).await.unwrap();
        assert_eq!(fate.fate, link_wire::Fate::Forgotten);
        assert_eq!(engine.position(), position, "nothing is written of it");
        let kept = seen(&engine, "4", Some(before)).unwrap();
        assert!(end(kept).await.unwrap().is_repeat());
        let thin = seen(&engine, "3", Some(before));
        assert!(matches!(thin, Ok(Known::ReplyForgotten)), "{thin:?}");
    }
}

#[tokio::test]
async fn a_foreign_key_keeps_its_refusal_and_at_the_cap_a_new_one_is_told_when() {
    clock::set(Some(UnixMillis(1_000)));
    let journal = MemoryJournal::new();
    let engine = Engine::open_with(journal.clone(), Board::default(), few()).unwrap();
    let foreign = |id: &str, ask: &Ask| with(&engine, id, Origin::Foreign, ask);
    let no = end(foreign("1", &Ask::Free(1)).unwrap()).await.unwrap();
    assert_eq!(said(&no), ("404 free nobody holds it".into(), false));
    end(foreign("2", &Ask::Claim(1)).unwrap()).await.unwrap();
    let again = end(foreign("1", &Ask::Free(1)).unwrap()).await.unwrap();
    assert!(again.is_repeat(), "the refusal of a first try is kept");
    let full = foreign("3", &Ask::Claim(2)).unwrap_err();
    let Halt::TooManyKeys { retry_after } = full else {
        panic!("another halt: {full:?}")
    };
    assert!(retry_after >= Duration::from_secs(1), "{retry_after:?}");
    assert!(!state(&engine).held.contains_key(&2));
    clock::set(None);
}
