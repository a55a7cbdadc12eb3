//! Queries and signals: which replies end them, and which make them try again.

use std::time::{Duration, Instant};

use link_runtime::{CallError, Cause, Refused, State};

use crate::{
    fixture::{ALIVE, LIMITS, STEADY, api, api_with, soon, until_down, who},
    server::{BUILD, Server, Step, no, reply, yes},
};

#[tokio::test]
async fn a_query_gets_its_reply() {
    let server = Server::new(|_| yes("7")).await;
    let api = api(&server.base());
    assert_eq!(*api.link().state().borrow(), State::New);
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(*api.link().state().borrow(), State::Up);
    let [seen] = &server.seen()[..] else {
        panic!("one request")
    };
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str()),
        ("GET", "/v1/who")
    );
    assert_eq!(seen.header("riff-build"), "1.0 0.1.0 - -");
    assert_eq!(seen.header("authorization"), "Bearer token");
    assert!(!seen.headers.contains_key("riff-call") && !seen.headers.contains_key("riff-try"));
    assert!(!seen.headers.contains_key("riff-sent"));
    let stats = api.link().stats();
    assert_eq!(
        (stats.calls, stats.tries, stats.repeats, stats.faults),
        (1, 1, 0, 0)
    );
}

#[tokio::test]
async fn a_front_ends_502_is_waited_out() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![reply(502, "", "<h1>Bad gateway</h1>")],
        1 => vec![reply(504, "", ""), Step::Close],
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    let stats = api.link().stats();
    assert_eq!(
        (stats.calls, stats.tries, stats.faults, stats.swaps),
        (1, 3, 0, 0)
    );
}

#[tokio::test]
async fn a_busy_servers_word_is_the_error_of_a_spent_budget() {
    let server = Server::new(|_| no(503, "unavailable", "")).await;
    let api = api_with(&server.base(), STEADY);
    let error = soon(who(&api).within(Duration::from_secs(1)).into_future())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "the server is busy: because");
    assert!(matches!(error, CallError::Unknown { call: None, .. }));
    let stats = api.link().stats();
    assert!(stats.tries > 2, "{stats:?}");
    assert_eq!((stats.faults, stats.swaps), (0, 0));
    assert!(matches!(*api.link().state().borrow(), State::Down { .. }));
}

