//! What takes seconds on a wire, in a time that tests set: waits for a write, a body, a head.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{body::Body, extract::Request, response::Response};
use futures_util::{StreamExt as _, stream};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use link_wire::{Build, Caller, Headers, Kind, Limits, Route, Service};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    time::{Instant, timeout},
};

use super::{
    Inner,
    connection::{Speaks, connection},
    order,
    who::Peer,
};
use crate::{
    Accepted, Authenticate, Engine, Handler, MemoryJournal, Record, Server, State,
    auth::{AuthUnavailable, Credentials},
    decision, reply,
};

const fn route(name: &'static str, kind: Kind, method: &'static str, path: &'static str) -> Route {
    Route {
        name,
        kind,
        method,
        path,
        budget: None,
        outbox: link_wire::OutboxRule::Keep,
        line: 1,
    }
}

static ROUTES: [Route; 2] = [
    route("large", Kind::Query, "GET", "/v1/large"),
    route("tick", Kind::Command, "POST", "/v1/tick"),
];

static SERVICE: Service = Service {
    name: "riff",
    headers: Headers {
        build: "riff-build",
        call: "riff-call",
        caller: "riff-caller",
        attempt: "riff-try",
        sent: "riff-sent",
        repeat: "riff-repeat",
        refused: "riff-refused",
        log: "riff-log",
        ack: "riff-ack",
        budget: "riff-budget",
    },
    build: Build {
        line: "1.1",
        version: "0.1.0",
        commit: None,
        time: None,
    },
    limits: Limits::DEFAULT,
    routes: &ROUTES,
};

#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
struct Ticks(u64);

impl State for Ticks {
    type Change = ();

    fn apply(&mut self, _: &Record<()>) {
        self.0 += 1;
    }
}

struct Anybody;

impl Authenticate for Anybody {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        let token = who.token().unwrap_or_default();
        assert_ne!(token, "panic", "a look-up that panics");
        if token == "away" {
            return Err(AuthUnavailable::new("nobody answers"));
        }
        Ok(token.parse().ok())
    }
}

fn server(journal: &MemoryJournal) -> Arc<Inner<Ticks>> {
    let engine = Engine::open(journal.clone(), Ticks::default()).unwrap();
    let handlers = vec![
        Handler::query(&ROUTES[0], |_, _, _| reply(Ok("x".repeat(100_000)))),
        Handler::command(&ROUTES[1], |state: &Ticks, _, _| {
            decision(Ok(Accepted::new((), state.0 + 1)))
        }),
    ];
    let server = Server::new(&SERVICE, engine, handlers).authenticate(Anybody);
    Arc::new(server.inner)
}

fn tick(headers: &[(&str, &str)], body: Body) -> Request {
    let mut request = http::Request::post("/v1/tick").header("authorization", "Bearer ann");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body).unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).map(|v| v.to_str().unwrap())
}

/// The status, the code and the detail of a no.
async fn no(response: Response) -> (u16, String, String) {
    assert_eq!(header(&response, "riff-build"), Some("1.1 0.1.0 - -"));
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await;
    let json: Value = serde_json::from_slice(&body.unwrap()).unwrap();
    let text = |name: &str| json[name].as_str().unwrap().to_owned();
    (status, text("code"), text("detail"))
}

#[tokio::test(start_paused = true)]
async fn a_command_without_an_id_whose_write_takes_long_is_not_told_to_come_again() {
    let journal = MemoryJournal::new();
    let server = server(&journal);
    journal.hold();
    let named = order::answer(&server, tick(&[("riff-call", "one")], Body::empty())).await;
    assert_eq!(header(&named, "retry-after"), Some("1"));
    assert_eq!(header(&named, "riff-call"), None);
    assert_eq!(no(named).await.1, "busy");

    let unnamed = order::answer(&server, tick(&[], Body::empty())).await;
    assert_eq!(header(&unnamed, "retry-after"), None);
    let id = header(&unnamed, "riff-call").unwrap().to_owned();
    let (status, code, detail) = no(unnamed).await;
    assert_eq!((status, code.as_str()), (503, "busy"));
    assert!(
        detail.contains("it may run") && detail.contains(&format!("`riff-call: {id}`")),
        "{detail}"
    );

    tokio::time::resume();
    journal.release();
    let told = order::answer(&server, tick(&[("riff-call", &id)], Body::empty())).await;
    assert_eq!(told.status(), 200);
    assert_eq!(header(&told, "riff-repeat"), Some("1"), "it ran once");
}

