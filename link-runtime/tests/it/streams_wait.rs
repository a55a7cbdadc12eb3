//! Streams that meet silence, a busy server, or a reader that stops.

use std::time::Duration;

use link_runtime::{Cause, State, StreamItem};
use tokio::time::{sleep, timeout};

use crate::{
    fixture::{LIMITS, api, soon, tail, until, until_down},
    server::{Seen, Server, Step, chunk, end, no, reply, stream},
    threads::{afters, events, numbers, opens, page, server},
};

#[tokio::test]
async fn a_silent_stream_is_opened_again_and_comments_are_life() {
    let server = server(
        |opened| {
            if opened > 0 {
                return vec![stream(": ready 1\n\n"), chunk(&events([2])), Step::Hang];
            }
            let mut steps = vec![stream(": ready 0\n\n"), chunk(&events([1]))];
            for _ in 0..8 {
                steps.extend([Step::Pause(100), chunk(":\n\n")]);
            }
            steps.push(Step::Hang);
            steps
        },
        |_| page([], 0, false),
    )
    .await;
    let api = api(&server.base());
    let mut state = api.link().state();
    let mut tail = tail(&api);
    assert_eq!(numbers(&mut tail, 1).await, [1]);
    // Twice the idle limit passes in comments.
    sleep(Duration::from_millis(700)).await;
    assert_eq!(opens(&server), 1);
    until_down(&mut state).await;
    assert_eq!(numbers(&mut tail, 1).await, [2]);
    until(|| server.left() == 1).await;
    assert_eq!(*api.link().state().borrow(), State::Up);
}

#[tokio::test]
async fn a_consumer_that_stops_reading_is_no_fault() {
    const EVENTS: u64 = 50_000;
    let server = server(
        |_| {
            let mut steps = vec![stream(": ready 0\n\n")];
            for from in (0..EVENTS).step_by(1_000) {
                steps.push(chunk(&events(from + 1..=from + 1_000)));
            }
            for _ in 0..100 {
                steps.extend([Step::Pause(50), chunk(":\n\n")]);
            }
            steps.push(Step::Hang);
            steps
        },
        |_| page([], 0, false),
    )
    .await;
    let api = api(&server.base());
    let mut tail = tail(&api);
    assert_eq!(numbers(&mut tail, 1).await, [1]);
    sleep(LIMITS.stream_idle * 3).await;
    let got = numbers(&mut tail, usize::try_from(EVENTS).unwrap() - 1).await;
    assert!(got.into_iter().eq(2..=EVENTS));
    assert_eq!((opens(&server), api.link().stats().faults), (1, 0));
    assert_eq!(*api.link().state().borrow(), State::Up);
}

#[tokio::test]
async fn next_may_be_dropped_at_any_time() {
    let server = server(
        |_| {
            let mut steps = vec![stream(": ready 0\n\n")];
            for seq in 1..=40 {
                steps.extend([Step::Pause(3), chunk(&events([seq]))]);
            }
            steps.push(Step::Hang);
            steps
        },
        |_| page([], 0, false),
    )
    .await;
    let mut tail = tail(&api(&server.base()));
    let mut got = Vec::new();
    while got.len() < 40 {
        match timeout(Duration::from_millis(1), tail.next()).await {
            Ok(Some(Ok(StreamItem::Event(message)))) => got.push(message.seq),
            Ok(other) => panic!("{other:?}"),
            Err(_) => {}
        }
    }
    assert!(got.into_iter().eq(1..=40));
}

#[tokio::test]
async fn a_stream_waits_for_a_server_that_is_not_there_yet() {
    let (base, address) = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (format!("http://{address}"), address)
    };
    let api = api(&base);
    let mut state = api.link().state();
    let mut tail = tail(&api);
    let first = tokio::spawn(async move { numbers(&mut tail, 1).await });
    until_down(&mut state).await;
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let script = |_: &Seen| vec![stream(": ready 0\n\n"), chunk(&events([1])), Step::Hang];
    let _server = Server::on(listener, script);
    assert_eq!(soon(first).await.unwrap(), [1]);
    assert_eq!(*state.borrow(), State::Up);
}

#[tokio::test]
async fn a_stream_asks_a_busy_server_and_a_failed_one_again() {
    let server = server(
        |opened| match opened {
            0 => no(503, "unavailable", "retry-after: 0\r\n"),
            1 => vec![reply(502, "", "<html>")],
            2 => no(500, "failed", ""),
            3 => no(429, "busy", ""),
            _ => vec![stream(": ready 0\n\n"), chunk(&events([1])), Step::Hang],
        },
        |_| page([], 0, false),
    )
    .await;
    assert_eq!(numbers(&mut tail(&api(&server.base())), 1).await, [1]);
    assert_eq!(opens(&server), 5);
}

