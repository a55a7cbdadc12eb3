//! HTTP/2: the same promises, with many calls on one connection.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use futures_util::StreamExt as _;
use http::{Request, Response, StatusCode, Version};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use server_runtime::{
    FileJournal, MemoryJournal,
    log::{self, LoggedEntry},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};

use crate::{
    app::{Running, run, server},
    client::{self, Client},
};

/// A connection that speaks HTTP/2, and the task that ends with it.
pub(crate) struct Two {
    pub(crate) send: SendRequest<Body>,
    pub(crate) ends: JoinHandle<hyper::Result<()>>,
}

impl Two {
    pub(crate) async fn over(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await;
        let (send, connection) = shaken.unwrap();
        let ends = tokio::spawn(connection);
        Self { send, ends }
    }

    async fn to(server: &Running) -> Self {
        Self::over(TcpStream::connect(server.at).await.unwrap()).await
    }

    pub(crate) async fn ask(&self, request: Request<Body>) -> Response<Body> {
        let sent = self.send.clone().send_request(request).await;
        let reply = sent.unwrap().map(Body::new);
        assert_eq!(reply.version(), Version::HTTP_2);
        reply
    }
}

pub(crate) fn get(path: &str) -> Request<Body> {
    let request =
        Request::get(format!("http://test{path}")).header("authorization", "Bearer ann-token");
    request.body(Body::empty()).unwrap()
}

fn say(id: &str, text: &str) -> Request<Body> {
    let request = Request::post("http://test/v1/say")
        .header("authorization", "Bearer ann-token")
        .header("riff-call", id);
    request
        .body(Body::from(format!(r#"{{"text":"{text}"}}"#)))
        .unwrap()
}

async fn code(reply: Response<Body>) -> (u16, String) {
    let status = reply.status().as_u16();
    let body = to_bytes(reply.into_body(), 65536).await.unwrap();
    let problem: Value = serde_json::from_slice(&body).unwrap();
    (status, problem["code"].as_str().unwrap().to_owned())
}

/// The value of a metric that has no labels.
async fn metric(server: &Running, name: &str) -> u64 {
    let mut client = Client::connect(server.at).await;
    let reply = client.ask(&client::Request::bare("GET", "/metrics")).await;
    let line = reply
        .body
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_commands_at_once_on_one_connection_run_once_each_and_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let server = run(server(FileJournal::open(dir.path()).unwrap()).h2c(true)).await;
    let two = Two::to(&server).await;
    for again in [false, true] {
        let asked = (0..100).map(|n| two.ask(say(&format!("call-{n}"), "x")));
        for reply in futures_util::future::join_all(asked).await {
            assert_eq!(reply.status(), StatusCode::OK);
            let repeat = reply.headers().get("riff-repeat");
            assert_eq!(repeat.is_some_and(|value| value == "1"), again);
        }
    }
    let mut one = Client::connect(server.at).await;
    let first = client::Request::new("POST", "/v1/say").call("call-0");
    let kept = one.ask(&first.body(r#"{"text":"x"}"#)).await;
    assert_eq!(kept.header("riff-repeat"), Some("1"), "HTTP/1.1 as well");
    server.stop().await.unwrap();
    let ran = log::read(dir.path()).unwrap();
    let ran = ran.filter(|record| matches!(record.as_ref().unwrap().entry, LoggedEntry::Call(_)));
    assert_eq!(ran.count(), 100);
}

#[tokio::test]
async fn http2_is_not_spoken_in_clear_text_unless_it_is_asked_for() {
    let server = run(server(MemoryJournal::new())).await;
    let mut client = Client::connect(server.at).await;
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(client.is_closed().await);
    let mut client = Client::connect(server.at).await;
    let reply = client.ask(&client::Request::new("GET", "/v1/here")).await;
    assert_eq!(reply.status, 200);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_the_rest_of_the_connection_goes_on() {
    let server = run(server(MemoryJournal::new()).h2c(true).most_body_bytes(1000)).await;
    let two = Two::to(&server).await;
    let large = say("large", &"x".repeat(300_000));
    assert_eq!(code(two.ask(large).await).await, (413, "too_large".into()));
    let mut many = get("/v1/here");
    for n in 0..200 {
        let name = http::HeaderName::try_from(format!("x-{n}")).unwrap();
        many.headers_mut().insert(name, "1".parse().unwrap());
    }
    assert_eq!(code(two.ask(many).await).await, (400, "bad_request".into()));
    let mut huge = get("/v1/here");
    for n in 0..9 {
        let name = http::HeaderName::try_from(format!("x-{n}")).unwrap();
        let value = "x".repeat(32 * 1024).parse().unwrap();
        huge.headers_mut().insert(name, value);
    }
    let huge = two.ask(huge).await;
    assert_eq!(huge.status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(two.ask(say("one", "x")).await.status(), StatusCode::OK);
    server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_and_a_call_under_way_on_one_connection_end_in_order() {
    let journal = MemoryJournal::new();
    let server = run(server(journal.clone()).h2c(true)).await;
    let two = Two::to(&server).await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = two.ask(get("/v1/hum")).await.into_body().into_data_stream();
        assert_eq!(stream.next().await.unwrap().unwrap(), ": ready\n\n");
        streams.push(stream);
    }
    journal.hold();
    let under_way = tokio::spawn({
        let send = two.send.clone();
        async move { send.clone().send_request(say("one", "x")).await }
    });
    client::queued(server.at, "one").await;
    let stopped = server.begin_stop();
    let all_end = async {
        for mut stream in streams {
            while stream.next().await.is_some() {}
        }
    };
    timeout(Duration::from_secs(1), all_end)
        .await
        .expect("the streams end within a second");
    journal.release();
    let reply = under_way.await.unwrap().unwrap();
    assert_eq!(reply.status(), StatusCode::OK);
    timeout(Duration::from_secs(10), stopped)
        .await
        .expect("in ten seconds")
        .unwrap()
        .unwrap();
    two.ends
        .await
        .unwrap()
        .expect("told to go away, and not cut");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ran_on_a_connection_that_is_gone_is_gone() {
    let server = server(MemoryJournal::new()).h2c(true).public_metrics(true);
    let server = run(server).await;
    let two = Two::to(&server).await;
    let mut stream = two.ask(get("/v1/hum")).await.into_body().into_data_stream();
    assert!(stream.next().await.is_some());
    assert_eq!(metric(&server, "http_server_streams").await, 1);
    two.ends.abort();
    drop((stream, two.send));
    while metric(&server, "http_server_streams").await > 0 {
        tokio::task::yield_now().await;
    }
    server.stop().await.unwrap();
}
