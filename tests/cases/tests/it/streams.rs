//! Streams that end in each way a network has: what comes after it, and what is lost.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use faults::{Events, Gate, Origin, Script, Step};
use riff_link::{
    Limits,
    client::{State, StreamError, StreamItem},
};
use tokio::time::sleep;

use crate::fixture::{
    BUILD, LIMITS, PATIENT, after, api_with, message, ms, next, no, page, ready, soon, thread,
};

#[tokio::test]
async fn a_resumed_stream_that_dies_before_its_first_event_asks_from_the_same_cursor() {
    let server = Origin::start(Script::streams(
        |open, _| match open {
            0 => ready(4).event(5, &message(5)).cut(),
            // Before it is ready, before its catch-up, and in each way.
            1 => Events::head(BUILD).cut(),
            2 => Events::head(BUILD).reset(),
            3 => ready(5).cut(),
            4 => ready(5).reset(),
            5 => vec![Step::Close],
            6 => vec![Step::Reset],
            _ => ready(7).freeze(),
        },
        |seen| page(after(seen) + 1..=7),
    ))
    .unwrap();
    let limits = Limits {
        stream_retry: ms(20),
        ..PATIENT
    };
    let api = api_with(&server.base(), limits);
    let mut tail = api.tail(&thread());
    for seq in 5..=7 {
        assert_eq!(next(&mut tail).await, seq);
    }
    let told = server.stop().await;
    let asked: Vec<_> = told
        .requests
        .iter()
        .filter(|seen| !seen.asks_for_events())
        .map(after)
        .collect();
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|&after| after == 5), "{asked:?}");
}

#[tokio::test]
async fn a_resumed_stream_that_dies_after_its_catch_up_asks_from_the_new_cursor() {
    let server = Origin::start(Script::streams(
        |open, _| match open {
            0 => ready(4).event(5, &message(5)).cut(),
            1 | 2 => ready(6).idle(ms(30)).cut(),
            _ => ready(6).event(7, &message(7)).freeze(),
        },
        |seen| page(after(seen) + 1..=6),
    ))
    .unwrap();
    let api = api_with(&server.base(), PATIENT);
    let mut tail = api.tail(&thread());
    for seq in 5..=7 {
        assert_eq!(next(&mut tail).await, seq);
    }
    let told = server.stop().await;
    let asked = told.requests.iter().filter(|seen| !seen.asks_for_events());
    assert_eq!(asked.map(after).collect::<Vec<_>>(), [5, 6, 6]);
}

#[tokio::test]
async fn a_stream_that_is_never_let_in_ends_refused_and_is_not_opened_again() {
    let server = Origin::start(Script::streams(
        |_, _| no(401, "unauthenticated", ""),
        |_| no(401, "unauthenticated", ""),
    ))
    .unwrap();
    let api = api_with(&server.base(), LIMITS);
    let mut tail = api.tail(&thread()).after(3);
    let error = soon(tail.next()).await.unwrap().unwrap_err();
    assert!(
        matches!(&error, StreamError::Refused(no) if no.status == 401 && no.code == "unauthenticated"),
        "{error:?}"
    );
    assert!(soon(tail.next()).await.is_none());
    sleep(ms(200)).await;
    assert_eq!(server.stop().await.requests.len(), 1);
    assert!(matches!(
        *api.link().state().borrow(),
        State::Refused { .. }
    ));
}

#[tokio::test]
async fn a_stream_whose_token_ends_while_it_is_open_ends_refused_at_the_next_open() {
    let server = Origin::start(Script::streams(
        |open, _| match open {
            0 => ready(4).event(5, &message(5)).end(),
            _ => no(401, "unauthenticated", ""),
        },
        |seen| panic!("{seen:?}"),
    ))
    .unwrap();
    let api = api_with(&server.base(), LIMITS);
    let mut tail = api.tail(&thread());
    assert_eq!(next(&mut tail).await, 5);
    let error = soon(tail.next()).await.unwrap().unwrap_err();
    assert!(matches!(&error, StreamError::Refused(no) if no.status == 401));
    assert_eq!(server.stop().await.requests.len(), 2);
}

