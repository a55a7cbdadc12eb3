//! What each command does, and its exit code.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use crate::world::{Dir, Server, no, ok};

#[test]
fn people_post_and_read() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let server = Server::start(&dir);
    assert_eq!(
        ok(server.riff(&ann).args(["post", "general", "hello"])),
        "posted as 1 of general\n"
    );
    assert_eq!(
        ok(server.riff(&ben).args(["post", "general", "hi"])),
        "posted as 2 of general\n"
    );
    let history = ok(server.riff(&ben).args(["history", "general"]));
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines.len(), 2, "{history}");
    assert!(
        lines[0].starts_with("1 ") && lines[0].ends_with(" ann: hello"),
        "{history}"
    );
    assert!(
        ok(server
            .riff(&ben)
            .args(["history", "general", "--after", "1"]))
        .starts_with("2 ")
    );
    assert_eq!(
        ok(server.riff(&ben).args(["threads"])),
        "general: 2 messages, 2 unread\n"
    );
    assert_eq!(
        ok(server.riff(&ben).args(["ack", "general", "2"])),
        "read general up to 2\n"
    );
    assert_eq!(
        ok(server.riff(&ben).args(["threads"])),
        "general: 2 messages\n"
    );
    let who = ok(server.riff(&ann).args(["who", "--json"]));
    let who: serde_json::Value = serde_json::from_str(&who).unwrap();
    assert_eq!(who["present"][0]["caller"], "ann");
    assert_eq!(who["present"][1]["caller"], "ben");
}

#[test]
fn one_caller_at_a_time_holds_an_item() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let server = Server::start(&dir);
    assert!(ok(server.riff(&ann).args(["claim", "i1"])).starts_with("i1 is yours, since "));
    let (code, told) = no(server.riff(&ben).args(["claim", "i1"]));
    assert_eq!(
        (code, told.as_str()),
        (3, "riff: refused: ann holds i1 (held)\n")
    );
    let (code, told) = no(server.riff(&ben).args(["release", "i1"]));
    assert_eq!(
        (code, told.as_str()),
        (3, "riff: refused: ann holds i1 (held)\n")
    );
    assert_eq!(
        ok(server.riff(&ann).args(["release", "i1"])),
        "i1 is free\n"
    );
    let (code, told) = no(server.riff(&ann).args(["release", "i1"]));
    assert_eq!(
        (code, told.as_str()),
        (3, "riff: refused: nobody holds i1 (not_held)\n")
    );
    assert!(ok(server.riff(&ben).args(["claim", "i1"])).starts_with("i1 is yours, since "));
}

#[test]
fn a_tail_shows_what_is_posted_also_through_a_kill_of_the_server() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    let mut tail = server
        .riff(&ann)
        .args(["tail", "general", "--after", "0", "--limit", "3", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"one\""));
    ok(server.riff(&ann).args(["post", "general", "two"]));
    assert!(lines.next().unwrap().unwrap().contains("\"two\""));
    let mut talk = BufReader::new(tail.stderr.take().unwrap()).lines();
    let address = server.address.clone();
    server.kill();
    let down = talk.next().unwrap().unwrap();
    assert!(down.contains("is not reachable"), "{down}");
    let server = Server::start_at(&dir, &address);
    let back = talk.next().unwrap().unwrap();
    assert!(back.contains("is back (down "), "{back}");
    ok(server.riff(&ann).args(["post", "general", "three"]));
    let last = lines.next().unwrap().unwrap();
    assert!(
        last.contains("\"three\"") && last.contains("\"seq\":3"),
        "{last}"
    );
    assert!(lines.next().is_none());
    assert!(
        talk.next().is_none(),
        "one line for a fault, and one for its end"
    );
    assert!(tail.wait().unwrap().success());
}
