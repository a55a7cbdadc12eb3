//! A command runs once, whatever its tries meet.

use std::path::Path;

use server_runtime::{
    MemoryJournal,
    log::{self, LoggedCall, LoggedEntry},
};
use tokio::task::JoinSet;

use crate::{
    app::{serve, serve_dir},
    client::{Client, Request, queued},
};

fn say(id: &str, text: &str) -> Request {
    Request::new("POST", "/v1/say")
        .call(id)
        .body(format!(r#"{{"text":"{text}"}}"#))
}

/// The records of calls, in the order of the log.
fn calls(dir: &Path) -> Vec<LoggedCall> {
    let entries = log::read(dir).unwrap().map(|record| record.unwrap().entry);
    let calls = entries.filter_map(|entry| match entry {
        LoggedEntry::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_tries_at_once_run_once_and_get_one_reply() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve_dir(dir.path()).await;
    let mut tries = JoinSet::new();
    for _ in 0..50 {
        let at = server.at;
        tries.spawn(async move { Client::connect(at).await.ask(&say("one", "x")).await });
    }
    let replies = tries.join_all().await;
    assert!(
        replies
            .iter()
            .all(|reply| reply.status == 200 && reply.body == "1"),
        "{replies:?}"
    );
    let repeats = replies
        .iter()
        .filter(|reply| reply.header("riff-repeat") == Some("1"))
        .count();
    assert_eq!(repeats, 49);
    assert_eq!(calls(dir.path()).len(), 1);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn while_the_first_runs_another_body_is_422_and_the_first_is_unharmed() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.hold();
    let mut first = Client::connect(server.at).await;
    first.send(&say("one", "x").bytes()).await;
    let mut second = Client::connect(server.at).await;
    queued(server.at, "one").await;
    let reused = second.ask(&say("one", "y")).await;
    assert_eq!(
        (reused.status, reused.code().as_str()),
        (422, "call_reused")
    );
    journal.release();
    let reply = first.reply().await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "1"));
    assert_eq!(second.ask(&say("one", "y")).await.status, 422);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_that_hangs_up_does_not_stop_its_command() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.hold();
    let mut first = Client::connect(server.at).await;
    first.send(&say("one", "x").bytes()).await;
    let mut other = Client::connect(server.at).await;
    queued(server.at, "one").await;
    drop(first);
    let mut second = Client::connect(server.at).await;
    second
        .send(&say("one", "x").header("riff-try", "2").bytes())
        .await;
    journal.release();
    for reply in [second.reply().await, other.ask(&say("one", "x")).await] {
        assert_eq!((reply.status, reply.body.as_str()), (200, "1"));
        assert_eq!(reply.header("riff-repeat"), Some("1"));
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_restart_changes_no_answer_and_the_log_tells_what_ran() {
    let dir = tempfile::tempdir().unwrap();
    let claim = |id: &str| Request::new("POST", "/v1/items/a%2Fb").call(id);
    let server = serve_dir(dir.path()).await;
    let mut client = Client::connect(server.at).await;
    let first = client.ask(&claim("1")).await;
    assert_eq!((first.status, first.header("riff-repeat")), (200, None));
    assert_eq!(first.header("riff-caller"), Some("ann"));
    assert_eq!(first.header("riff-build"), Some("1.1 0.1.0 - -"));
    assert_eq!(first.header("content-type"), Some("application/json"));
    let no = client.ask(&claim("2").header("riff-try", "2")).await;
    assert_eq!((no.status, no.header("riff-refused")), (409, Some("held")));
    assert_eq!(
        (no.code().as_str(), &no.json()["detail"]),
        ("held", &"ann holds it".into())
    );
    server.stop().await.unwrap();

    let server = serve_dir(dir.path()).await;
    let mut client = Client::connect(server.at).await;
    let again = client.ask(&claim("1")).await;
    assert_eq!(
        (again.body.as_str(), again.header("riff-repeat")),
        (first.body.as_str(), Some("1"))
    );
    let again = client.ask(&claim("2")).await;
    assert_eq!(
        (again.body.as_str(), again.header("riff-repeat")),
        (no.body.as_str(), Some("1"))
    );
    assert_eq!(again.header("riff-refused"), Some("held"));
    let read = client.ask(&Request::new("GET", "/v1/items/a%2Fb")).await;
    assert_eq!(read.body, r#""ann""#);
    server.stop().await.unwrap();

    let all = calls(dir.path());
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].call.as_str(), all[0].attempt), ("1", 1));
    assert_eq!(all[0].change.as_ref().unwrap()["held"]["item"], "a/b");
    assert_eq!((all[1].command.as_str(), all[1].attempt), ("claim", 2));
    assert_eq!(all[1].change, None);
    let Some(log::LoggedOutcome::Refused(refusal)) = &all[1].outcome else {
        panic!("{all:?}")
    };
    assert_eq!((refusal.status, refusal.code.as_str()), (409, "held"));
}

#[tokio::test]
async fn after_a_failed_write_each_try_is_503_and_after_a_restart_it_runs() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    let mut client = Client::connect(server.at).await;
    journal.fail_append(1);
    for _ in 0..2 {
        let reply = client.ask(&say("one", "x")).await;
        assert_eq!((reply.status, reply.code().as_str()), (503, "unavailable"));
        assert_eq!(reply.header("riff-build"), Some("1.1 0.1.0 - -"));
        assert!(
            !reply.body.contains("test said so"),
            "the inside is not told"
        );
    }
    let error = server.stop().await.unwrap_err().to_string();
    assert!(error.contains("a test said so"), "{error}");

    let server = serve(journal.killed().unwrap()).await;
    let reply = Client::connect(server.at).await.ask(&say("one", "x")).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "1"));
    assert_eq!(reply.header("riff-repeat"), None);
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_kill_inside_of_a_command_leaves_a_kept_reply_or_a_fresh_run() {
    let journal = MemoryJournal::new();
    let server = serve(journal.clone()).await;
    journal.fail_sync(1);
    let mut client = Client::connect(server.at).await;
    assert_eq!(client.ask(&say("one", "x")).await.status, 503);
    for (unsynced, repeat) in [(0, None), (10, None), (usize::MAX, Some("1"))] {
        let server = serve(journal.without_power(unsynced).unwrap()).await;
        let reply = Client::connect(server.at).await.ask(&say("one", "x")).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, "1"));
        assert_eq!(reply.header("riff-repeat"), repeat);
        server.stop().await.unwrap();
    }
    assert!(server.stop().await.is_err());
}

