//! Many callers, and a server that is started again: they come back spread out.

use std::time::Duration;

use faults::{Gate, Origin, Script, Step};
use riff_api::RiffApi;
use riff_link::{
    Limits,
    client::{Credentials, link},
};
use tokio::{task::JoinSet, time::sleep};

use crate::fixture::{PATIENT, ms, post, soon, until, yes};

const CALLERS: usize = 300;

/// Waits that are long against the window in which the arrivals are counted.
const LIMITS: Limits = Limits {
    first_wait: ms(500),
    most_wait: ms(2_000),
    ..PATIENT
};

const WINDOW: Duration = ms(100);

#[tokio::test]
async fn three_hundred_callers_come_back_to_a_restarted_server_spread_out() {
    let shut = Gate::shut();
    let holds = Script::requests(move |_| vec![Step::Wait(shut.clone())]);
    let server = Origin::start(holds).unwrap();
    let link = link::with(&server.base(), LIMITS).unwrap();
    let mut calls: JoinSet<_> = (0..CALLERS)
        .map(|n| {
            let api = RiffApi::new(link.clone(), Credentials::bearer(format!("caller {n}")));
            IntoFuture::into_future(post(&api))
        })
        .collect();
    until(|| server.told().requests.len() == CALLERS).await;
    let address = server.address();
    server.stop().await;
    // The first tries after the end find nobody.
    sleep(ms(700)).await;
    let server = Origin::start_at(address, Script::requests(yes))
        .await
        .unwrap();
    while let Some(reply) = soon(calls.join_next()).await {
        assert_eq!(reply.unwrap().unwrap().seq, 7);
    }
    let told = server.stop().await;
    let mut arrivals: Vec<_> = told.requests.iter().map(|seen| seen.at).collect();
    arrivals.sort_unstable();
    let most = arrivals
        .iter()
        .map(|first| {
            let window = |at: &&Duration| (*first..*first + WINDOW).contains(*at);
            arrivals.iter().filter(window).count()
        })
        .max();
    // Waits of 500 to 1000 ms after waits of 250 to 500 ms: about a fifth in the fullest window.
    assert!(most < Some(CALLERS / 3), "{most:?} of {arrivals:?}");
    assert!(arrivals.len() < CALLERS * 2, "{}", arrivals.len());
}
