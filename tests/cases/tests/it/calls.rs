//! One call: its ID, and a reply that stops.

use std::collections::HashSet;

use faults::{Script, Step};
use riff_api::Alive;
use riff_link::client::{CallError, Cause};

use crate::fixture::{
    BUILD, LIMITS, NOBODY, PATIENT, api, api_with, ms, origin, post, soon, who, yes,
};

#[tokio::test]
async fn a_thousand_commands_of_one_caller_have_a_thousand_call_ids() {
    let server = origin(yes);
    let api = api_with(&server.base(), PATIENT);
    for _ in 0..1000 {
        soon(post(&api)).await.unwrap();
    }
    let told = server.stop().await;
    assert_eq!(told.requests.len(), 1000);
    let ids: HashSet<_> = told
        .requests
        .iter()
        .map(|seen| seen.header("riff-call"))
        .collect();
    assert_eq!(ids.len(), 1000);
    assert!(ids.iter().all(|id| !id.is_empty()));
    assert!(
        told.requests
            .iter()
            .all(|seen| seen.header("riff-try") == "1")
    );
}

/// The head of a reply and the first byte of its body.
fn a_byte() -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{BUILD}content-length: 14\r\n\r\n{{").into_bytes()
}

#[tokio::test]
async fn a_reply_that_stops_after_one_byte_ends_its_try_and_the_next_one_dials() {
    let server = origin(|seen| match seen.header("riff-try") {
        "1" => vec![Step::Send(a_byte()), Step::Freeze],
        _ => yes(seen),
    });
    let api = api(&server.base());
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    let told = server.stop().await;
    let [first, second] = &told.requests[..] else {
        panic!("{told:?}")
    };
    assert_eq!(first.header("riff-call"), second.header("riff-call"));
    assert_ne!(first.connection, second.connection);
    assert_eq!(api.link().stats().faults, 1);
}

#[tokio::test]
async fn a_call_of_one_try_says_that_its_reply_stopped() {
    let server = origin(|_| vec![Step::Send(a_byte()), Step::Freeze]);
    let api = api(&server.base());
    let error = soon(api.alive(&Alive::default())).await.unwrap_err();
    let stalled = Cause::Stalled {
        after: LIMITS.attempt,
    };
    assert!(
        matches!(&error, CallError::Unknown { call: None, cause, .. } if *cause == stalled),
        "{error:?}"
    );
    assert_eq!(server.stop().await.requests.len(), 1);
}

#[tokio::test]
async fn a_reply_whose_server_closes_only_its_own_side_is_whole() {
    let script = Script::requests(|_| {
        let body = format!("HTTP/1.1 200 OK\r\n{BUILD}connection: close\r\n\r\n{NOBODY}");
        vec![Step::Pieces(body.into_bytes(), 7, ms(1)), Step::HalfClose]
    });
    let server = faults::Origin::start(script).unwrap();
    let api = api_with(&server.base(), PATIENT);
    for _ in 0..3 {
        assert!(soon(who(&api)).await.unwrap().present.is_empty());
    }
    assert_eq!(server.stop().await.connections, 3);
    assert_eq!(api.link().stats().faults, 0);
}
