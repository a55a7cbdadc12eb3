//! HTTP/2, which the client speaks over TLS: what is not processed, what is not held up.
//!
//! Each test runs itself again in a process that trusts the authority of its server.

use std::env;

use faults::{Gate, Identity, Origin2, Seen, Step2};
use riff_api::Alive;
use riff_link::client::{CallError, Cause, State};

use crate::{
    connections::twenty,
    fixture::{LIMITS, PATIENT, api_with, body, ms, post, soon, until, who},
    proxy_env::again,
};

const BUILD: (&str, &str) = ("riff-build", "1.0 0.1.0 - -");
const NO_ERROR: u32 = 0;
const ENHANCE_YOUR_CALM: u32 = 11;
const CANCEL: u32 = 8;

/// Many times what one stream may send ahead.
const LARGE: usize = 12 << 20;

/// Who the server is, in the process that trusts it; none in the one that has made that.
fn identity(test: &str) -> Option<Identity> {
    const DIR: &str = "CASES_TEST_IDENTITY";
    if let Some(dir) = env::var_os(DIR) {
        return Some(Identity::read(dir.as_ref(), &["h2"]).unwrap());
    }
    let dir = tempfile::tempdir().unwrap();
    Identity::write(dir.path()).unwrap();
    let authority = Identity::authority(dir.path());
    let set = [
        (DIR, dir.path().as_os_str()),
        ("SSL_CERT_FILE", authority.as_os_str()),
    ];
    again(&format!("two::{test}"), &set, &["SSL_CERT_DIR"]);
    None
}

fn yes(seen: &Seen) -> Vec<Step2> {
    Step2::reply(200, &[BUILD], body(seen).as_bytes())
}

/// The call ID and the number of the try of a request.
fn tried(seen: &Seen) -> (&str, &str) {
    (seen.header("riff-call"), seen.header("riff-try"))
}

#[tokio::test]
async fn of_twenty_first_calls_over_http2_one_is_cancelled_and_nineteen_succeed() {
    let test = "of_twenty_first_calls_over_http2_one_is_cancelled_and_nineteen_succeed";
    let Some(identity) = identity(test) else {
        return;
    };
    for given_up in [0, 7, 19] {
        let server = Origin2::start_tls(&identity, |seen| {
            [vec![Step2::Pause(ms(50))], yes(seen)].concat()
        })
        .unwrap();
        let api = api_with(&server.base(), PATIENT);
        assert_eq!(twenty(&api, given_up).await, 19);
        assert_eq!(api.link().stats().faults, 0);
        assert!(
            server
                .stop()
                .await
                .requests
                .iter()
                .all(|seen| seen.stream > 0)
        );
    }
}

