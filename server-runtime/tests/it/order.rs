//! The order in which a request is looked at, and what each stage answers.

use std::net::SocketAddr;

use server_runtime::{Engine, MemoryJournal, Server};

use crate::{
    app::{Board, SERVICE, serve},
    client::{Client, Reply, Request},
};

async fn ask(at: SocketAddr, request: &Request) -> Reply {
    let reply = Client::connect(at).await.ask(request).await;
    assert_eq!(
        reply.header("riff-build"),
        Some("1.1 0.1.0 - -"),
        "{reply:?}"
    );
    reply
}

fn claim() -> Request {
    Request::new("POST", "/v1/items/x")
}

#[tokio::test]
async fn each_no_has_its_code_and_the_stamp() {
    let server = serve(MemoryJournal::new()).await;
    for (request, status, code) in [
        (Request::bare("GET", "/v1/here"), 401, "unauthenticated"),
        (Request::bare("GET", "/nowhere"), 401, "unauthenticated"),
        (Request::new("GET", "/nowhere"), 404, "no_route"),
        (Request::new("GET", "/v1/here/"), 404, "no_route"),
        (Request::new("GET", "/v1/items/"), 404, "no_route"),
        (Request::new("PUT", "/v1/here"), 405, "other_method"),
        (Request::new("HEAD", "/v1/here"), 405, ""),
        (Request::new("GET", "/v1/items/%ff"), 400, "bad_request"),
        (Request::new("GET", "/v1/items/secret"), 403, "not_yours"),
        (Request::new("POST", "/v1/say"), 400, "bad_request"),
        (
            Request::new("POST", "/v1/say").body(r#"{"text":1}"#),
            400,
            "bad_request",
        ),
        (Request::new("GET", "/v1/tail/a%20b"), 400, "bad_request"),
        (
            Request::new("GET", "/v1/here?only=a&only=b"),
            400,
            "bad_request",
        ),
    ] {
        let mut client = Client::connect(server.at).await;
        client.send(&request.bytes()).await;
        if code.is_empty() {
            // The reply to HEAD says the length of a body that it does not have.
            assert_eq!(client.head().await.status, status, "{request:?}");
            continue;
        }
        let reply = client.reply().await;
        assert_eq!(
            reply.header("riff-build"),
            Some("1.1 0.1.0 - -"),
            "{reply:?}"
        );
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (status, code),
            "{request:?}"
        );
        let caller = (status != 401).then_some("ann");
        assert_eq!(reply.header("riff-caller"), caller, "{request:?}");
        assert_eq!(reply.header("riff-refused"), None, "{request:?}");
    }
    let reply = ask(server.at, &Request::new("PUT", "/v1/items/x")).await;
    assert_eq!(reply.header("allow"), Some("GET, POST"));
    server.stop().await.unwrap();
}

