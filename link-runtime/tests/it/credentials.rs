//! Tokens that are renewed: when they are asked for, how often, and what a call makes of it.

use std::{
    future::IntoFuture as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use link_runtime::{
    Api, CallError, Cause, Credentials, State, StreamError, StreamItem, TokenError, link,
};
use link_wire::Limits;

use crate::{
    fixture::{LIMITS, PATIENT, SERVICE, claim, soon, tail_unordered, who},
    server::{Seen, Server, Step, chunk, end, no, stream, yes},
};

/// A source of the tokens `token-0`, `token-1` and so on, and how often it was asked.
fn source(asked: &Arc<AtomicUsize>) -> Credentials {
    let asked = Arc::clone(asked);
    Credentials::from_source("ann", move || {
        let n = asked.fetch_add(1, Ordering::SeqCst);
        async move {
            // Long enough for others to want it, too.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(format!("token-{n}"))
        }
    })
}

fn api_of(base: &str, credentials: Credentials, limits: Limits) -> Api {
    Api::new(link::with(base, limits).unwrap(), credentials, &SERVICE)
}

/// A server that knows one token only.
async fn knows(token: &'static str) -> Server {
    Server::new(move |seen| {
        if seen.header("authorization") == format!("Bearer {token}") {
            yes("7")
        } else {
            no(401, "unauthenticated", "")
        }
    })
    .await
}

fn shown(seen: &[Seen]) -> Vec<&str> {
    seen.iter()
        .map(|seen| seen.header("authorization"))
        .collect()
}

#[tokio::test]
async fn a_token_is_asked_for_once_and_renewed_once_when_the_server_does_not_know_it() {
    let server = knows("token-1").await;
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), PATIENT);
    let mut state = api.link().state();
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let seen = server.seen();
    assert_eq!(
        shown(&seen),
        ["Bearer token-0", "Bearer token-1", "Bearer token-1"]
    );
    assert_eq!(seen[0].header("riff-call"), seen[1].header("riff-call"));
    assert_eq!(
        seen[1].header("riff-try"),
        "2",
        "1 is only the first that was sent"
    );
    assert_eq!(
        *state.borrow_and_update(),
        State::Up,
        "a renewal is no state"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_calls_that_are_not_known_ask_once_together() {
    let server = knows("token-1").await;
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), PATIENT);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..100 {
        calls.spawn(claim(&api).into_future());
    }
    let ended = soon(calls.join_all()).await;
    assert!(ended.iter().all(|ended| *ended == Ok(7)));
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // Whose future goes while it is asked holds up nobody.
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), PATIENT);
    let first = tokio::time::timeout(Duration::from_millis(5), claim(&api).into_future());
    let (first, second) = tokio::join!(first, soon(claim(&api).into_future()));
    assert!(first.is_err());
    assert_eq!(second, Ok(7));
}

fn refused() -> CallError {
    CallError::Refused(link_runtime::Refused {
        status: 401,
        code: "unauthenticated".into(),
        detail: "because".into(),
    })
}

#[tokio::test]
async fn a_server_that_knows_no_token_is_asked_twice_and_the_call_is_refused() {
    let server = Server::new(|_| no(401, "unauthenticated", "")).await;
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), PATIENT);
    assert_eq!(soon(claim(&api).into_future()).await, Err(refused()));
    assert_eq!((asked.load(Ordering::SeqCst), server.seen().len()), (2, 2));
    let state = api.link().state().borrow().clone();
    assert!(matches!(state, State::Refused { .. }), "{state:?}");
}

#[tokio::test]
async fn a_source_with_the_same_token_or_none_ends_the_call_and_nothing_prints_the_token() {
    let server = Server::new(|_| no(401, "unauthenticated", "")).await;
    let same = Credentials::from_source("ann", || async { Ok("secret".to_owned()) });
    assert!(!format!("{same:?}").contains("secret"));
    let api = api_of(&server.base(), same, PATIENT);
    assert_eq!(soon(claim(&api).into_future()).await, Err(refused()));
    assert_eq!(server.seen().len(), 1, "another try would end the same");

    let none = Credentials::from_source("ben", || async {
        let why = "sign in first".into();
        Err::<String, _>(TokenError::Never { why })
    });
    let api = api_of(&server.base(), none, PATIENT);
    let ended = soon(claim(&api).into_future()).await.unwrap_err();
    assert_eq!(ended.to_string(), "not sent: no token: sign in first");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_source_that_is_away_is_asked_again_within_the_budget() {
    let server = knows("late").await;
    let asked = Arc::new(AtomicUsize::new(0));
    let away = {
        let asked = Arc::clone(&asked);
        Credentials::from_source("ann", move || {
            let n = asked.fetch_add(1, Ordering::SeqCst);
            async move {
                if n < 3 {
                    let why = "no network".into();
                    return Err(TokenError::Later { why });
                }
                Ok("late".to_owned())
            }
        })
    };
    let api = api_of(&server.base(), away, LIMITS);
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    let hangs = Credentials::from_source("ben", std::future::pending);
    let api = api_of(&server.base(), hangs, LIMITS);
    let call = claim(&api).within(Duration::from_millis(50));
    let ended = soon(call.into_future()).await.unwrap_err();
    assert!(
        matches!(
            &ended,
            CallError::NotSent {
                cause: Cause::Token { .. }
            }
        ),
        "{ended}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn after_a_try_that_may_have_arrived_a_401_says_nothing_of_it() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Close],
        _ => no(401, "unauthenticated", ""),
    })
    .await;
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), LIMITS);
    let ended = soon(claim(&api).into_future()).await.unwrap_err();
    assert!(
        matches!(&ended, CallError::Unknown { cause: Cause::NoAfterTry(no), .. } if no.status == 401),
        "{ended}"
    );
}

#[tokio::test]
async fn a_stream_is_renewed_once_at_each_open_and_ends_where_that_does_not_help() {
    let good = Arc::new(Mutex::new("token-1"));
    let server = {
        let good = Arc::clone(&good);
        Server::new(move |seen| {
            let good = *good.lock().unwrap();
            if seen.header("authorization") == format!("Bearer {good}") {
                vec![stream(": ready\n\n"), chunk("data: {\"seq\":1}\n\n"), end()]
            } else {
                no(401, "unauthenticated", "")
            }
        })
        .await
    };
    let asked = Arc::default();
    let api = api_of(&server.base(), source(&asked), LIMITS);
    let mut events = tail_unordered(&api);
    let item = soon(events.next()).await.unwrap().unwrap();
    assert!(matches!(item, StreamItem::Event(_)), "{item:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    *good.lock().unwrap() = "nobody";
    let ended = loop {
        match soon(events.next()).await {
            Some(Ok(_)) => {}
            Some(Err(error)) => break error,
            None => panic!("it ended without a word"),
        }
    };
    assert!(
        matches!(&ended, StreamError::Refused(no) if no.status == 401),
        "{ended}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 3, "one renewal, and no loop");
}
