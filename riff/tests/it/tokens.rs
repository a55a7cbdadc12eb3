//! Tokens: made, listed, rotated and revoked, with and without a server that runs.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use crate::world::{Dir, Server, no, ok, post, server};

fn token(dir: &Dir, args: &[&str]) -> std::process::Command {
    let mut command = server();
    command.arg("token").args(args).arg("--dir").arg(dir.path());
    command
}

fn list(dir: &Dir) -> Vec<Value> {
    ok(&mut token(dir, &["list", "--json"]))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_short_form_and_add_make_a_token_each() {
    let dir = Dir::new();
    let short = ok(&mut token(&dir, &["ann"]));
    let long = ok(&mut token(&dir, &["add", "list", "--expires", "30d"]));
    assert_ne!(short, long);
    let listed = list(&dir);
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[0]["caller"], "ann");
    assert_eq!(listed[0]["ends"], Value::Null);
    assert_eq!(listed[1]["caller"], "list");
    let lasts = listed[1]["ends"].as_u64().unwrap() - listed[1]["made"].as_u64().unwrap();
    assert_eq!(lasts, 30 * 24 * 60 * 60 * 1000);
    let shown = ok(&mut token(&dir, &["list"]));
    let file = fs::read_to_string(dir.path().join("tokens")).unwrap();
    for secret in [short.trim(), long.trim()] {
        assert_eq!(secret.len(), 44);
        assert!(!shown.contains(secret) && !file.contains(secret));
    }
    let mode = fs::metadata(dir.path().join("tokens"))
        .unwrap()
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert_eq!(ok(&mut token(&dir, &["list", "ann"])).lines().count(), 1);
}

#[test]
fn a_rotated_token_stands_for_the_same_caller_and_a_kept_reply_comes_under_it() {
    let dir = Dir::new();
    let old = dir.token("ann");
    let process = Server::start(&dir);
    let send = |token: &str| {
        let body = r#"{"text":"once"}"#;
        process.raw(&post("/v1/threads/general/messages", token, "a-call", body))
    };
    let first = send(&old);
    assert!(first.starts_with("HTTP/1.1 200 OK"), "{first}");
    let new = ok(&mut token(&dir, &["rotate", "ann", "--keep", "1h"]));
    let new = new.trim();
    for token in [new, &old] {
        let again = send(token);
        assert!(again.contains("riff-repeat: 1"), "{again}");
        assert!(again.contains("riff-caller: ann"), "{again}");
    }
    let listed = list(&dir);
    assert!(listed[0]["ends"].is_u64(), "the old one: {listed:?}");
    assert_eq!(listed[1]["ends"], Value::Null, "the new one: {listed:?}");

    let newest = ok(&mut token(&dir, &["rotate", "ann", "--keep", "0s"]));
    assert!(send(newest.trim()).contains("riff-repeat: 1"));
    for token in [new, &old] {
        let refused = send(token);
        assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    }
    let ended = list(&dir)
        .iter()
        .filter(|line| line["ended"] == true)
        .count();
    assert_eq!(ended, 2);
    let history = ok(process.riff(newest.trim()).args(["history", "general"]));
    assert_eq!(history.lines().count(), 1, "it ran once: {history}");
}

#[test]
fn a_revoked_token_is_refused_at_once_and_the_other_one_is_not() {
    let dir = Dir::new();
    let (one, two) = (dir.token("ann"), dir.token("ann"));
    let process = Server::start(&dir);
    ok(process.riff(&one).arg("who"));
    let id = list(&dir)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 8);
    ok(&mut token(&dir, &["revoke", "ann", "--id", &id]));
    assert_eq!(no(process.riff(&one).arg("who")).0, 3);
    ok(process.riff(&two).arg("who"));
    ok(&mut token(&dir, &["revoke", "ann"]));
    assert_eq!(no(process.riff(&two).arg("who")).0, 3);
    assert!(list(&dir).is_empty());
}

#[test]
fn a_file_of_the_version_before_is_read_and_keeps_its_lines() {
    let dir = Dir::new();
    // The SHA-256 of `secret`.
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    fs::write(dir.path().join("tokens"), format!("ann {hash}\n")).unwrap();
    let shown = ok(&mut token(&dir, &["list"]));
    assert_eq!(shown, "2bb80d53 ann, made at an unknown time, never ends\n");
    let process = Server::start(&dir);
    ok(process.riff("secret").arg("who"));
    let ben = dir.token("ben");
    ok(process.riff("secret").arg("who"));
    ok(process.riff(&ben).arg("who"));
}

#[test]
fn what_cannot_be_done_with_tokens_says_why() {
    let dir = Dir::new();
    let missing = dir.path().join("missing");
    for args in [&["list"][..], &["rotate", "ann"], &["revoke", "ann"]] {
        let (code, told) = no(server().arg("token").args(args).arg("--dir").arg(&missing));
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("there is no directory"), "{told}");
    }
    assert!(!missing.exists());
    let (code, told) = no(&mut token(&dir, &["rotate", "ann"]));
    assert_eq!(code, 1);
    assert!(told.contains("token add ann"), "{told}");
    let (code, told) = no(&mut token(&dir, &["revoke", "ann", "--id", "01234567"]));
    assert_eq!(code, 1);
    assert!(told.contains("ann has no token 01234567"), "{told}");
    let (code, told) = no(&mut token(&dir, &["ann", "--expires", "soon"]));
    assert_eq!(code, 2);
    assert!(told.contains("90s, 15m, 24h or 30d"), "{told}");

    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for args in [&["ann"][..], &["list"]] {
        let (code, told) = no(server().arg("token").args(args).arg("--dir").arg(&file));
        assert_eq!(code, 1);
        assert!(told.contains(&file.display().to_string()), "{told}");
    }
    fs::write(dir.path().join("tokens"), "ann 1234\n").unwrap();
    let (code, told) = no(&mut token(&dir, &["ben"]));
    assert_eq!(code, 1);
    assert!(told.contains("tokens:1: a line is a caller"), "{told}");
}
