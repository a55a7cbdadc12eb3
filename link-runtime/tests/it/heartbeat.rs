//! The sign of life: one try a period, whatever becomes of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use link_runtime::{Api, Call, State, heartbeat};

use crate::{
    fixture::{ALIVE, PATIENT, api, api_with, soon, until, until_down},
    server::{Server, Step, yes},
};

const EVERY: Duration = Duration::from_millis(30);

fn alive(api: &Api, doing: usize) -> Call<()> {
    api.request(&ALIVE).body(&doing).call()
}

#[tokio::test]
async fn each_beat_is_made_anew_and_a_failing_one_sets_the_state_and_stops_nothing() {
    let server = Server::new(|seen| match seen.number {
        2 | 3 => vec![Step::Close],
        _ => yes("null"),
    })
    .await;
    let api = api(&server.base());
    let mut state = api.link().state();
    let (made, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let beats = {
        let (api, made, failed) = (api.clone(), Arc::clone(&made), Arc::clone(&failed));
        heartbeat(
            EVERY,
            move || alive(&api, made.fetch_add(1, Ordering::SeqCst)),
            move |told| {
                failed.fetch_add(usize::from(told.is_err()), Ordering::SeqCst);
            },
        )
    };
    until_down(&mut state).await;
    soon(state.wait_for(|state| *state == State::Up))
        .await
        .unwrap();
    until(|| server.seen().len() >= 7).await;
    drop(beats);
    assert_eq!(failed.load(Ordering::SeqCst), 2, "each beat is one try");
    for (doing, seen) in server.seen().iter().enumerate().take(7) {
        assert_eq!(seen.body, doing.to_string().as_bytes());
    }
    let before = server.seen().len();
    tokio::time::sleep(EVERY * 4).await;
    assert!(
        server.seen().len() <= before + 1,
        "it ended when it was dropped"
    );
}

#[tokio::test]
async fn a_beat_that_gets_no_reply_ends_with_its_period_and_none_is_made_up_for() {
    let server = Server::new(|seen| {
        if seen.number < 3 {
            vec![Step::Hang]
        } else {
            yes("null")
        }
    })
    .await;
    let api = api_with(&server.base(), PATIENT);
    let beats = {
        let api = api.clone();
        heartbeat(EVERY, move || alive(&api, 0), |_| {})
    };
    let began = tokio::time::Instant::now();
    until(|| server.seen().len() >= 6).await;
    assert!(
        began.elapsed() >= EVERY * 4,
        "no beat comes before its time"
    );
    drop(beats);
}