#[tokio::test]
async fn one_id_on_two_routes_is_422() {
    let server = serve(MemoryJournal::new()).await;
    let mut client = Client::connect(server.at).await;
    assert_eq!(client.ask(&say("one", "x")).await.status, 200);
    let reply = client
        .ask(&Request::new("POST", "/v1/items/x").call("one"))
        .await;
    assert_eq!(reply.code(), "call_reused");
    let reply = client
        .ask(&Request::new("POST", "/v1/say?x").call("one"))
        .await;
    assert_eq!(reply.code(), "call_reused");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn another_caller_with_the_same_id_has_a_call_of_its_own_and_a_new_token_has_not() {
    let server = serve(MemoryJournal::new()).await;
    let mut client = Client::connect(server.at).await;
    assert_eq!(client.ask(&say("one", "x")).await.body, "1");
    let of = |token: &str| {
        let bearer = format!("bearer {token}");
        let request = Request::bare("POST", "/v1/say").header("authorization", &bearer);
        request.call("one").body(r#"{"text":"x"}"#)
    };
    let ben = client.ask(&of("ben-token")).await;
    assert_eq!((ben.body.as_str(), ben.header("riff-repeat")), ("2", None));
    assert_eq!(ben.header("riff-caller"), Some("ben"));
    let ann = client.ask(&of("ann-new-token")).await;
    assert_eq!(
        (ann.body.as_str(), ann.header("riff-repeat")),
        ("1", Some("1"))
    );
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_refused_retry_keeps_the_delayed_first_try_from_running() {
    let server = serve(MemoryJournal::new()).await;
    let mut client = Client::connect(server.at).await;
    let bens = Request::bare("POST", "/v1/items/x").header("authorization", "Bearer ben-token");
    assert_eq!(
        client.ask(&bens).await.status,
        200,
        "a command without an ID runs"
    );
    let claim = Request::new("POST", "/v1/items/x").call("one");
    let no = client.ask(&claim.clone().header("riff-try", "2")).await;
    assert_eq!((no.status, no.header("riff-repeat")), (409, None));
    let late = client.ask(&claim.header("riff-try", "1")).await;
    assert_eq!((late.status, late.header("riff-repeat")), (409, Some("1")));
    assert_eq!(late.header("riff-refused"), Some("held"));
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_handler_that_panics_is_500_and_tells_nothing_of_the_inside() {
    let server = serve(MemoryJournal::new()).await;
    let mut client = Client::connect(server.at).await;
    let reply = client
        .ask(&Request::new("POST", "/v1/boom").call("one"))
        .await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "failed"));
    assert!(
        reply.body.contains("`boom`") && !reply.body.contains("secret"),
        "{}",
        reply.body
    );
    assert_eq!(client.ask(&say("two", "x")).await.status, 200);
    server.stop().await.unwrap();
}
