//! Streams as bytes: ready first, then what is written, in order.

use server_runtime::MemoryJournal;

use crate::{
    app::serve,
    client::{Client, Request},
};

fn say(text: &str) -> Request {
    Request::new("POST", "/v1/say").body(serde_json::json!({ "text": text }).to_string())
}

#[tokio::test]
async fn a_stream_says_ready_and_then_each_event_with_its_cursor() {
    let server = serve(MemoryJournal::new()).await;
    let mut client = Client::connect(server.at).await;
    assert_eq!(client.ask(&say("before")).await.status, 200);
    let mut tail = Client::connect(server.at).await;
    tail.send(&Request::new("GET", "/v1/tail/ann").bytes())
        .await;
    let head = tail.head().await;
    assert_eq!(head.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache, no-transform"),
        ("x-accel-buffering", "no"),
        ("riff-build", "1.1 0.1.0 - -"),
        ("riff-caller", "ann"),
    ] {
        assert_eq!(head.header(name), Some(value));
    }
    assert_eq!(tail.chunk().await.unwrap(), ": ready 1\n\n");
    let bens = Request::bare("POST", "/v1/items/x").header("authorization", "Bearer ben-token");
    assert_eq!(client.ask(&bens).await.status, 200);
    for (n, text) in [(4, "one"), (5, "two\nlines")] {
        assert_eq!(client.ask(&say(text)).await.status, 200);
        let data = serde_json::json!({ "seq": n, "text": text });
        assert_eq!(
            tail.chunk().await.unwrap(),
            format!("id: {n}\ndata: {data}\n\n")
        );
    }
    server.stop().await.unwrap();
    assert_eq!(tail.chunk().await, None, "it ends in order");
}

#[tokio::test]
async fn a_stream_without_a_cursor_has_no_ids() {
    let server = serve(MemoryJournal::new()).await;
    let mut hum = Client::connect(server.at).await;
    hum.send(&Request::new("GET", "/v1/hum").bytes()).await;
    assert_eq!(hum.head().await.status, 200);
    assert_eq!(hum.chunk().await.unwrap(), ": ready\n\n");
    assert_eq!(
        Client::connect(server.at).await.ask(&say("x")).await.status,
        200
    );
    assert_eq!(
        hum.chunk().await.unwrap(),
        "data: 2\n\n",
        "the run began at 1"
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_shows_nothing_that_is_not_written_and_all_of_a_chunk_at_once() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    let mut hum = Client::connect(server.at).await;
    hum.send(&Request::new("GET", "/v1/hum").bytes()).await;
    hum.head().await;
    hum.chunk().await.unwrap();
    journal.fail_sync(1);
    assert_eq!(
        Client::connect(server.at).await.ask(&say("x")).await.status,
        503
    );
    assert_eq!(
        hum.chunk().await,
        None,
        "the engine failed: the stream ends without the event"
    );
    assert!(server.stop().await.is_err());
}