#[tokio::test]
async fn retry_after_replaces_a_shorter_wait() {
    let server = Server::new(|seen| match seen.number {
        0 => no(503, "busy", "retry-after: 1\r\n"),
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    let began = now();
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn retry_after_beyond_the_budget_ends_the_call_now() {
    let server = Server::new(|_| vec![reply(503, "retry-after: 120\r\n", "")]).await;
    let api = api(&server.base());
    let began = now();
    let error = soon(who(&api).into_future()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a front end answered 503 (come again in 2 min)"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn retry_after_that_is_no_number_or_stands_twice_is_ignored() {
    let server = Server::new(|seen| match seen.number {
        0 => no(503, "busy", "retry-after: 120junk\r\n"),
        1 => no(429, "busy", "retry-after: 120\r\nretry-after: 120\r\n"),
        _ => yes("7"),
    })
    .await;
    assert_eq!(soon(who(&api(&server.base())).into_future()).await, Ok(7));
}

#[tokio::test]
async fn a_sign_in_page_is_not_our_server_and_is_not_shown() {
    let server = Server::new(|_| vec![reply(200, "content-type: text/html\r\n", "12")]).await;
    let api = api(&server.base());
    let error = soon(who(&api).into_future()).await.unwrap_err();
    assert_eq!(error.to_string(), "not a riff server (status 200)");
    assert_eq!(server.seen().len(), 1);
    assert!(matches!(*api.link().state().borrow(), State::Down { .. }));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::new(|_| yes("7")).await;
    let location = format!("location: {}/v1/who\r\n", elsewhere.base());
    for headers in ["", BUILD] {
        let headers = format!("{headers}{location}");
        let server = Server::new(move |_| vec![reply(302, &headers, "")]).await;
        let error = soon(who(&api(&server.base())).into_future())
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "not a riff server (status 302)");
        assert_eq!(server.seen().len(), 1);
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_no_ends_a_query_with_its_code_and_its_text() {
    let server = Server::new(|_| no(404, "no_route", "")).await;
    let api = api(&server.base());
    let refused = Refused {
        status: 404,
        code: "no_route".into(),
        detail: "because".into(),
    };
    let error = soon(who(&api).into_future()).await;
    assert_eq!(error, Err(CallError::Refused(refused)));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(*api.link().state().borrow(), State::Up);
}

#[tokio::test]
async fn another_build_is_a_refusal_of_the_link() {
    let newer = "riff-build: 2.0 0.9.0 - -\r\n";
    let server = Server::new(move |seen| match seen.number {
        0 => vec![reply(200, newer, "7")],
        1 => no(412, "other_build", ""),
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    for says in ["speaks line 1.0, the server 2.0", "because"] {
        let error = soon(who(&api).into_future()).await.unwrap_err();
        let CallError::Refused(refused) = &error else {
            panic!("{error}")
        };
        assert_eq!(refused.code, "other_build");
        let state = api.link().state().borrow().clone();
        assert!(
            matches!(&state, State::Refused { text } if text.contains(says)),
            "{state:?}"
        );
    }
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(*api.link().state().borrow(), State::Up);
}

#[tokio::test]
async fn a_reply_of_another_shape_is_told_and_not_asked_for_again() {
    let server = Server::new(|_| yes(r#"{"a":1}"#)).await;
    let error = soon(who(&api(&server.base())).into_future())
        .await
        .unwrap_err();
    assert!(matches!(
        &error,
        CallError::Unknown {
            cause: Cause::Undecodable { .. },
            ..
        }
    ));
    assert!(
        error.to_string().starts_with("the reply cannot be read: "),
        "{error}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_reply_without_a_body_is_nothing() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Send(format!("HTTP/1.1 204 X\r\n{BUILD}\r\n").into())],
        1 => yes(""),
        _ => yes("null"),
    })
    .await;
    let api = api(&server.base());
    for _ in 0..3 {
        let call = api.request(&crate::fixture::WHO).call::<()>();
        assert_eq!(soon(call.into_future()).await, Ok(()));
    }
}

#[tokio::test]
async fn signals_of_one_link_are_numbered_and_are_tried_as_often_as_their_budget_says() {
    let server = Server::new(|seen| match seen.number {
        0 => yes("1"),
        1 => vec![Step::Close],
        _ => yes("3"),
    })
    .await;
    let api = api(&server.base());
    let alive = || api.request(&ALIVE).body(&()).call::<u64>().into_future();
    assert_eq!(soon(alive()).await, Ok(1));
    assert!(matches!(
        soon(alive()).await,
        Err(CallError::Unknown { call: None, .. })
    ));
    assert_eq!(soon(alive()).await, Ok(3));
    let sent: Vec<String> = server
        .seen()
        .iter()
        .map(|seen| seen.header("riff-sent").into())
        .collect();
    let id: String = sent[0].chars().take(8).collect();
    assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let expected: Vec<String> = (1..=3).map(|number| format!("{id}.{number}")).collect();
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn the_budget_cuts_the_open_try() {
    let server = Server::new(|_| vec![Step::Hang]).await;
    let limits = link_wire::Limits {
        attempt: Duration::from_secs(15),
        ..LIMITS
    };
    let api = api_with(&server.base(), limits);
    let began = now();
    let error = soon(who(&api).within(Duration::from_millis(150)).into_future()).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    let Err(CallError::Unknown {
        cause: Cause::Silent { after },
        ..
    }) = error
    else {
        panic!("{error:?}");
    };
    assert!(after <= Duration::from_millis(150));
}

#[tokio::test]
async fn a_body_that_trickles_ends_with_the_budget_and_one_that_stops_with_the_try() {
    let head = format!("HTTP/1.1 200 X\r\n{BUILD}content-length: 1000\r\n\r\n");
    let server = Server::new(move |seen| {
        let mut steps = vec![Step::Send(head.clone().into())];
        if seen.number == 0 {
            for _ in 0..100 {
                steps.extend([Step::Send(b" ".to_vec()), Step::Pause(20)]);
            }
        }
        steps.push(Step::Hang);
        steps
    })
    .await;
    let api = api(&server.base());
    let error = soon(who(&api).within(Duration::from_millis(700)).into_future()).await;
    let Err(CallError::Unknown { cause, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(cause.to_string(), "the budget of 700 ms is spent");
    let alive = api.request(&ALIVE).body(&()).call::<u64>();
    let error = soon(alive.into_future()).await;
    let Err(CallError::Unknown { cause, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(cause.to_string(), "no byte for 400 ms");
}

#[tokio::test]
async fn watchers_are_told_of_down_and_of_back() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Reset],
        1 => vec![
            Step::Pause(100),
            Step::Send(Vec::new()),
            reply(200, BUILD, "7"),
        ],
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    let mut state = api.link().state();
    let call = tokio::spawn(who(&api).into_future());
    until_down(&mut state).await;
    assert_eq!(soon(call).await.unwrap(), Ok(7));
    assert_eq!(*state.borrow(), State::Up);
}

#[expect(clippy::disallowed_methods, reason = "real sockets run in real time")]
fn now() -> Instant {
    Instant::now()
}