#[tokio::test]
async fn no_content_ends_a_stream_for_good() {
    let server = Origin::start(Script::streams(
        |_, _| vec![Step::Send(faults::reply(204, BUILD, ""))],
        |seen| panic!("{seen:?}"),
    ))
    .unwrap();
    let api = api_with(&server.base(), LIMITS);
    let mut tail = api.tail(&thread());
    assert!(soon(tail.next()).await.is_none());
    assert_eq!(server.stop().await.requests.len(), 1);
}

/// More than the client reads ahead and the systems of both ends hold.
const EVENTS: u64 = 40_000;

#[tokio::test]
async fn a_consumer_that_stops_reading_for_longer_than_a_stream_may_be_silent_is_no_fault() {
    let server = Origin::start(Script::streams(
        |_, _| {
            let event = |seq| format!("id: {seq}\ndata: {}\n\n", message(seq)).into_bytes();
            let text: Vec<u8> = (1..=EVENTS).flat_map(event).collect();
            ready(0).say(&text).freeze()
        },
        |seen| panic!("{seen:?}"),
    ))
    .unwrap();
    let limits = Limits {
        stream_idle: ms(150),
        ..PATIENT
    };
    let api = api_with(&server.base(), limits);
    let mut tail = api.tail(&thread());
    assert_eq!(next(&mut tail).await, 1);
    sleep(ms(600)).await;
    for seq in 2..=EVENTS {
        assert_eq!(next(&mut tail).await, seq);
    }
    assert_eq!(api.link().stats().faults, 0);
    assert_eq!(server.stop().await.requests.len(), 1);
}

/// With these a wait before an open is seen: a test would take too long.
const AT_ONCE: Limits = Limits {
    first_wait: ms(60_000),
    most_wait: ms(60_000),
    stream_retry: ms(60_000),
    ..PATIENT
};

/// Reads a hundred messages of a server that ends each stream, by `end`, after some of them. Two
/// more come while no stream is open.
async fn through_ends(limits: Limits, end: impl Fn(Events) -> Vec<Step> + Send + Sync + 'static) {
    let newest = Arc::new(AtomicU64::new(0));
    let known = newest.clone();
    let server = Origin::start(Script::streams(
        move |open, _| {
            let away = if open == 0 { 0 } else { 2 };
            let at = newest.load(Ordering::SeqCst) + away;
            let some = u64::try_from(open % 4).unwrap();
            let mut events = ready(at);
            for seq in at + 1..=at + some {
                events = events.event(seq, &message(seq));
            }
            // The catch-up gives these too.
            newest.store(at + some, Ordering::SeqCst);
            end(events.idle(ms(15)))
        },
        move |seen| page(after(seen) + 1..=known.load(Ordering::SeqCst)),
    ))
    .unwrap();
    let api = api_with(&server.base(), limits);
    let mut tail = api.tail(&thread()).after(0);
    for seq in 1..=100 {
        assert_eq!(next(&mut tail).await, seq);
    }
    let opens = server.stop().await.requests;
    assert!(opens.iter().filter(|seen| seen.asks_for_events()).count() > 10);
}

#[tokio::test]
async fn a_server_that_ends_each_stream_after_a_while_loses_nothing_and_gives_nothing_twice() {
    through_ends(AT_ONCE, Events::end).await;
}

#[tokio::test]
async fn a_network_that_cuts_each_stream_after_a_while_loses_nothing_and_gives_nothing_twice() {
    through_ends(AT_ONCE, Events::cut).await;
    // A reset takes back what was not read yet, so an open may fail and be waited for.
    through_ends(PATIENT, Events::reset).await;
}

#[tokio::test]
async fn a_gate_before_an_event_is_no_fault_while_comments_come() {
    let gate = Gate::shut();
    let waits = gate.clone();
    let server = Origin::start(Script::streams(
        move |_, _| {
            let mut events = ready(0);
            for _ in 0..10 {
                events = events.say(b": alive\n").idle(ms(40));
            }
            events.wait(&waits).event(1, &message(1)).freeze()
        },
        |seen| panic!("{seen:?}"),
    ))
    .unwrap();
    let limits = Limits {
        stream_idle: ms(300),
        ..PATIENT
    };
    let api = api_with(&server.base(), limits);
    let mut tail = api.tail(&thread());
    gate.open();
    match soon(tail.next()).await {
        Some(Ok(StreamItem::Event(message))) => assert_eq!(message.seq, 1),
        other => panic!("{other:?}"),
    }
    assert_eq!(api.link().stats().faults, 0);
    assert_eq!(server.stop().await.requests.len(), 1);
}
