//! A reply that is cut at every byte is no reply, and the same command is sent again.

use crate::{
    fixture::{Message, api, claim, soon, who},
    server::{BUILD, Server, Step, yes},
};

/// Cuts `reply` before its last byte, at every place, and asks for a whole one.
async fn cut_everywhere(reply: String, close: Step) {
    let length = reply.len();
    let bytes = reply.into_bytes();
    let server = Server::new(move |seen| {
        // Each command has two tries: the first is cut, the second is not.
        if seen.number % 2 == 1 {
            return yes("\"whole\"");
        }
        vec![Step::Send(bytes[..seen.number / 2].to_vec()), close.clone()]
    })
    .await;
    let api = api(&server.base());
    for at in 0..length {
        let call = api
            .request(&crate::fixture::CLAIM)
            .path("item", &at)
            .body(&Message { seq: 1 })
            .command::<String>();
        let id = call.id().clone();
        assert_eq!(
            soon(call.into_future()).await.as_deref(),
            Ok("whole"),
            "cut at {at}"
        );
        let seen = server.seen();
        assert_eq!(seen.len(), 2 * (at + 1), "cut at {at}");
        for (number, seen) in ["1", "2"].into_iter().zip(&seen[2 * at..]) {
            assert_eq!(
                (seen.header("riff-call"), seen.header("riff-try")),
                (id.as_str(), number)
            );
        }
    }
    let stats = api.link().stats();
    assert_eq!(stats.faults, u64::try_from(length).unwrap());
}

fn with_length() -> String {
    format!("HTTP/1.1 200 OK\r\n{BUILD}content-length: 5\r\n\r\n\"cut\"")
}

fn chunked() -> String {
    let head = format!("HTTP/1.1 200 OK\r\n{BUILD}transfer-encoding: chunked\r\n\r\n");
    format!("{head}2\r\n\"c\r\n3\r\nut\"\r\n0\r\n\r\n")
}

#[tokio::test]
async fn a_reply_with_a_length_that_ends_early() {
    cut_everywhere(with_length(), Step::Close).await;
}

#[tokio::test]
async fn a_reply_with_a_length_that_is_reset() {
    cut_everywhere(with_length(), Step::Reset).await;
}

#[tokio::test]
async fn a_reply_in_chunks_that_ends_early() {
    cut_everywhere(chunked(), Step::Close).await;
}

#[tokio::test]
async fn a_reply_that_ends_with_its_connection_is_whole_only_if_its_json_is() {
    let head = format!("HTTP/1.1 200 OK\r\n{BUILD}\r\n");
    let server = Server::new(move |seen| {
        let body = ["", "{", "{\"seq\":", "{\"seq\":7}"][seen.number];
        vec![Step::Send(format!("{head}{body}").into()), Step::Close]
    })
    .await;
    let call = api(&server.base())
        .request(&crate::fixture::WHO)
        .call::<Message>();
    assert_eq!(soon(call.into_future()).await, Ok(Message { seq: 7 }));
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn what_is_not_http_is_no_reply() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Send(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()), Step::Close],
        1 => vec![Step::Send(b"HTTP/1.1 abc\r\n\r\n".to_vec()), Step::Close],
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    assert_eq!(api.link().stats().faults, 2);
}
