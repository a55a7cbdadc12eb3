//! Commands and queries through each fault: every one gets its reply, and runs once.

use std::{collections::HashSet, time::Duration};

use faults::{Kind, Plan, new_seed};
use riff_api::{Alive, Claim, ItemId, Post, Thread, Who};
use riff_link::client::{CallError, State};

use crate::world::{Running, posted, records, through};

/// Posts through one kind of fault, and counts in the log.
async fn each_post_runs_once_through(kind: Kind) {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let seed = new_seed();
    println!("seed {seed}");
    let plan = Plan {
        rate: 0.4,
        // The first request at least, whatever the seed.
        each_once: true,
        ..Plan::only(seed, &[kind])
    };
    let (proxy, api) = through(&running, plan, "ann");
    let thread: Thread = "general".parse().unwrap();
    for n in 1..=15 {
        let text = format!("{kind:?} {n}");
        let posted = api.post(&thread, &Post { text }).await.unwrap();
        assert_eq!(posted.seq, n);
    }
    let counts = proxy.stop().await.unwrap();
    running.stop().await;
    assert!(counts.of(kind) > 0, "{counts:?}");
    let texts = posted(dir.path());
    assert_eq!(texts.len(), 15, "{texts:?}");
    assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 15, "{texts:?}");
}

#[tokio::test]
async fn a_refused_connect_runs_nothing_twice() {
    each_post_runs_once_through(Kind::Refuse).await;
}

#[tokio::test]
async fn a_cut_before_the_reply_runs_nothing_twice() {
    each_post_runs_once_through(Kind::CutBeforeReply).await;
}

#[tokio::test]
async fn a_cut_inside_the_reply_runs_nothing_twice() {
    each_post_runs_once_through(Kind::CutInsideReply).await;
}

#[tokio::test]
async fn a_reset_runs_nothing_twice() {
    each_post_runs_once_through(Kind::Reset).await;
}

#[tokio::test]
async fn a_frozen_connection_runs_nothing_twice() {
    each_post_runs_once_through(Kind::Freeze).await;
}

#[tokio::test]
async fn a_front_end_that_answers_runs_nothing_twice() {
    each_post_runs_once_through(Kind::FrontEnd502).await;
}

#[tokio::test]
async fn a_refusal_reaches_its_caller_through_faults() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let item: ItemId = "i1".parse().unwrap();
    let (ann_proxy, ann) = through(&running, Plan::clean(1), "ann");
    ann.claim(&item, &Claim {}).await.unwrap();
    let plan = Plan {
        rate: 0.5,
        ..Plan::only(new_seed(), &[Kind::CutBeforeReply])
    };
    let (ben_proxy, ben) = through(&running, plan, "ben");
    for _ in 0..5 {
        match ben.claim(&item, &Claim {}).await {
            Err(CallError::Refused(refused)) => {
                assert_eq!((refused.status, refused.code.as_str()), (409, "held"));
                assert_eq!(refused.detail, "ann holds i1");
            }
            other => unreachable!("{other:?}"),
        }
    }
    ann_proxy.stop().await.unwrap();
    ben_proxy.stop().await.unwrap();
    running.stop().await;
}

#[tokio::test]
async fn a_command_whose_budget_ends_in_silence_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let plan = Plan {
        rate: 1.0,
        ..Plan::only(1, &[Kind::Freeze])
    };
    let (proxy, api) = through(&running, plan, "ann");
    let thread: Thread = "general".parse().unwrap();
    let call = api
        .post(
            &thread,
            &Post {
                text: "hello".into(),
            },
        )
        .within(Duration::from_millis(900));
    let id = call.id().clone();
    match call.await {
        Err(CallError::Unknown {
            call: Some(call), ..
        }) => assert_eq!(call.id, id),
        other => unreachable!("{other:?}"),
    }
    assert!(matches!(*api.link().state().borrow(), State::Down { .. }));
    proxy.stop().await.unwrap();
    running.stop().await;
    // It did run, once, under the ID that the error named.
    let records = records(dir.path());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].call().unwrap().call, id);
}

#[tokio::test]
async fn a_query_and_a_signal_need_no_call_id() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let plan = Plan {
        rate: 0.4,
        ..Plan::only(new_seed(), &[Kind::CutBeforeReply])
    };
    let (proxy, api) = through(&running, plan, "ann");
    let doing = Some("testing".to_owned());
    // A heartbeat is one try, so it may fail: the next one comes a period later.
    let mut heard = false;
    for _ in 0..20 {
        heard |= api
            .alive(&Alive {
                doing: doing.clone(),
            })
            .await
            .is_ok();
    }
    assert!(heard);
    let who = api.who(&Who {}).await.unwrap();
    assert_eq!(who.present.len(), 1);
    assert_eq!(who.present[0].doing, doing);
    proxy.stop().await.unwrap();
    running.stop().await;
    assert!(records(dir.path()).is_empty());
}

#[tokio::test]
async fn a_dropped_call_does_not_undo_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let plan = Plan {
        rate: 1.0,
        ..Plan::only(1, &[Kind::Freeze])
    };
    let (proxy, api) = through(&running, plan, "ann");
    let thread: Thread = "general".parse().unwrap();
    let call = api.post(
        &thread,
        &Post {
            text: "hello".into(),
        },
    );
    let dropped = tokio::time::timeout(Duration::from_millis(300), call.into_future()).await;
    assert!(dropped.is_err());
    proxy.stop().await.unwrap();
    running.stop().await;
    assert_eq!(posted(dir.path()), ["hello"]);
}
