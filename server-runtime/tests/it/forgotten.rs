//! Calls over HTTP that are forgotten, settled, another's, or named as other services name them.

use server_runtime::{CallLimits, Engine, EngineOptions, MemoryJournal, Server, Tokens};

use crate::{
    app::{Board, Running, SERVICE, handlers, run, serve, server},
    client::{Client, Reply, Request},
};

async fn ask(server: &Running, request: Request) -> Reply {
    Client::connect(server.at).await.ask(&request).await
}

fn say(text: &str) -> Request {
    let body = serde_json::json!({ "text": text }).to_string();
    Request::new("POST", "/v1/say").body(body)
}

/// A server that keeps one reply and one ID more of each caller, and two foreign keys.
async fn short_of_memory(journal: &MemoryJournal) -> Running {
    let options = EngineOptions {
        calls: CallLimits {
            most_kept: 1,
            most_thin: 1,
            most_foreign: 2,
            ..CallLimits::default()
        },
        ..EngineOptions::default()
    };
    let engine = Engine::open_with(journal.clone(), Board::default(), options).unwrap();
    let tokens = Tokens::new()
        .with("ann".parse().unwrap(), "ann-token")
        .with("ben".parse().unwrap(), "ben-token");
    run(Server::new(&SERVICE, engine, handlers()).authenticate(tokens)).await
}

/// How many records the log has.
fn written(journal: &MemoryJournal) -> u64 {
    let engine = Engine::open(journal.killed().unwrap(), Board::default()).unwrap();
    engine.opened().records
}

