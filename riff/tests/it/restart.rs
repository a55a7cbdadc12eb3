//! What a restart keeps, and how a server ends.

use std::fs;

use crate::world::{Dir, Server, ok, post};

#[test]
fn a_command_that_is_sent_again_after_a_kill_gets_the_first_reply() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let request = post(
        "/v1/threads/general/messages",
        &ann,
        "my-call",
        r#"{"text":"once"}"#,
    );
    let server = Server::start(&dir);
    let first = server.raw(&request);
    assert!(first.starts_with("HTTP/1.1 200 OK"), "{first}");
    assert!(!first.contains("riff-repeat"), "{first}");
    server.kill();
    let server = Server::start(&dir);
    let again = server.raw(&request);
    assert!(again.contains("riff-repeat: 1"), "{again}");
    assert_eq!(body(&first), body(&again));
    let other = post(
        "/v1/threads/general/messages",
        &ann,
        "my-call",
        r#"{"text":"other"}"#,
    );
    let other = server.raw(&other);
    assert!(other.starts_with("HTTP/1.1 422 "), "{other}");
    assert!(other.contains(r#""code":"call_reused""#), "{other}");
    let log = dir.log();
    let calls = log.iter().filter(|record| record.get("call").is_some());
    assert_eq!(calls.count(), 1);
}

#[test]
fn a_server_ends_in_order_when_it_is_told_to() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    let (code, told) = server.stop();
    assert_eq!(code, Some(0), "{told}");
    let server = Server::start(&dir);
    assert!(ok(server.riff(&ann).args(["history", "general"])).ends_with("ann: one\n"));
}

#[test]
fn a_torn_end_of_the_log_is_cut_and_told() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    ok(server.riff(&ann).args(["post", "general", "two"]));
    server.kill();
    let whole = fs::read(dir.segment()).unwrap();
    // Behind the last frame are the zeros that the next ones would take.
    let end = whole.iter().rposition(|byte| *byte != 0).unwrap();
    fs::write(dir.segment(), &whole[..end - 5]).unwrap();
    let server = Server::start(&dir);
    assert_eq!(
        ok(server.riff(&ann).args(["threads"])),
        "general: 1 messages, 1 unread\n"
    );
    let (code, told) = server.stop();
    assert_eq!(code, Some(0));
    assert!(
        told.contains("a torn end of the log was cut away"),
        "{told}"
    );
}

fn body(reply: &str) -> &str {
    reply.split_once("\r\n\r\n").unwrap().1
}
