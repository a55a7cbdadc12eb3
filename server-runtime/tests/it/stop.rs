//! The end of a server: in order, and within its bound whatever is open.

use std::time::Duration;

use server_runtime::{FileJournal, MemoryJournal, ServeError, log};
use tokio::{net::TcpStream, time::timeout};

use crate::{
    app::{GATE, run, serve, serve_dir, server},
    client::{Client, Request, queued},
};

fn say(id: &str) -> Request {
    Request::new("POST", "/v1/say")
        .call(id)
        .body(r#"{"text":"x"}"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_open_streams_and_idle_connections_end_within_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve_dir(dir.path()).await;
    let at = server.at;
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = Client::connect(at).await;
        stream.send(&Request::new("GET", "/v1/hum").bytes()).await;
        assert_eq!(stream.head().await.status, 200);
        assert_eq!(stream.chunk().await.unwrap(), ": ready\n\n");
        streams.push(stream);
    }
    let mut idle = Client::connect(at).await;
    assert_eq!(idle.ask(&say("one")).await.status, 200);
    let silent = TcpStream::connect(at).await.unwrap();
    let mut half = Client::connect(at).await;
    half.send(b"GET /v1/here HTTP/1.1\r\nhost: ").await;
    for stream in &mut streams {
        assert_eq!(
            stream.chunk().await.unwrap(),
            "data: 2\n\n",
            "the run began at 1"
        );
    }
    let stopped = server.begin_stop();
    let ends = async {
        for mut stream in streams {
            assert_eq!(stream.chunk().await, None);
        }
        assert!(idle.is_closed().await);
    };
    timeout(Duration::from_secs(1), ends)
        .await
        .expect("the streams end within a second");
    timeout(Duration::from_secs(10), stopped)
        .await
        .expect("in ten seconds")
        .unwrap()
        .unwrap();
    drop((silent, half));
    drop(FileJournal::open(dir.path()).expect("the directory is free again"));
    assert_eq!(log::read(dir.path()).unwrap().count(), 2);
    assert!(
        TcpStream::connect(at).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn a_call_under_way_gets_its_reply_and_a_new_one_gets_503() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.hold();
    let mut open = Client::connect(server.at).await;
    open.send(&say("one").bytes()).await;
    // A head of which the server has read a part is neither idle nor under way.
    let mut late = Client::connect(server.at).await;
    late.send(b"POST /v1/say HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ann-token\r\n")
        .await;
    queued(server.at, "one").await;
    let mut idle = Client::connect(server.at).await;
    assert_eq!(idle.ask(&Request::new("GET", "/v1/here")).await.status, 200);
    let stopped = server.begin_stop();
    assert!(idle.is_closed().await, "from here on the server stops");
    late.send(b"content-length: 12\r\n\r\n{\"text\":\"y\"}")
        .await;
    let reply = late.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "unavailable"));
    assert_eq!(reply.header("connection"), Some("close"));
    journal.release();
    let reply = open.reply().await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "1"));
    stopped.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_journal_that_hangs_does_not_hold_up_the_end_for_ever() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.hold();
    let mut open = Client::connect(server.at).await;
    open.send(&say("one").bytes()).await;
    queued(server.at, "one").await;
    let stopped = timeout(Duration::from_secs(10), server.begin_stop()).await;
    let error = stopped.expect("within ten seconds").unwrap().unwrap_err();
    assert!(error.to_string().contains("did not end in time"), "{error}");
    journal.release();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_handler_that_hangs_does_not_hold_up_the_end() {
    let server = serve(MemoryJournal::new()).await;
    let mut hangs = Client::connect(server.at).await;
    hangs.send(&Request::new("GET", "/v1/hang").bytes()).await;
    tokio::task::spawn_blocking(|| GATE.reached())
        .await
        .unwrap();
    let stopped = timeout(Duration::from_secs(10), server.begin_stop()).await;
    GATE.open();
    let ended: Result<(), ServeError> = stopped.expect("within ten seconds").unwrap();
    ended.unwrap();
}

#[tokio::test]
async fn connections_that_are_too_many_wait_for_a_place() {
    let server = run(server(MemoryJournal::new()).most_connections(1)).await;
    let here = Request::new("GET", "/v1/here");
    let mut first = Client::connect(server.at).await;
    assert_eq!(first.ask(&here).await.status, 200);
    let mut second = Client::connect(server.at).await;
    second.send(&here.bytes()).await;
    for _ in 0..20 {
        assert_eq!(first.ask(&here).await.status, 200);
    }
    assert!(second.is_unanswered());
    drop(first);
    assert_eq!(second.reply().await.status, 200);
    server.stop().await.unwrap();
}
