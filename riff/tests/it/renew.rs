//! A server of another build, and a `riff` that runs until it is stopped.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
    thread,
};

/// A server that refuses each request for the build of its client; gives its address.
fn of_another_build() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap() == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let body = r#"{"status":412,"code":"other_build","title":"other build","detail":"the client is too old"}"#;
            let reply = format!(
                "HTTP/1.1 412 Precondition Failed\r\nriff-build: 9.0 9.0.0 - -\r\nconnection: \
                 close\r\ncontent-type: application/problem+json\r\ncontent-length: \
                 {}\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    address
}

#[test]
fn a_tail_waits_for_another_riff_in_its_place_and_goes_on_as_that() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("riff");
    fs::copy(env!("CARGO_BIN_EXE_riff"), &program).unwrap();
    let address = of_another_build();
    let mut tail = Command::new(&program)
        .args(["--json", "--server", &format!("http://{address}")])
        .args(["tail", "general", "--after", "7", "--limit", "2"])
        .env("RIFF_TOKEN", "x")
        .env("RIFF_OUTBOX", dir.path().join("outbox"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut talk = BufReader::new(tail.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("waiting for another riff at ") {
        assert!(talk.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let next = dir.path().join("next");
    fs::write(&next, "#!/bin/sh\necho as \"$@\"\n").unwrap();
    fs::set_permissions(&next, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&next, &program).unwrap();
    let done = tail.wait_with_output().unwrap();
    assert!(done.status.success());
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(
        said,
        format!("as tail general --server http://{address} --json --after 7 --limit 2\n")
    );
}

#[test]
fn a_short_command_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_riff"))
        .args(["--server", &format!("http://{}", of_another_build()), "who"])
        .env("RIFF_TOKEN", "x")
        .env("RIFF_OUTBOX", dir.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(3));
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(told.starts_with("riff: refused: "), "{told}");
    assert!(told.contains("other_build"), "{told}");
}
