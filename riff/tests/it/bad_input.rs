//! Each mistake of a person gets one clear message that says what to do.

use std::{fs, net::TcpListener};

use crate::world::{Dir, Server, client, no, ok, server};

#[test]
fn a_port_that_another_program_has() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = Dir::new();
    let (code, told) = no(server()
        .args(["serve", "--listen", &address, "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(
        told.contains(&format!("cannot listen on {address}")),
        "{told}"
    );
    assert!(told.contains("choose one with --listen"), "{told}");
    // A supervisor starts it again and again: that must not let the log grow.
    assert_eq!(dir.log(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_directory_that_another_server_has() {
    let dir = Dir::new();
    let first = Server::start(&dir);
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(told.contains("in use by process"), "{told}");
    assert!(told.contains(&dir.path().display().to_string()), "{told}");
    first.kill();
    Server::start(&dir);
}

#[test]
fn a_log_that_is_not_ours() {
    let dir = Dir::new();
    fs::write(
        dir.segment(),
        "2026-12-01 12:00:00 GET /index.html 200, and so on, line by line",
    )
    .unwrap();
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(
        told.contains(&dir.segment().display().to_string()),
        "{told}"
    );
    assert!(told.contains("is no log of ours"), "{told}");
}

#[test]
fn a_flipped_bit_before_the_end_of_the_log() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server_process = Server::start(&dir);
    ok(server_process.riff(&ann).args(["post", "general", "one"]));
    ok(server_process.riff(&ann).args(["post", "general", "two"]));
    server_process.kill();
    let mut bytes = fs::read(dir.segment()).unwrap();
    bytes[60] ^= 1;
    fs::write(dir.segment(), bytes).unwrap();
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(
        told.contains(&dir.segment().display().to_string()),
        "{told}"
    );
}

#[test]
fn a_token_that_the_server_does_not_know() {
    let dir = Dir::new();
    let server = Server::start(&dir);
    let (code, told) = no(server.riff("nobody").arg("who"));
    assert_eq!(code, 3);
    assert!(told.contains("does not know this token"), "{told}");
    assert!(told.contains("riff-server token NAME"), "{told}");
}

#[test]
fn no_token() {
    let (code, told) = no(client().arg("who"));
    assert_eq!(code, 1);
    assert!(told.contains("set RIFF_TOKEN"), "{told}");
}

#[test]
fn no_server() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{free}");
    let (code, told) = no(client()
        .env("RIFF_TOKEN", "x")
        .args(["--server", &url, "who"]));
    assert_eq!(code, 5);
    assert!(told.contains("did not get it"), "{told}");
}

#[test]
fn a_url_that_is_none() {
    for (url, hint) in [("riff.example", "http"), ("ftp://riff.example", "http")] {
        let (code, told) = no(client()
            .env("RIFF_TOKEN", "x")
            .args(["--server", url, "who"]));
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(url) && told.contains(hint), "{told}");
    }
}

#[test]
fn a_name_that_cannot_stand_in_a_path() {
    let (code, told) = no(client().env("RIFF_TOKEN", "x").args(["claim", "a/b"]));
    assert_eq!(code, 2);
    assert!(told.contains("is no name"), "{told}");
}

#[test]
fn a_caller_that_cannot_stand_in_a_header() {
    let dir = Dir::new();
    let (code, told) = no(server().args(["token", "ann lee", "--dir"]).arg(dir.path()));
    assert_eq!(code, 2);
    assert!(told.contains("visible ASCII"), "{told}");
}
