//! `riff-server calls show` and `settle`: what a running server knows of one call.

use std::{net::TcpListener, process::Command};

use serde_json::Value;

use crate::world::{Dir, Server, no, ok, post, server};

const MESSAGES: &str = "/v1/threads/general/messages";
const HELLO: &str = r#"{"text":"hello"}"#;

fn calls(process: &Server, token: &str, args: &[&str]) -> Command {
    let mut command = server();
    command
        .arg("calls")
        .args(args)
        .env("RIFF_TOKEN", token)
        .env("RIFF_SERVER", format!("http://{}", process.address));
    command
}

#[test]
fn a_call_that_ran_is_told_with_its_reply_to_its_caller_alone() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let process = Server::start(&dir);
    process.raw(&post(MESSAGES, &ann, "a-1", HELLO));
    let told = ok(&mut calls(&process, &ann, &["show", "a-1"]));
    assert!(told.starts_with("a-1 (post) ran, "), "{told}");
    assert!(told.trim_end().ends_with(r#"-> {"seq":1}"#), "{told}");
    let json = ok(&mut calls(&process, &ann, &["show", "a-1", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fate"], "ran");
    assert_eq!(json["reply"]["seq"], 1);
    let settled = ok(&mut calls(&process, &ann, &["settle", "a-1"]));
    assert_eq!(settled, "a-1 ran -> {\"seq\":1}\n");
    let other = ok(&mut calls(&process, &ben, &["show", "a-1"]));
    assert!(other.contains("it has not run"), "{other}");
}

#[test]
fn a_call_that_was_settled_before_it_arrived_never_runs() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    let before = ok(&mut calls(&process, &ann, &["show", "late", "--json"]));
    let before: Value = serde_json::from_str(&before).unwrap();
    assert_eq!(before["fate"], "unknown");
    let settled = ok(&mut calls(&process, &ann, &["settle", "late"]));
    assert_eq!(settled, "late never ran, and never runs\n");
    process.kill();
    let process = Server::start(&dir);
    let late = process.raw(&post(MESSAGES, &ann, "late", HELLO));
    assert!(late.starts_with("HTTP/1.1 410 "), "{late}");
    assert!(late.contains(r#""code":"call_cancelled""#), "{late}");
    assert_eq!(ok(process.riff(&ann).arg("threads")), "");
    let json = ok(&mut calls(&process, &ann, &["settle", "late", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fate"], "cancelled");
    let listed = ok(server().args(["calls", "list", "--dir"]).arg(dir.path()));
    assert!(
        listed.starts_with("ann late settle cancelled, "),
        "{listed}"
    );
}

#[test]
fn who_cannot_ask_is_told_why() {
    let dir = Dir::new();
    let process = Server::start(&dir);
    let (code, told) = no(server().args(["calls", "show", "a-1"]));
    assert_eq!(code, 1);
    assert!(told.contains("set RIFF_TOKEN"), "{told}");
    let (code, told) = no(&mut calls(&process, "nobody", &["show", "a-1"]));
    assert_eq!(code, 3, "{told}");
    let (code, told) = no(&mut calls(&process, "x", &["show", "a b"]));
    assert_eq!(code, 2, "{told}");
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for verb in ["show", "settle"] {
        let url = format!("http://{free}");
        let mut command = calls(&process, "x", &[verb, "a-1"]);
        let (code, told) = no(command.env("RIFF_SERVER", url));
        assert_eq!(code, 5, "{told}");
        let mut command = calls(&process, "x", &[verb, "a-1"]);
        let (code, told) = no(command.env("RIFF_SERVER", "riff.example"));
        assert_eq!(code, 2, "{told}");
    }
}
