//! Streams that end for good: by the server's word, or by what cannot be read.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use link_runtime::{EventStream, State, StreamError, StreamItem};

use crate::{
    fixture::{HISTORY, LIMITS, Message, SERVICE, TAIL, api, soon, tail, tail_unordered},
    server::{BUILD, Server, Step, chunk, no, reply, stream},
    threads::{afters, events, numbers, page, server},
};

/// The one error of a stream, after which it has ended.
async fn error(tail: &mut EventStream<Message>) -> StreamError {
    let error = match soon(tail.next()).await {
        Some(Err(error)) => error,
        other => panic!("{other:?}"),
    };
    for _ in 0..2 {
        assert_eq!(soon(tail.next()).await, None);
    }
    error
}

#[tokio::test]
async fn no_content_ends_a_stream() {
    let server = Server::new(|_| {
        vec![Step::Send(
            format!("HTTP/1.1 204 No Content\r\n{BUILD}\r\n").into(),
        )]
    })
    .await;
    let mut tail = tail(&api(&server.base()));
    assert_eq!(soon(tail.next()).await, None);
    assert_eq!(soon(tail.next()).await, None);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_refusal_ends_a_stream_and_is_not_asked_for_again() {
    for (status, code) in [
        (401, "unauthenticated"),
        (403, "x"),
        (404, "no_route"),
        (410, "x"),
    ] {
        let server = Server::new(move |_| no(status, code, "")).await;
        let api = api(&server.base());
        let StreamError::Refused(refused) = error(&mut tail(&api)).await else {
            panic!("{status}")
        };
        assert_eq!((refused.status, refused.code.as_str()), (status, code));
        tokio::time::sleep(LIMITS.stream_retry * 2).await;
        assert_eq!(server.seen().len(), 1);
        let refused = matches!(*api.link().state().borrow(), State::Refused { .. });
        assert_eq!(refused, status == 401);
    }
}

#[tokio::test]
async fn another_build_ends_a_stream_and_sets_the_link_refused() {
    let server = Server::new(|_| {
        let headers = "riff-build: 2.0 1 - -\r\ncontent-type: text/event-stream\r\n";
        vec![reply(200, headers, ": ready 0\n\ndata: 1\n\n")]
    })
    .await;
    let api = api(&server.base());
    let StreamError::Refused(refused) = error(&mut tail(&api)).await else {
        panic!()
    };
    assert_eq!(refused.code, "other_build");
    assert!(matches!(
        *api.link().state().borrow(),
        State::Refused { .. }
    ));
}

#[tokio::test]
async fn a_strangers_page_ends_a_stream_and_is_not_shown() {
    let server = Server::new(|_| {
        vec![reply(
            200,
            "content-type: text/event-stream\r\n",
            "data: {\"seq\":1}\n\n",
        )]
    })
    .await;
    let error = error(&mut tail(&api(&server.base()))).await;
    assert_eq!(
        error,
        StreamError::NotOurServer {
            service: SERVICE.name,
            status: 200
        }
    );
    assert_eq!(error.to_string(), "not a riff server (status 200)");
}

#[tokio::test]
async fn a_yes_that_is_no_event_stream_ends_a_stream() {
    let server = Server::new(|_| vec![reply(200, BUILD, "7")]).await;
    let error = error(&mut tail(&api(&server.base()))).await;
    assert!(
        matches!(error, StreamError::Undecodable { cursor: None, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn an_event_that_cannot_be_read_ends_a_stream_after_those_before_it() {
    let server = Server::new(|_| {
        let events = "data: {\"seq\":1}\n\ndata: {\"seq\":\"two\"}\n\ndata: {\"seq\":3}\n\n";
        vec![stream(": ready 0\n\n"), chunk(events), Step::Hang]
    })
    .await;
    let mut tail = tail(&api(&server.base()));
    let first = soon(tail.next()).await;
    assert_eq!(first, Some(Ok(StreamItem::Event(Message { seq: 1 }))));
    let error = error(&mut tail).await;
    assert!(
        matches!(
            error,
            StreamError::Undecodable {
                cursor: Some(1),
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_line_without_an_end_ends_a_stream_at_the_cap() {
    let server = Server::new(|_| {
        let piece = chunk(&"x".repeat(64 << 10));
        let mut steps = vec![stream(": ready 0\n\n"), chunk("data: {\"seq\":1}\n\n")];
        steps.extend(std::iter::repeat_n(piece, 65));
        steps.push(Step::Hang);
        steps
    })
    .await;
    let mut tail = tail_unordered(&api(&server.base()));
    assert!(matches!(
        soon(tail.next()).await,
        Some(Ok(StreamItem::Event(_)))
    ));
    let error = error(&mut tail).await;
    assert_eq!(
        error.to_string(),
        "an event cannot be read: a line has more than 4 MiB"
    );
}

#[tokio::test]
async fn a_refused_catch_up_ends_a_stream() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![stream(": ready 9\n\n"), Step::Hang],
        _ => no(410, "gone", ""),
    })
    .await;
    let mut tail = tail(&api(&server.base())).after(3);
    let StreamError::Refused(refused) = error(&mut tail).await else {
        panic!()
    };
    assert_eq!(refused.code, "gone");
}

#[tokio::test]
async fn a_page_that_cannot_be_read_ends_a_stream_at_its_cursor() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![stream(": ready 9\n\n"), Step::Hang],
        _ => vec![reply(200, BUILD, r#"{"items":[{"seq":"x"}]}"#)],
    })
    .await;
    let error = error(&mut tail(&api(&server.base())).after(3)).await;
    assert!(
        matches!(
            error,
            StreamError::Undecodable {
                cursor: Some(3),
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_strangers_page_before_a_stream_was_caught_up_with_ends_it() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![stream(": ready 9\n\n"), Step::Hang],
        _ => vec![reply(404, "", "<html>")],
    })
    .await;
    let error = error(&mut tail(&api(&server.base())).after(3)).await;
    assert_eq!(error.to_string(), "not a riff server (status 404)");
}

#[tokio::test]
async fn a_catch_up_that_gives_nothing_three_times_in_a_row_ends_a_stream() {
    let asked = AtomicUsize::new(0);
    let server = server(
        |_| vec![stream(": ready 9\n\n"), Step::Hang],
        // Twice nothing, then something, then nothing for ever.
        move |after| match asked.fetch_add(1, Ordering::SeqCst) {
            2 => page([4], 0, true),
            _ => page([after], 0, true),
        },
    )
    .await;
    let mut tail = tail(&api(&server.base())).after(3);
    assert_eq!(numbers(&mut tail, 1).await, [4]);
    let error = error(&mut tail).await;
    assert_eq!(error, StreamError::NoProgress { cursor: 4 });
    assert_eq!(
        error.to_string(),
        "the catch-up query says that more follows after 4, and gives nothing"
    );
    assert_eq!(afters(&server), [3, 3, 3, 4, 4, 4]);
}

/// What `next` panics with, after which the stream has ended.
async fn panic_of<E>(tail: EventStream<E>) -> String
where
    E: serde::de::DeserializeOwned + Send + 'static,
{
    let tail = Arc::new(tokio::sync::Mutex::new(tail));
    let reader = tail.clone();
    let next = tokio::spawn(async move { reader.lock().await.next().await.is_some() });
    let panic = soon(next).await.unwrap_err().into_panic();
    for _ in 0..2 {
        assert!(soon(tail.lock().await.next()).await.is_none());
    }
    (*panic.downcast_ref::<&str>().unwrap()).to_owned()
}

#[tokio::test]
async fn a_panic_of_the_readers_own_code_is_not_an_end_by_the_server() {
    #[derive(Debug, PartialEq)]
    struct Fragile;
    impl<'de> serde::Deserialize<'de> for Fragile {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            panic!("this type reads nothing")
        }
    }
    let server = Server::new(|_| {
        let ready = stream(": ready 0\n\n");
        vec![ready, chunk(&events([1])), Step::Hang]
    })
    .await;
    let api = api(&server.base());
    let request = |route| api.request(route).path("thread", &"t");
    let fragile = request(&TAIL).stream::<Fragile>();
    assert_eq!(panic_of(fragile).await, "this type reads nothing");

    let cursor = |_: &Message| panic!("this event has no cursor");
    let unordered = request(&TAIL).stream::<Message>();
    let ordered = unordered.ordered(cursor, request(&HISTORY));
    assert_eq!(panic_of(ordered).await, "this event has no cursor");
}

#[tokio::test]
async fn a_request_at_fault_is_a_stream_that_was_never_opened() {
    let api = api("http://127.0.0.1:9");
    let mut tail = api.request(&TAIL).path("thread", &"").stream::<Message>();
    let StreamError::NotSent { cause } = error(&mut tail).await else {
        panic!()
    };
    assert!(cause.to_string().contains("`thread`"), "{cause}");
    assert_eq!(api.link().stats().tries, 0);
}

#[tokio::test]
async fn a_server_that_ends_each_stream_at_once_is_not_asked_in_a_spin() {
    let server = Server::new(|_| vec![stream(": ready\n\n"), Step::Close]).await;
    let mut tail = tail_unordered(&api(&server.base()));
    let reading = async { while tail.next().await.is_some() {} };
    let ended = tokio::time::timeout(Duration::from_millis(600), reading).await;
    assert!(ended.is_err(), "the stream goes on");
    let opens = server.seen().len();
    // Three at once, then waits up to `stream_retry`, each at least half.
    assert!((4..30).contains(&opens), "{opens}");
}