#[tokio::test]
async fn a_call_that_was_forgotten_is_told_and_does_not_run_again() {
    let journal = MemoryJournal::new();
    let server = short_of_memory(&journal).await;
    let first = ask(&server, say("1").call("one")).await;
    let seen = first.header("riff-log").unwrap().to_owned();
    assert_eq!(first.status, 200);
    for (id, text) in [("two", "2"), ("three", "3")] {
        let next = ask(&server, say(text).call(id).header("riff-log", &seen)).await;
        assert_eq!(next.status, 200, "{next:?}");
    }
    let before = written(&journal);
    // The reply of `two` is gone, and of `one` even the ID.
    let two = ask(&server, say("2").call("two").header("riff-log", &seen)).await;
    assert_eq!((two.status, two.code().as_str()), (410, "reply_forgotten"));
    assert_eq!(two.header("riff-refused"), None);
    let late = ask(&server, say("1").call("one")).await;
    assert_eq!((late.status, late.code().as_str()), (410, "call_forgotten"));
    let newest = late.header("riff-log").unwrap().to_owned();
    let other = ask(&server, say("9").call("nine").header("riff-log", &newest)).await;
    assert_eq!(other.status, 200, "it surely is new: {other:?}");
    assert_eq!(written(&journal), before + 1);
    let ben = Request::bare("POST", "/v1/say")
        .header("authorization", "Bearer ben-token")
        .body(r#"{"text":"1"}"#)
        .call("one");
    assert_eq!(
        ask(&server, ben).await.status,
        200,
        "nothing of ann's holds"
    );
    let foreign = say("1")
        .call("x")
        .header("riff-log", "AAAAAAAAAAAAAAAAAAAAAA.3");
    let foreign = ask(&server, foreign).await;
    assert_eq!(
        (foreign.status, foreign.code().as_str()),
        (410, "rolled_back")
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_settled_call_never_runs_and_one_that_ran_is_told() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    assert_eq!(ask(&server, say("1").call("ran")).await.status, 200);
    let fate = |id: &str| Request::new("GET", &format!("/v1/calls/{id}"));
    let settle = |id: &str| Request::new("POST", &format!("/v1/calls/{id}/settle"));
    let ran = ask(&server, settle("ran")).await.json();
    assert_eq!(
        (ran["fate"].as_str(), ran["command"].as_str()),
        (Some("ran"), Some("say"))
    );
    assert_eq!(ask(&server, fate("ran")).await.json(), ran);
    assert_eq!(ask(&server, fate("late")).await.json()["fate"], "unknown");
    assert_eq!(
        ask(&server, settle("late")).await.json()["fate"],
        "cancelled"
    );
    assert_eq!(
        ask(&server, settle("late")).await.json()["fate"],
        "cancelled"
    );
    let late = ask(&server, say("2").call("late")).await;
    assert_eq!((late.status, late.code().as_str()), (410, "call_cancelled"));
    let ben = fate("ran").header("x-other", "1");
    assert_eq!(ask(&server, ben).await.json()["fate"], "ran");
    let ben = Request::bare("GET", "/v1/calls/ran").header("authorization", "Bearer ben-token");
    assert_eq!(
        ask(&server, ben).await.json()["fate"],
        "unknown",
        "of ann's calls ben learns nothing"
    );
    assert_eq!(ask(&server, fate("a%20b")).await.status, 400);
    assert_eq!(
        ask(&server, Request::new("PUT", "/v1/calls/a"))
            .await
            .status,
        405
    );
    server.stop().await.unwrap();
    let server = serve(journal.killed().unwrap()).await;
    let late = ask(&server, say("2").call("late")).await;
    assert_eq!(late.status, 410, "also after a restart");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn an_idempotency_key_is_a_call_id_and_is_never_forgotten_early() {
    let journal = MemoryJournal::new();
    let server = short_of_memory(&journal).await;
    let key = |text: &str, key: &str| say(text).header("idempotency-key", key);
    let first = ask(&server, key("1", "\"one\"")).await;
    let again = ask(&server, key("1", "one")).await;
    assert_eq!((first.status, &first.body), (200, &again.body));
    assert_eq!(again.header("riff-repeat"), Some("1"));
    let other = ask(&server, key("2", "one")).await;
    assert_eq!((other.status, other.code().as_str()), (422, "call_reused"));
    let claim = |by: &str| {
        Request::bare("POST", "/v1/items/x")
            .header("authorization", &format!("Bearer {by}-token"))
            .header("idempotency-key", "claim")
    };
    assert_eq!(ask(&server, claim("ben")).await.status, 200);
    let refused = ask(&server, claim("ann")).await;
    let again = ask(&server, claim("ann")).await;
    assert_eq!((refused.status, refused.header("riff-repeat")), (409, None));
    assert_eq!(
        (again.status, again.header("riff-repeat")),
        (409, Some("1"))
    );
    let third = ask(&server, key("3", "three")).await;
    assert_eq!(
        (third.status, third.code().as_str()),
        (429, "too_many_keys")
    );
    let after: u64 = third.header("retry-after").unwrap().parse().unwrap();
    assert!((86_000..=86_400).contains(&after), "{after}");
    for n in 0..5 {
        ask(&server, say(&n.to_string())).await;
    }
    assert_eq!(ask(&server, key("1", "one")).await.body, first.body);
    let both = key("1", "one").call("two");
    assert_eq!(ask(&server, both).await.status, 400);
    let both = key("1", "one").call("one");
    assert_eq!(ask(&server, both).await.body, first.body);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_that_was_settled_is_cancelled_for_as_long_as_keys_are_kept() {
    let journal = MemoryJournal::new();
    let server = short_of_memory(&journal).await;
    let key = |request: Request| request.header("idempotency-key", "\"order\"");
    let settle = || key(Request::new("POST", "/v1/calls/order/settle"));
    assert_eq!(ask(&server, settle()).await.json()["fate"], "cancelled");
    let mut seen = String::new();
    for n in 0..6 {
        let next = say(&n.to_string()).call(&format!("call-{n}"));
        let next = if n == 0 {
            next
        } else {
            next.header("riff-log", &seen)
        };
        let reply = ask(&server, next).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        seen = reply.header("riff-log").unwrap().to_owned();
    }
    let late = ask(&server, key(say("late"))).await;
    assert_eq!((late.status, late.code().as_str()), (410, "call_cancelled"));
    let other = Request::new("POST", "/v1/calls/order/settle").header("idempotency-key", "other");
    assert_eq!(ask(&server, other).await.status, 400);
    let one = key(Request::new("GET", "/v1/calls/order"));
    assert_eq!(ask(&server, one).await.json()["fate"], "cancelled");
    server.stop().await.unwrap();
    let server = short_of_memory(&journal.killed().unwrap()).await;
    let late = ask(&server, key(say("late"))).await;
    assert_eq!(late.status, 410, "also after a restart");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_no_http_is_400_and_one_that_breaks_off_is_503() {
    let server = serve(MemoryJournal::new()).await;
    let head = say("1")
        .header("transfer-encoding", "chunked")
        .body("")
        .bytes();
    let mut client = Client::connect(server.at).await;
    client.send(&head).await;
    client.send(b"no chunk\r\n").await;
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_call_of_another_caller_is_refused_before_any_look_up() {
    let server = serve(MemoryJournal::new()).await;
    let first = ask(&server, say("1").call("one")).await;
    assert_eq!(first.header("riff-caller"), Some("ann"));
    for request in [
        say("1").call("one"),
        Request::new("GET", "/v1/calls/one"),
        Request::new("GET", "/nowhere"),
    ] {
        let other = ask(&server, request.header("riff-caller", "ben")).await;
        assert_eq!((other.status, other.code().as_str()), (403, "other_caller"));
    }
    let same = ask(&server, say("1").call("one").header("riff-caller", "ann")).await;
    assert_eq!(same.header("riff-repeat"), Some("1"));
    server.stop().await.unwrap();
}

#[tokio::test]
async fn headers_that_make_no_sense_are_400_and_name_themselves() {
    let server = serve(MemoryJournal::new()).await;
    let many = vec!["a"; 257].join(",");
    for (name, value) in [
        ("riff-log", "nowhere"),
        ("riff-log", "AAAAAAAAAAAAAAAAAAAAAA.-1"),
        ("riff-ack", "a,,b"),
        ("riff-ack", many.as_str()),
        ("riff-budget", "1.5"),
        ("riff-budget", "-1"),
        ("riff-try", "0"),
        ("idempotency-key", "\"open"),
    ] {
        let reply = ask(&server, say("1").header(name, value)).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_request"));
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(name), "{name}: {detail}");
    }
    let spent = ask(&server, say("1").header("riff-budget", "0")).await;
    assert_eq!((spent.status, spent.code().as_str()), (503, "busy"));
    let in_time = ask(&server, say("1").header("riff-budget", "60000")).await;
    assert_eq!(in_time.status, 200);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_caller_that_is_too_fast_is_told_when_to_come_and_its_retries_get_their_reply() {
    let server = run(server(MemoryJournal::new()).rate(1, 2)).await;
    assert_eq!(ask(&server, say("1").call("one")).await.status, 200);
    let here = || Request::new("GET", "/v1/here");
    assert_eq!(ask(&server, here()).await.status, 200);
    let slow = ask(&server, here()).await;
    assert_eq!((slow.status, slow.code().as_str()), (429, "too_fast"));
    assert_eq!(slow.header("retry-after"), Some("1"));
    let again = ask(&server, say("1").call("one")).await;
    assert_eq!(
        (again.status, again.header("riff-repeat")),
        (200, Some("1"))
    );
    let ben = Request::bare("GET", "/v1/here").header("authorization", "Bearer ben-token");
    assert_eq!(ask(&server, ben).await.status, 200);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn health_needs_no_caller_and_metrics_and_the_description_do() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    assert_eq!(
        ask(&server, Request::bare("GET", "/healthz")).await.status,
        200
    );
    let ready = ask(&server, Request::bare("GET", "/readyz")).await;
    assert_eq!((ready.status, &ready.json()["ready"]), (200, &true.into()));
    for path in ["/metrics", "/openapi.json", "/v1/calls/a"] {
        let closed = ask(&server, Request::bare("GET", path)).await;
        assert_eq!(closed.status, 401, "{path}");
    }
    ask(&server, say("1").call("one")).await;
    ask(&server, say("1").call("one")).await;
    let text = ask(&server, Request::new("GET", "/metrics")).await.body;
    for line in [
        "link_calls_total{known=\"new\"} 1",
        "link_calls_total{known=\"kept\"} 1",
        "link_refusals_total{code=\"unauthenticated\"} 3",
        "link_calls_kept 1",
        "link_log_position 2",
        "link_ready 1",
        "http_server_active_requests 1",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}:\n{text}");
    }
    // Each line is a comment, or a name and a number.
    for line in text.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert!(
            name.starts_with("link_") || name.starts_with("http_server_"),
            "{line}"
        );
    }
    let described = ask(&server, Request::new("GET", "/openapi.json"))
        .await
        .json();
    assert_eq!(described["openapi"], "3.1.0");
    for route in SERVICE.routes {
        let operation = &described["paths"][route.path][route.method.to_lowercase()];
        assert_eq!(operation["x-kind"], route.kind.as_str(), "{}", route.name);
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_full_journal_is_told_does_not_run_and_is_not_ready() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.full(true);
    let full = ask(&server, say("1").call("one")).await;
    assert_eq!((full.status, full.code().as_str()), (503, "busy"));
    assert_eq!(full.header("retry-after"), Some("1"));
    let ready = ask(&server, Request::bare("GET", "/readyz")).await;
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &false.into()));
    // A server that stayed so until a command succeeds would be sent none by who looks at this.
    let again = loop {
        let ready = ask(&server, Request::bare("GET", "/readyz")).await;
        if ready.status == 200 {
            break ask(&server, say("1").call("one")).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(again.status, 503, "there is no room still");
    journal.full(false);
    let ran = loop {
        let reply = ask(&server, say("1").call("one")).await;
        if reply.status == 200 {
            break reply;
        }
        assert_eq!(reply.status, 503);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    assert_eq!(
        ran.header("riff-repeat"),
        None,
        "the refused try did not run"
    );
    assert_eq!(
        ask(&server, Request::bare("GET", "/readyz")).await.status,
        200
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn each_reply_has_an_id_and_a_sane_one_is_taken_over() {
    let server = serve(MemoryJournal::new()).await;
    let here = || Request::new("GET", "/v1/here");
    let own = ask(&server, here().header("x-request-id", "abc-1")).await;
    assert_eq!(own.header("x-request-id"), Some("abc-1"));
    let made = ask(&server, here().header("x-request-id", "a b")).await;
    assert_eq!(made.header("x-request-id").unwrap().len(), 32);
    server.stop().await.unwrap();
}
