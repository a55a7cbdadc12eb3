//! `riff-server serve`: what it says, and what stops it from starting.

use std::{fs, process::Command};

use serde_json::Value;

use crate::world::{Dir, Server, no, post, server};

fn serve(dir: &Dir) -> Command {
    let mut command = server();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path());
    command
}

#[test]
fn each_line_is_json_when_that_is_asked_for() {
    let dir = Dir::new();
    dir.token("ann");
    let process = Server::start_with(&dir, |command| command.args(["--log-format", "json"]));
    let address = process.address.clone();
    let (code, told) = process.stop();
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said: Vec<&str> = lines
        .iter()
        .map(|line| line["message"].as_str().unwrap())
        .collect();
    assert!(said.contains(&"opened the log"), "{told}");
    assert!(said.contains(&"stopping"), "{told}");
    let listening = lines.iter().find(|line| line["message"] == "listening");
    assert_eq!(listening.unwrap()["address"], address.as_str());
}

#[test]
fn a_setting_can_come_from_the_environment() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start_with(&dir, |command| command.env("RIFF_MOST_BODY", "1KiB"));
    let text = "x".repeat(2000);
    let body = format!(r#"{{"text":"{text}"}}"#);
    let reply = process.raw(&post("/v1/threads/general/messages", &ann, "a", &body));
    assert!(reply.starts_with("HTTP/1.1 413 "), "{reply}");
    let (code, told) = no(serve(&dir).env("RIFF_MOST_BODY", "much"));
    assert_eq!(code, 2);
    assert!(told.contains("64KiB, 16MiB or 1GiB"), "{told}");
}

#[test]
fn a_file_in_the_place_of_the_directory() {
    let dir = Dir::new();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(&file));
    assert_eq!(code, 1);
    assert!(told.contains("file is no directory"), "{told}");
}

#[test]
fn a_directory_that_cannot_be_made() {
    let dir = Dir::new();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(file.join("below")));
    assert_eq!(code, 1);
    assert!(told.contains("file/below"), "{told}");
}

#[test]
fn a_setting_without_sense_is_refused() {
    let dir = Dir::new();
    for (args, told) in [
        (&["--most-connections", "0"][..], "at least 1"),
        (&["--most-body", "0"], "at least 1"),
        (&["--rate", "0"], "0 is not in"),
        (
            &["--caller-header", "authorization", "--trust", "10.0.0.0/8"],
            "something else",
        ),
        (
            &["--caller-header", "Riff-Call", "--trust", "10.0.0.0/8"],
            "something else",
        ),
        (
            &["--caller-header", "x user", "--trust", "10.0.0.0/8"],
            "letters, digits",
        ),
        (&["--caller-header", "x-user"], "--trust"),
    ] {
        let (code, text) = no(serve(&dir).args(args));
        assert_eq!(code, 2, "{args:?}");
        assert!(text.contains(told), "{args:?}: {text}");
    }
}