#[tokio::test]
async fn a_small_call_is_not_held_up_by_three_large_replies_that_nobody_reads() {
    let test = "a_small_call_is_not_held_up_by_three_large_replies_that_nobody_reads";
    let Some(identity) = identity(test) else {
        return;
    };
    let server = Origin2::start_tls(&identity, |seen| {
        if seen.header("riff-call").is_empty() && seen.number > 0 {
            let body = format!(r#"{{"present":[]{}}}"#, " ".repeat(LARGE));
            Step2::reply(200, &[BUILD], body.as_bytes())
        } else {
            yes(seen)
        }
    })
    .unwrap();
    let api = api_with(&server.base(), PATIENT);
    soon(who(&api)).await.unwrap();
    let mut unread = Vec::new();
    for n in 1..=3 {
        let mut call = IntoFuture::into_future(who(&api));
        // Polled until its request has arrived, and then no more.
        tokio::select! {
            biased;
            reply = &mut call => panic!("{reply:?}"),
            () = until(|| server.told().requests.len() > n) => {}
        }
        unread.push(call);
    }
    for _ in 0..10 {
        assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    }
    let held = server.told().sent;
    assert!(held < 8 << 20, "{held}: the replies were not held up");
    for call in unread {
        assert!(soon(call).await.unwrap().present.is_empty());
    }
    let told = server.stop().await;
    assert_eq!((told.connections, api.link().stats().faults), (1, 0));
}

#[tokio::test]
async fn a_goaway_between_two_calls_ends_the_first_and_sends_the_second_again() {
    let test = "a_goaway_between_two_calls_ends_the_first_and_sends_the_second_again";
    let Some(identity) = identity(test) else {
        return;
    };
    for code in [NO_ERROR, ENHANCE_YOUR_CALM] {
        let gate = Gate::shut();
        let waits = gate.clone();
        let server = Origin2::start_tls(&identity, move |seen| match seen.number {
            1 => [vec![Step2::Wait(waits.clone())], yes(seen)].concat(),
            2 => vec![Step2::GoAway(seen.stream - 2, code), Step2::Hang],
            _ => yes(seen),
        })
        .unwrap();
        let api = api_with(&server.base(), PATIENT);
        soon(who(&api)).await.unwrap();
        let mut watched = api.link().state();
        assert_eq!(*watched.borrow_and_update(), State::Up);
        let first = tokio::spawn(IntoFuture::into_future(post(&api)));
        until(|| server.told().requests.len() == 2).await;
        // A call of one try: what is sent again is not counted.
        soon(api.alive(&Alive::default())).await.unwrap();
        gate.open();
        assert_eq!(soon(first).await.unwrap().unwrap().seq, 7);
        let stats = api.link().stats();
        assert_eq!(
            (stats.calls, stats.tries, stats.faults, stats.swaps),
            (3, 4, 0, 0)
        );
        assert!(!watched.has_changed().unwrap());
        let told = server.stop().await;
        let places: Vec<_> = told
            .requests
            .iter()
            .map(|seen| (seen.connection, seen.stream))
            .collect();
        assert_eq!(places, [(0, 1), (0, 3), (0, 5), (1, 1)]);
    }
}

#[tokio::test]
async fn a_command_that_a_goaway_leaves_out_is_sent_again_under_its_call_id() {
    let test = "a_command_that_a_goaway_leaves_out_is_sent_again_under_its_call_id";
    let Some(identity) = identity(test) else {
        return;
    };
    let server = Origin2::start_tls(&identity, |seen| match seen.connection {
        0 | 1 => vec![Step2::GoAway(0, NO_ERROR), Step2::Hang],
        _ => yes(seen),
    })
    .unwrap();
    let api = api_with(&server.base(), PATIENT);
    let command = post(&api);
    let id = command.id().clone();
    assert_eq!(soon(command).await.unwrap().seq, 7);
    let told = server.stop().await;
    let tries: Vec<_> = told.requests.iter().map(tried).collect();
    let id = id.as_str();
    assert_eq!(tries, [(id, "1"), (id, "2"), (id, "3")]);
    assert_eq!((told.connections, api.link().stats().faults), (3, 0));
}

#[tokio::test]
async fn a_refused_stream_is_sent_again_at_once_over_its_connection() {
    let test = "a_refused_stream_is_sent_again_at_once_over_its_connection";
    let Some(identity) = identity(test) else {
        return;
    };
    let server = Origin2::start_tls(&identity, |seen| match seen.number {
        0 | 1 | 3 => vec![Step2::Refuse],
        _ => yes(seen),
    })
    .unwrap();
    let api = api_with(&server.base(), PATIENT);
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    soon(api.alive(&Alive::default())).await.unwrap();
    let stats = api.link().stats();
    assert_eq!((stats.tries, stats.faults, stats.swaps), (5, 0, 0));
    let told = server.stop().await;
    assert_eq!(told.connections, 1);
    let [one, two, three, ..] = &told.requests[..] else {
        panic!("{told:?}")
    };
    let id = one.header("riff-call");
    assert_eq!([two, three].map(tried), [(id, "2"), (id, "3")]);
}

#[tokio::test]
async fn a_server_that_processes_nothing_is_asked_in_no_spin() {
    let test = "a_server_that_processes_nothing_is_asked_in_no_spin";
    let Some(identity) = identity(test) else {
        return;
    };
    for refuses in [false, true] {
        let server = Origin2::start_tls(&identity, move |_| {
            if refuses {
                vec![Step2::Refuse]
            } else {
                vec![Step2::GoAway(0, NO_ERROR), Step2::Hang]
            }
        })
        .unwrap();
        let api = api_with(&server.base(), PATIENT);
        // A call of one try: three are sent again at once, and the next one counts.
        let error = soon(api.alive(&Alive::default())).await.unwrap_err();
        assert!(
            matches!(
                error,
                CallError::NotSent {
                    cause: Cause::Unprocessed { .. }
                }
            ),
            "{error:?}"
        );
        assert_eq!(server.told().requests.len(), 4);
        assert_eq!(api.link().stats().faults, 0);
        soon(post(&api).within(ms(400))).await.unwrap_err();
        let tries = server.stop().await.requests.len() - 4;
        // Three at once, and then waits of 5 to 40 ms.
        assert!((4..60).contains(&tries), "{tries}");
    }
}

#[tokio::test]
async fn another_reset_of_a_stream_is_a_fault_and_the_command_may_have_run() {
    let test = "another_reset_of_a_stream_is_a_fault_and_the_command_may_have_run";
    let Some(identity) = identity(test) else {
        return;
    };
    let server = Origin2::start_tls(&identity, |_| vec![Step2::Reset(CANCEL)]).unwrap();
    let api = api_with(&server.base(), PATIENT);
    let error = soon(post(&api).within(ms(300))).await.unwrap_err();
    assert!(
        matches!(error, CallError::Unknown { call: Some(_), .. }),
        "{error:?}"
    );
    assert!(api.link().stats().faults > 0);
}

#[tokio::test]
async fn a_frozen_http2_connection_costs_one_try() {
    let Some(identity) = identity("a_frozen_http2_connection_costs_one_try") else {
        return;
    };
    let server = Origin2::start_tls(&identity, |seen| match seen.number {
        1 => vec![Step2::Freeze],
        _ => yes(seen),
    })
    .unwrap();
    let api = api_with(&server.base(), LIMITS);
    soon(who(&api)).await.unwrap();
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    let stats = api.link().stats();
    assert_eq!((stats.tries, stats.faults, stats.swaps), (3, 1, 1));
    assert_eq!(server.stop().await.connections, 2);
}