#[tokio::test]
async fn one_bearer_token_names_the_caller() {
    let server = serve(MemoryJournal::new()).await;
    let bare = || Request::bare("GET", "/v1/here");
    for request in [
        bare().header("authorization", "Bearer nobody"),
        bare().header("authorization", "Bearer"),
        bare().header("authorization", "Basic ann-token"),
        bare().header("authorization", "ann-token"),
        bare()
            .header("authorization", "Bearer ann-token")
            .header("authorization", "Bearer x"),
    ] {
        let reply = ask(server.at, &request).await;
        assert_eq!(
            (reply.status, reply.header("www-authenticate")),
            (401, Some("Bearer"))
        );
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_authenticates_nobody_answers_nobody() {
    let engine = Engine::open(MemoryJournal::new(), Board::default()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::new(&SERVICE, engine, Vec::new());
    let error = server
        .serve(listener, std::future::ready(()))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("`here` has no handler"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_id_is_one_header_of_1_to_128_visible_characters() {
    let server = serve(MemoryJournal::new()).await;
    let long = "x".repeat(128);
    for (n, id) in ["a", " \t padded \t", &long, "order-7"].iter().enumerate() {
        let request = Request::new("POST", &format!("/v1/items/{n}")).call(id);
        assert_eq!(ask(server.at, &request).await.status, 200, "{id:?}");
        assert_eq!(
            ask(server.at, &request).await.header("riff-repeat"),
            Some("1"),
            "{id:?}"
        );
    }
    let request = Request::new("POST", "/v1/items/1").header("RIFF-Call", "padded");
    assert_eq!(
        ask(server.at, &request).await.header("riff-repeat"),
        Some("1")
    );
    let (longer, huge) = ("x".repeat(129), "x".repeat(64 * 1024));
    for id in ["", " ", "a,b", "a b", "\u{80}", &longer, &huge] {
        let reply = ask(server.at, &claim().call(id)).await;
        assert_eq!(reply.code(), "bad_request", "{} bytes", id.len());
    }
    let twice = ask(server.at, &claim().call("one").call("one")).await;
    assert_eq!(twice.code(), "bad_request");
    let other = ask(server.at, &claim().header("x-riff-call", "a,b")).await;
    assert_eq!(other.status, 200, "another header is not ours");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn too_many_headers_are_refused_by_the_server_and_not_by_the_parser() {
    let server = serve(MemoryJournal::new()).await;
    let with = |count: usize| {
        let names = (0..count).map(|n| format!("x-{n}"));
        names.fold(Request::new("GET", "/v1/here"), |request, name| {
            request.header(&name, "1")
        })
    };
    assert_eq!(ask(server.at, &with(90)).await.status, 200);
    for count in [101, 1000] {
        let reply = ask(server.at, &with(count)).await;
        assert_eq!(reply.code(), "bad_request");
        assert!(reply.body.contains("100 headers"), "{}", reply.body);
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_try_has_a_number_from_1() {
    let server = serve(MemoryJournal::new()).await;
    for number in ["0", "-1", "+2", "1.0", "", "x", "99999999999"] {
        let reply = ask(server.at, &claim().call("one").header("riff-try", number)).await;
        assert_eq!(reply.code(), "bad_request", "{number:?}");
    }
    assert_eq!(
        ask(server.at, &claim().call("one").header("riff-try", " 7 "))
            .await
            .status,
        200
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn another_build_is_412_but_a_kept_call_is_answered_first() {
    let server = serve(MemoryJournal::new()).await;
    for (build, status) in [
        ("1.1 0.1.0 - -", 200),
        ("1.0", 200),
        ("0.9", 412),
        ("1.2", 412),
        ("2.0", 412),
        ("nginx", 400),
        ("", 400),
    ] {
        let reply = ask(
            server.at,
            &Request::new("GET", "/v1/here").header("riff-build", build),
        )
        .await;
        assert_eq!(reply.status, status, "{build:?}: {}", reply.body);
    }
    let old = claim().call("one").header("riff-build", "0.1");
    assert_eq!(ask(server.at, &old).await.code(), "other_build");
    assert_eq!(ask(server.at, &claim().call("one")).await.status, 200);
    let kept = ask(server.at, &old).await;
    assert_eq!((kept.status, kept.header("riff-repeat")), (200, Some("1")));
    let unknown = ask(server.at, &Request::new("POST", "/moved").call("one")).await;
    assert_eq!(
        unknown.code(),
        "call_reused",
        "the lookup comes before the routing"
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_too_large_is_drained_so_that_the_413_arrives() {
    let server = serve(MemoryJournal::new()).await;
    let large = vec![b' '; 8 * 1024 * 1024];
    let mut client = Client::connect(server.at).await;
    for _ in 0..2 {
        let reply = client.ask(&claim().call("one").body(&large)).await;
        assert_eq!((reply.status, reply.code().as_str()), (413, "too_large"));
    }
    let chunked = claim().header("transfer-encoding", "chunked").bytes();
    client.send(&chunked).await;
    for _ in 0..large.len() / (64 * 1024) {
        client.send(b"10000\r\n").await;
        client.send(&large[..64 * 1024]).await;
        client.send(b"\r\n").await;
    }
    client.send(b"0\r\n\r\n").await;
    assert_eq!(client.reply().await.code(), "too_large");
    assert_eq!(
        client.ask(&claim().call("one")).await.status,
        200,
        "the connection goes on"
    );

    let mut client = Client::connect(server.at).await;
    let asks = claim()
        .header("expect", "100-continue")
        .header("content-length", "9999999");
    client.send(&asks.bytes()).await;
    let reply = client.reply().await;
    assert_eq!(
        (reply.status, reply.header("connection")),
        (413, Some("close"))
    );
    assert!(client.is_closed().await);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn the_newest_signal_of_a_link_wins_and_each_is_answered() {
    let server = serve(MemoryJournal::new()).await;
    let alive =
        |mood: &str| Request::new("POST", "/v1/alive").body(format!(r#"{{"mood":"{mood}"}}"#));
    for (mood, sent, newest) in [
        ("one", Some("aaaaaaaa.1"), "one"),
        ("three", Some("aaaaaaaa.3"), "three"),
        ("two", Some("aaaaaaaa.2"), "three"),
        ("curl", None, "curl"),
        ("other", Some("bbbbbbbb.1"), "other"),
    ] {
        let request = alive(mood);
        let request = match sent {
            Some(sent) => request.header("riff-sent", sent),
            None => request,
        };
        let reply = ask(server.at, &request).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, "null"));
        let here = ask(server.at, &Request::new("GET", "/v1/here")).await;
        assert_eq!(here.json(), serde_json::json!({ "ann": newest }));
    }
    let bad = ask(server.at, &alive("x").header("riff-sent", "7")).await;
    assert_eq!(bad.code(), "bad_request");
    let ben = Request::bare("GET", "/v1/here?only=ben").header("authorization", "Bearer ben-token");
    assert_eq!(
        ask(server.at, &ben).await.json(),
        serde_json::json!({ "ben": null })
    );
    server.stop().await.unwrap();
}
