//! A restart at any point of any sequence gives the same state and the same answers.

use proptest::prelude::*;

use super::*;

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
                prop_assert_eq!(engine.opened().calls, answers.len() as u64);
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
                    if let Some((first, kept)) = answers.get(&key) {
                        prop_assert!(repeat);
                        prop_assert_eq!((first, kept), (&body, &answer));
                    } else {
                        prop_assert!(!repeat);
                        if attempt > 1 || answer.starts_with('[') {
                            answers.insert(key, (body, answer));
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