#[tokio::test]
async fn a_command_whose_write_failed_may_be_in_the_log_and_a_later_one_is_not() {
    let journal = MemoryJournal::new();
    let server = server(&journal);
    journal.fail_sync(1);
    let lost = order::answer(&server, tick(&[], Body::empty())).await;
    assert_eq!(header(&lost, "retry-after"), None);
    let id = header(&lost, "riff-call").unwrap().to_owned();
    let (status, code, detail) = no(lost).await;
    assert_eq!((status, code.as_str()), (503, "unavailable"));
    assert!(
        detail.contains("may be in the log") && detail.contains(&id),
        "{detail}"
    );
    let later = order::answer(&server, tick(&[], Body::empty())).await;
    assert_eq!(header(&later, "riff-call"), None);
    assert!(!no(later).await.2.contains("log"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_a_no_for_now() {
    let server = server(&MemoryJournal::new());
    let silent = Body::from_stream(stream::pending::<Result<&str, std::io::Error>>());
    let began = Instant::now();
    let late = order::answer(&server, tick(&[("riff-call", "one")], silent)).await;
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    let cut = stream::iter([Ok("{"), Err(std::io::Error::other("reset"))]).boxed();
    let cut = Body::from_stream(cut);
    let cut = order::answer(&server, tick(&[("riff-call", "one")], cut)).await;
    for response in [late, cut] {
        assert_eq!(header(&response, "retry-after"), Some("1"));
        assert_eq!(header(&response, "connection"), Some("close"));
        let (status, code, detail) = no(response).await;
        assert_eq!((status, code.as_str()), (503, "busy"), "{detail}");
        assert!(detail.contains("the body"), "{detail}");
    }
}

#[tokio::test]
async fn a_look_up_of_the_caller_that_gets_no_answer_is_503_and_no_401() {
    let server = server(&MemoryJournal::new());
    let request = http::Request::post("/v1/tick").header("authorization", "Bearer away");
    let request = request.body(Body::empty()).unwrap();
    let (status, code, _) = no(order::answer(&server, request).await).await;
    assert_eq!((status, code.as_str()), (503, "busy"));
}

#[tokio::test]
async fn a_look_up_of_the_caller_that_panics_is_500() {
    let server = server(&MemoryJournal::new());
    let request = http::Request::post("/v1/tick").header("authorization", "Bearer panic");
    let request = request.body(Body::empty()).unwrap();
    let (status, code, _) = no(order::answer(&server, request).await).await;
    assert_eq!((status, code.as_str()), (500, "failed"));
}

/// A connection to the server through a pipe that holds so many bytes.
fn connect(holds: usize) -> DuplexStream {
    connect_by(holds, Speaks::Http1)
}

fn connect_by(holds: usize, speaks: Speaks) -> DuplexStream {
    let (client, stream) = duplex(holds);
    let server = server(&MemoryJournal::new());
    tokio::spawn(connection(server, stream, Peer::default(), speaks));
    client
}

/// After how long the server closes the connection, and what it sends until then.
async fn closed(client: &mut DuplexStream) -> (Duration, String) {
    let (began, mut sent) = (Instant::now(), String::new());
    let read = timeout(Duration::from_secs(3600), client.read_to_string(&mut sent)).await;
    read.expect("it is closed within an hour").unwrap();
    (began.elapsed(), sent)
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_first_request_is_closed_after_10_s() {
    for begin in ["", "GET /v1/large HTTP/1.1\r\nhost: te"] {
        let mut client = connect(1024);
        client.write_all(begin.as_bytes()).await.unwrap();
        let (after, sent) = closed(&mut client).await;
        assert_eq!((after.as_secs(), sent.as_str()), (10, ""), "{begin:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_after_75_s() {
    let mut client = connect(1024);
    let request = b"GET /v1/nothing HTTP/1.1\r\nhost: test\r\n\r\n";
    client.write_all(request).await.unwrap();
    let (after, sent) = closed(&mut client).await;
    assert!(sent.starts_with("HTTP/1.1 401 "), "{sent}");
    assert_eq!(after.as_secs(), 75);
}

#[tokio::test(start_paused = true)]
async fn an_idle_http2_connection_is_told_to_go_away_after_75_to_90_s_and_a_used_one_is_not() {
    for speaks in [Speaks::Http2, Speaks::Either] {
        let client = TokioIo::new(connect_by(64 * 1024, speaks));
        let shaken = http2::handshake(TokioExecutor::new(), client).await;
        let (mut send, ends) = shaken.unwrap();
        let ends = tokio::spawn(ends);
        for _ in 0..3 {
            let request = http::Request::get("http://test/v1/nothing");
            let request = request.body(Body::empty()).unwrap();
            assert_eq!(send.send_request(request).await.unwrap().status(), 401);
            tokio::time::sleep(Duration::from_secs(70)).await;
            assert!(!ends.is_finished());
        }
        let began = Instant::now();
        timeout(Duration::from_secs(3600), ends)
            .await
            .expect("it is closed within an hour")
            .unwrap()
            .expect("told, and not cut");
        let idle = began.elapsed().as_secs() + 70;
        assert!((75..=90).contains(&idle), "{idle}");
    }
}

#[tokio::test]
async fn the_requests_of_an_http2_connection_end_with_it() {
    let journal = MemoryJournal::new();
    let server = server(&journal);
    let (client, stream) = duplex(64 * 1024);
    let peer = Peer::default();
    let task = connection(Arc::clone(&server), stream, peer, Speaks::Http2);
    let task = tokio::spawn(task);
    let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(client)).await;
    let (mut send, ends) = shaken.unwrap();
    tokio::spawn(ends);
    journal.hold();
    let mut request = tick(&[("riff-call", "one")], Body::empty());
    *request.uri_mut() = "http://test/v1/tick".parse().unwrap();
    let asked = tokio::spawn(async move { send.send_request(request).await });
    let in_flight = || server.metrics.in_flight.load(Ordering::Relaxed);
    while in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(asked.await.unwrap().is_err());
    while in_flight() > 0 {
        tokio::task::yield_now().await;
    }
    journal.release();
}

#[tokio::test(start_paused = true)]
async fn an_http2_connection_without_a_first_request_is_closed_after_10_s() {
    let mut client = connect_by(64 * 1024, Speaks::Http2);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    client.write_all(preface).await.unwrap();
    let (began, mut sent) = (Instant::now(), Vec::new());
    client.read_to_end(&mut sent).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_reply_of_which_nobody_takes_a_byte_is_given_up_after_two_minutes() {
    let mut client = connect(1024);
    let request = b"GET /v1/large HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ann\r\n\r\n";
    client.write_all(request).await.unwrap();
    // A reader that takes a little now and then is slow, and is served.
    let mut taken = [0; 512];
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(100)).await;
        client.read_exact(&mut taken).await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(130)).await;
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert!(rest.len() <= 1024, "{} bytes came", rest.len());
}