#[tokio::test]
async fn a_server_says_how_long_to_wait_after_a_fault() {
    let server = server(
        |opened| match opened {
            0 => vec![stream("retry: 400\n: ready 0\n\n"), end(), Step::Close],
            1 | 2 => vec![Step::Close],
            _ => vec![stream(": ready 0\n\n"), chunk(&events([1])), Step::Hang],
        },
        |_| page([], 0, false),
    )
    .await;
    let mut tail = tail(&api(&server.base()));
    // 200 to 400 ms; without the server's word 30 to 60 ms.
    let early = timeout(Duration::from_millis(150), tail.next()).await;
    assert!(early.is_err(), "{early:?}");
    assert_eq!(numbers(&mut tail, 1).await, [1]);
}

#[tokio::test]
async fn a_stream_that_does_not_get_ready_is_a_fault() {
    let server = server(
        |opened| match opened {
            0 => vec![stream(":\n\n"), Step::Hang],
            1 => vec![stream(":\n\n"), end(), Step::Close],
            _ => vec![stream(": ready 0\n\n"), chunk(&events([1])), Step::Hang],
        },
        |_| page([], 0, false),
    )
    .await;
    let api = api(&server.base());
    assert_eq!(numbers(&mut tail(&api), 1).await, [1]);
    assert_eq!(api.link().stats().faults, 2);
}

#[tokio::test]
async fn a_catch_up_without_an_answer_is_a_fault_of_the_stream() {
    let failing = std::sync::atomic::AtomicBool::new(true);
    let server = server(
        |_| vec![stream(": ready 5\n\n"), Step::Hang],
        move |after| {
            if failing.swap(false, std::sync::atomic::Ordering::SeqCst) {
                return vec![reply(503, "retry-after: 3600\r\n", "")];
            }
            page(after + 1..=5, 0, false)
        },
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(3);
    assert_eq!(numbers(&mut tail, 2).await, [4, 5]);
    assert_eq!((opens(&server), afters(&server)), (2, vec![3, 3]));
}

#[tokio::test]
async fn a_server_that_fails_at_a_catch_up_is_asked_again() {
    let failing = std::sync::atomic::AtomicBool::new(true);
    let server = server(
        |_| vec![stream(": ready 5\n\n"), Step::Hang],
        move |after| {
            if failing.swap(false, std::sync::atomic::Ordering::SeqCst) {
                return no(500, "failed", "");
            }
            page(after + 1..=5, 0, false)
        },
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(3);
    assert_eq!(numbers(&mut tail, 2).await, [4, 5]);
    assert_eq!((opens(&server), afters(&server)), (2, vec![3, 3]));
}

#[tokio::test]
async fn a_stranger_that_stands_in_for_the_server_later_is_waited_out() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = server(
        |opened| match opened {
            0 => vec![
                stream(": ready 0\n\n"),
                chunk(&events([1])),
                end(),
                Step::Close,
            ],
            1 => vec![reply(404, "", "<html>")],
            2 => vec![reply(
                200,
                "content-type: text/event-stream\r\n",
                "data: 9\n\n",
            )],
            3 => vec![stream(": ready 2\n\n"), Step::Hang],
            _ => vec![stream(": ready 2\n\n"), chunk(&events([3])), Step::Hang],
        },
        move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => vec![reply(500, "", "<html>")],
            _ => page([2], 0, false),
        },
    )
    .await;
    let api = api(&server.base());
    let mut state = api.link().state();
    let mut tail = tail(&api);
    assert_eq!(numbers(&mut tail, 1).await, [1]);
    let waited = async {
        until_down(&mut state).await;
        let state = state.borrow().clone();
        let State::Down { cause, .. } = state else {
            panic!("{state:?}")
        };
        assert!(matches!(cause, Cause::NotOurServer { .. }), "{cause}");
    };
    let ((), numbers) = tokio::join!(waited, numbers(&mut tail, 2));
    assert_eq!(numbers, [2, 3]);
    assert_eq!((opens(&server), afters(&server)), (5, vec![1, 1]));
}

#[tokio::test]
async fn each_stream_has_a_connection_of_its_own() {
    let server = server(
        |_| vec![stream(": ready 0\n\n"), chunk(&events([1])), Step::Hang],
        |_| page([], 0, false),
    )
    .await;
    let api = api(&server.base());
    let mut tails = [tail(&api), tail(&api), tail(&api)];
    for tail in &mut tails {
        assert_eq!(numbers(tail, 1).await, [1]);
    }
    assert_eq!(server.connections(), 3);
}
