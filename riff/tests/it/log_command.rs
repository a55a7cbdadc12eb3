//! `riff-server log` and `calls list`: what a log says, with and without a server.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::world::{Dir, Server, no, ok, post, server};

fn log(dir: &Dir, args: &[&str]) -> Command {
    let mut command = server();
    command.arg("log").args(args).arg("--dir").arg(dir.path());
    command
}

fn json(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn say(process: &Server, token: &str, call: &str, text: &str) {
    let body = format!(r#"{{"text":"{text}"}}"#);
    let reply = process.raw(&post("/v1/threads/general/messages", token, call, &body));
    assert!(reply.starts_with("HTTP/1.1 200 OK"), "{reply}");
}

#[test]
fn the_records_that_are_asked_for_are_shown() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let process = Server::start(&dir);
    say(&process, &ann, "a-1", "one");
    say(&process, &ben, "b-1", "two");
    say(&process, &ann, "a-2", "three");

    let all = ok(&mut log(&dir, &["show"]));
    assert_eq!(all, ok(&mut log(&dir, &[])), "the short form");
    let records = json(&ok(&mut log(&dir, &["show", "--json"])));
    assert_eq!(records.len(), all.lines().count());
    assert_eq!(records, json(&ok(&mut log(&dir, &["export"]))));
    for (n, record) in (1_u64..).zip(&records) {
        assert_eq!(record["position"], n);
    }

    let ann = ok(&mut log(&dir, &["show", "--caller", "ann"]));
    assert_eq!(ann.lines().count(), 2, "{ann}");
    assert!(ann.contains(" ann post a-1 {"), "{ann}");
    let one = json(&ok(&mut log(&dir, &["show", "--json", "--call", "b-1"])));
    assert_eq!(one.len(), 1);
    assert_eq!(one[0]["change"]["posted"]["text"], "two");
    let newest = records.len().to_string();
    let from = json(&ok(&mut log(&dir, &["show", "--json", "--from", &newest])));
    assert_eq!(from, records[records.len() - 1..]);
    let beyond = ok(&mut log(&dir, &["show", "--from", "1000000"]));
    assert_eq!(beyond, "");
}

#[test]
fn what_is_written_is_followed() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    say(&process, &ann, "a-1", "one");
    let mut follow = log(&dir, &["show", "--json", "--follow", "--caller", "ann"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["call"], "a-1");
    say(&process, &ann, "a-2", "two");
    assert_eq!(lines.next().unwrap()["call"], "a-2");
    process.kill();
    let process = Server::start(&dir);
    say(&process, &ann, "a-3", "three");
    assert_eq!(lines.next().unwrap()["call"], "a-3", "also through a kill");
    follow.kill().unwrap();
    follow.wait().unwrap();
}

#[test]
fn the_newest_calls_of_each_caller_are_listed_without_a_server() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let process = Server::start(&dir);
    for call in ["a-1", "a-2", "a-3"] {
        say(&process, &ann, call, "x");
    }
    say(&process, &ben, "b-1", "x");
    process.kill();
    let calls = |args: &[&str]| {
        let mut command = server();
        let command = command.args(["calls", "list", "--dir"]).arg(dir.path());
        ok(command.args(args))
    };
    let all = json(&calls(&["--json"]));
    let ids: Vec<&str> = all
        .iter()
        .map(|call| call["call"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a-3", "a-2", "a-1", "b-1"]);
    assert!(
        all.iter()
            .all(|call| call["fate"] == "ran" && call["command"] == "post")
    );
    let most = json(&calls(&["--json", "--most", "1"]));
    assert_eq!((most.len(), &most[0], &most[1]), (2, &all[0], &all[3]));
    let ben = calls(&["--caller", "ben"]);
    assert_eq!(ben.lines().count(), 1);
    assert!(ben.starts_with("ben b-1 post ran, "), "{ben}");
}

#[test]
fn a_log_that_is_not_there_says_so() {
    let dir = Dir::new();
    let missing = dir.path().join("missing");
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for args in [
        &["log"][..],
        &["log", "show"],
        &["log", "check"],
        &["log", "export"],
        &["calls", "list"],
    ] {
        for place in [&missing, &file] {
            let (code, told) = no(server().args(args).arg("--dir").arg(place));
            assert_eq!(code, 1, "{args:?}: {told}");
            assert!(told.contains(&place.display().to_string()), "{told}");
        }
    }
    assert!(!missing.exists());
}
