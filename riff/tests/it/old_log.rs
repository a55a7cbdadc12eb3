//! A log that the version before wrote: it is shown, started and served.

use std::{fs, path::Path};

use serde_json::Value;

use crate::world::{Dir, Server, ok, server};

/// A log of two callers, seven calls; one is a refusal of a second try.
const LOG_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/log-1");

fn of(fixture: &str) -> Dir {
    let dir = Dir::new();
    for entry in fs::read_dir(fixture).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    dir
}

fn shown(dir: &Path) -> Vec<Value> {
    let lines = ok(server().args(["log", "show", "--json", "--dir"]).arg(dir));
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_log_of_the_version_before_is_shown() {
    let records = shown(Path::new(LOG_1));
    let commands: Vec<&str> = records
        .iter()
        .map(|record| record["command"].as_str().unwrap())
        .collect();
    assert_eq!(
        commands,
        [
            "post", "claim", "post", "release", "claim", "ack", "release"
        ]
    );
    assert_eq!(records[6]["outcome"]["refused"]["code"], "not_held");
}

#[test]
fn a_log_of_the_version_before_is_served_and_goes_on() {
    let dir = of(LOG_1);
    let before = shown(dir.path());
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    let said: Vec<&str> = history
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(said, ["hello", "second"]);
    assert_eq!(
        ok(process.riff(&ann).args(["threads"])),
        "general: 2 messages\n",
        "ann has read them"
    );
    let who = ok(process.riff(&ben).args(["who", "--json"]));
    assert!(who.contains("issue-12"), "ben holds it: {who}");

    // The call that was refused at its second try is known, and gets the same answer.
    let request = format!(
        "POST /v1/items/issue-99/release HTTP/1.1\r\nhost: riff\r\n\
         authorization: Bearer {ben}\r\nriff-call: refused-retry\r\nriff-try: 3\r\n\
         content-length: 2\r\nconnection: close\r\n\r\n{{}}"
    );
    let again = process.raw(&request);
    assert!(again.starts_with("HTTP/1.1 409 "), "{again}");
    assert!(again.contains("riff-refused: not_held"), "{again}");
    assert!(again.contains("riff-repeat: 1"), "{again}");

    ok(process.riff(&ann).args(["post", "general", "third"]));
    process.kill();
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 3, "{history}");
    drop(process);
    let after = shown(dir.path());
    assert_eq!(after[..before.len()], before);
}
