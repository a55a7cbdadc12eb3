//! Connections that end between calls, or say nothing any more.

use faults::{Chance, Gate, Origin, Script, Step, new_seed, reply};
use riff_api::RiffApi;
use riff_link::client::CallError;
use tokio::{task::JoinSet, time::sleep};

use crate::fixture::{
    BUILD, PATIENT, api, api_with, body, ms, origin, post, soon, until, who, yes,
};

#[tokio::test]
async fn a_call_at_the_moment_in_which_the_server_closes_its_idle_connection_succeeds() {
    let seed = new_seed();
    println!("seed {seed}");
    let mut clients = JoinSet::new();
    for client in 0..6 {
        clients.spawn(async move {
            let mut chance = Chance::row(seed, 0, client);
            let server = origin(|seen| {
                vec![
                    Step::KeepAlive(ms(50)),
                    Step::Send(reply(200, BUILD, body(seen))),
                ]
            });
            let api = api_with(&server.base(), PATIENT);
            for n in 0..60 {
                if n % 2 == 0 {
                    assert!(soon(who(&api)).await.is_ok(), "client {client}, call {n}");
                } else {
                    assert!(soon(post(&api)).await.is_ok(), "client {client}, call {n}");
                }
                sleep(ms(48 + chance.below(5))).await;
            }
            server.stop().await.connections
        });
    }
    let connections: usize = clients.join_all().await.into_iter().sum();
    // Some were closed before a call, or the test was about nothing.
    assert!(connections > 6, "{connections}");
}

/// Makes this many connections of a link, all of them idle after it.
async fn warm(api: &RiffApi, server: &Origin, gate: &Gate, connections: usize) {
    let mut calls: JoinSet<_> = (0..connections)
        .map(|_| IntoFuture::into_future(who(api)))
        .collect();
    until(|| server.told().requests.len() == connections).await;
    gate.open();
    while let Some(reply) = soon(calls.join_next()).await {
        reply.unwrap().unwrap();
    }
    assert_eq!(server.told().connections, connections);
}

/// The first requests get their reply once the gate opens, and then their connection does `then`.
fn warmed(gate: &Gate, then: &[Step]) -> Script {
    let (gate, then) = (gate.clone(), then.to_vec());
    Script::requests(move |seen| {
        if seen.connection >= 8 {
            return yes(seen);
        }
        [vec![Step::Wait(gate.clone())], yes(seen), then.clone()].concat()
    })
}

#[tokio::test]
async fn after_a_restart_one_call_over_eight_idle_connections_is_sent_again_once_at_most() {
    let gate = Gate::shut();
    let server = Origin::start(warmed(&gate, &[])).unwrap();
    let api = api_with(&server.base(), PATIENT);
    warm(&api, &server, &gate, 8).await;
    let address = server.address();
    server.stop().await;
    let server = Origin::start_at(address, Script::requests(yes))
        .await
        .unwrap();
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    let told = server.stop().await;
    assert_eq!((told.requests.len(), told.connections), (1, 1));
    assert!(api.link().stats().tries <= 8 + 2);
}

#[tokio::test]
async fn of_eight_idle_connections_that_are_reset_one_call_meets_one_at_most() {
    let (gate, reset) = (Gate::shut(), Gate::shut());
    let then = [Step::Wait(reset.clone()), Step::Reset];
    let server = Origin::start(warmed(&gate, &then)).unwrap();
    let api = api_with(&server.base(), PATIENT);
    warm(&api, &server, &gate, 8).await;
    reset.open();
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    assert!(api.link().stats().tries <= 8 + 2);
    assert_eq!(server.stop().await.connections, 9);
}

#[tokio::test]
async fn of_eight_frozen_connections_a_call_meets_one_and_then_dials() {
    let gate = Gate::shut();
    let server = Origin::start(warmed(&gate, &[Step::Freeze])).unwrap();
    let api = api(&server.base());
    warm(&api, &server, &gate, 8).await;
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    let stats = api.link().stats();
    assert_eq!((stats.tries, stats.faults, stats.swaps), (8 + 2, 1, 1));
    let told = server.stop().await;
    assert_eq!(told.connections, 9);
    let last = told.requests.last().unwrap();
    assert_eq!((last.connection, last.header("riff-try")), (8, "2"));
}

#[tokio::test]
async fn a_server_that_accepts_and_closes_at_once_is_tried_some_times_and_not_in_a_spin() {
    let server = Origin::start(Script::connections(|_| vec![Step::Close])).unwrap();
    let api = api(&server.base());
    let error = soon(post(&api).within(ms(400))).await.unwrap_err();
    assert!(
        matches!(error, CallError::Unknown { call: Some(_), .. }),
        "{error:?}"
    );
    let told = server.stop().await;
    // Waits of 5 to 40 ms leave room for some 30 tries, each dialled at most twice.
    assert!((3..80).contains(&told.connections), "{}", told.connections);
    assert!(told.requests.is_empty());
}

#[tokio::test]
async fn of_twenty_first_calls_one_is_cancelled_and_nineteen_succeed() {
    let server = origin(|seen| [vec![Step::Pause(ms(50))], yes(seen)].concat());
    let api = api_with(&server.base(), PATIENT);
    for given_up in [0, 7, 19] {
        let replies = twenty(&api, given_up).await;
        assert_eq!(replies, 19);
    }
    assert_eq!(api.link().stats().faults, 0);
}

/// Makes twenty calls at once, and cancels one; how many have their reply.
pub(crate) async fn twenty(api: &RiffApi, given_up: usize) -> usize {
    let mut calls = JoinSet::new();
    for number in 0..20 {
        let call = IntoFuture::into_future(post(api));
        let handle = calls.spawn(call);
        if number == given_up {
            tokio::task::yield_now().await;
            handle.abort();
        }
    }
    let mut replies = 0;
    while let Some(end) = soon(calls.join_next()).await {
        match end {
            Ok(reply) => {
                assert_eq!(reply.unwrap().seq, 7);
                replies += 1;
            }
            Err(error) => assert!(error.is_cancelled()),
        }
    }
    replies
}
