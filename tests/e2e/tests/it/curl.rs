//! Clients that are not ours: plain HTTP over a socket, as curl sends it.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::world::{Running, posted};

async fn send(address: SocketAddr, headers: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v1/threads/general/messages HTTP/1.1\r\nhost: riff\r\n{headers}\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).await.unwrap();
    reply
}

#[tokio::test]
async fn a_call_id_of_their_own_is_run_once() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let headers = "authorization: Bearer ann\r\nriff-call: order-7\r\n";
    let first = send(running.address, headers, r#"{"text":"hello"}"#).await;
    let again = send(running.address, headers, r#"{"text":"hello"}"#).await;
    assert!(first.ends_with(r#"{"seq":1}"#), "{first}");
    assert!(
        again.ends_with(r#"{"seq":1}"#) && again.contains("riff-repeat: 1"),
        "{again}"
    );
    let other_caller = "authorization: Bearer ben\r\nriff-call: order-7\r\n";
    let other = send(running.address, other_caller, r#"{"text":"hello"}"#).await;
    assert!(
        other.ends_with(r#"{"seq":2}"#) && !other.contains("riff-repeat"),
        "{other}"
    );
    running.stop().await;
    assert_eq!(posted(dir.path()).len(), 2);
}

#[tokio::test]
async fn each_fault_of_a_request_is_a_problem_with_the_build_header() {
    let dir = tempfile::tempdir().unwrap();
    let running = Running::start(dir.path()).await;
    let ann = "authorization: Bearer ann\r\n";
    let table = [
        ("", r#"{"text":"x"}"#, 401, "unauthenticated"),
        (
            "authorization: Bearer nobody\r\n",
            r#"{"text":"x"}"#,
            401,
            "unauthenticated",
        ),
        (
            &format!("{ann}riff-call: a,b\r\n"),
            r#"{"text":"x"}"#,
            400,
            "bad_request",
        ),
        (
            &format!("{ann}riff-call: a\r\nriff-call: b\r\n"),
            r#"{"text":"x"}"#,
            400,
            "bad_request",
        ),
        (
            &format!("{ann}riff-try: 0\r\n"),
            r#"{"text":"x"}"#,
            400,
            "bad_request",
        ),
        (
            &format!("{ann}riff-build: 9.0\r\n"),
            r#"{"text":"x"}"#,
            412,
            "other_build",
        ),
        (ann, r#"{"txt":"x"}"#, 400, "bad_request"),
        (ann, "no json", 400, "bad_request"),
        (ann, r#"{"text":""}"#, 422, "text_length"),
    ];
    for (headers, body, status, code) in table {
        let reply = send(running.address, headers, body).await;
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status} ")),
            "{headers}{body}\n{reply}"
        );
        assert!(
            reply.contains(&format!(r#""code":"{code}""#)),
            "{headers}{body}\n{reply}"
        );
        assert!(reply.contains("riff-build: 1.0 "), "{reply}");
        assert!(
            reply.contains("content-type: application/problem+json"),
            "{reply}"
        );
        // Only the handler's no is a refusal of the command.
        assert_eq!(
            reply.contains("riff-refused: "),
            code == "text_length",
            "{reply}"
        );
    }
    running.stop().await;
    assert!(posted(dir.path()).is_empty());
}
