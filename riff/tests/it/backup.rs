//! Backup and restore, as an operator does them.

use std::{
    fs,
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use serde_json::Value;

use crate::world::{Dir, Server, no, ok, post, server};

const MESSAGES: &str = "/v1/threads/general/messages";

fn backup(dir: &Dir, to: &Dir) -> Command {
    let mut command = server();
    command.arg("backup").arg("--dir").arg(dir.path());
    command.arg("--to").arg(to.path().join("copy"));
    command
}

fn restore(from: &Dir, dir: &Dir) -> Command {
    let mut command = server();
    command.arg("restore").arg("--from");
    command.arg(from.path().join("copy"));
    command.arg("--dir").arg(dir.path());
    command
}

fn header(reply: &str, name: &str) -> String {
    let mut lines = reply.lines();
    let line = lines.find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| unreachable!("no {name} in {reply}"))
        .to_owned()
}

fn posts(records: &[Value]) -> Vec<&Value> {
    let posts = records.iter().filter(|record| record["command"] == "post");
    posts.collect()
}

#[test]
fn a_backup_under_load_has_a_whole_log_and_nothing_that_was_acknowledged_before_it_lacks() {
    let (dir, copy, new) = (Dir::new(), Dir::new(), Dir::new());
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    let (stop, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let call = format!("call-{}", sent.load(Ordering::Relaxed));
                let reply = process.raw(&post(MESSAGES, &ann, &call, r#"{"text":"x"}"#));
                assert!(reply.starts_with("HTTP/1.1 200 OK"), "{reply}");
                sent.fetch_add(1, Ordering::Relaxed);
            }
        });
        while sent.load(Ordering::Relaxed) < 50 {
            thread::yield_now();
        }
        let before = sent.load(Ordering::Relaxed);
        ok(&mut backup(&dir, &copy));
        stop.store(true, Ordering::Relaxed);
        before
    });
    let sent = sent.load(Ordering::Relaxed);
    process.kill();

    ok(&mut restore(&copy, &new));
    let records = new.log();
    let kept = posts(&records).len() as u64;
    assert!(
        (before..=sent).contains(&kept),
        "{before} <= {kept} <= {sent}"
    );
    let all = dir.log();
    assert_eq!(posts(&records), posts(&all)[..posts(&records).len()]);
    ok(server().args(["log", "check", "--dir"]).arg(new.path()));

    // The tokens came along, and the server goes on where the backup ends.
    let process = Server::start(&new);
    let posted = ok(process.riff(&ann).args(["post", "general", "after"]));
    assert_eq!(posted, format!("posted as {} of general\n", kept + 1));
}

#[test]
fn a_retry_from_before_a_restore_is_told_that_the_log_was_rolled_back() {
    let (dir, copy, new) = (Dir::new(), Dir::new(), Dir::new());
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    let before = process.raw(&post(MESSAGES, &ann, "before", r#"{"text":"before"}"#));
    ok(&mut backup(&dir, &copy));
    let seen = header(&before, "riff-log");
    let lost = process.raw(&post(MESSAGES, &ann, "lost", r#"{"text":"lost"}"#));
    assert!(lost.starts_with("HTTP/1.1 200 OK"), "{lost}");
    let (code, _) = process.stop();
    assert_eq!(code, Some(0));

    let told = ok(&mut restore(&copy, &new));
    let process = Server::start(&new);
    let again = |call: &str, text: &str| {
        let body = format!(r#"{{"text":"{text}"}}"#);
        let request = post(MESSAGES, &ann, call, &body);
        process.raw(&request.replace("riff-call:", &format!("riff-log: {seen}\r\nriff-call:")))
    };
    let known = again("before", "before");
    assert!(known.contains("riff-repeat: 1"), "{told}{known}");
    let unknown = again("lost", "lost");
    assert!(unknown.starts_with("HTTP/1.1 410 "), "{unknown}");
    assert!(unknown.contains(r#""code":"rolled_back""#), "{unknown}");
    // Who begins anew says the position of now.
    let fresh = ok(process.riff(&ann).args(["post", "general", "fresh"]));
    assert_eq!(fresh, "posted as 2 of general\n");
}

#[test]
fn a_restore_overwrites_nothing() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    ok(&mut backup(&dir, &copy));
    ok(process.riff(&ann).args(["post", "general", "two"]));
    process.kill();
    let (code, told) = no(&mut restore(&copy, &dir));
    assert_eq!(code, 1);
    assert!(told.contains(&dir.path().display().to_string()), "{told}");
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 2);
    let (code, told) = no(&mut backup(&dir, &copy));
    assert_eq!(code, 1, "a backup is not written over: {told}");
}

#[test]
fn tokens_that_the_directory_has_are_not_those_of_the_backup() {
    let (dir, copy, new) = (Dir::new(), Dir::new(), Dir::new());
    let old = dir.token("ann");
    drop(Server::start(&dir));
    ok(&mut backup(&dir, &copy));
    let ann = new.token("ann");
    ok(&mut restore(&copy, &new));
    let process = Server::start(&new);
    ok(process.riff(&ann).arg("who"));
    assert_eq!(no(process.riff(&old).arg("who")).0, 3);
}

#[test]
fn what_is_no_backup_and_no_directory_is_told() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let (code, told) = no(&mut restore(&copy, &dir));
    assert_eq!(code, 1);
    assert!(told.contains("there is no directory"), "{told}");
    fs::create_dir(copy.path().join("copy")).unwrap();
    let (code, told) = no(&mut restore(&copy, &dir));
    assert_eq!(code, 1, "{told}");
    fs::write(dir.path().join("file"), "").unwrap();
    let (code, told) = no(server()
        .arg("backup")
        .arg("--dir")
        .arg(dir.path().join("file"))
        .arg("--to")
        .arg(copy.path().join("other")));
    assert_eq!(code, 1);
    assert!(told.contains("is no directory"), "{told}");
}
