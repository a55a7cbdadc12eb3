//! The text of event streams, torn on the socket, through the whole client; and streams that
//! never end a line.

use std::time::Duration;

use faults::{Events, Origin, Script};
use riff_link::client::StreamError;

use crate::fixture::{BUILD, PATIENT, api_with, message, next, ready, soon, thread};

/// A server whose only stream says this, and then nothing.
fn saying(events: Events) -> Origin {
    Origin::start(Script::streams(
        move |_, _| events.clone().freeze(),
        |seen| panic!("{seen:?}"),
    ))
    .unwrap()
}

/// The messages 1 to 3 are read from a stream that says these bytes, so many in a chunk.
async fn reads_three(bytes: &[u8], of: usize) {
    let server = saying(Events::head(BUILD).torn(bytes, of, Duration::ZERO));
    let api = api_with(&server.base(), PATIENT);
    let mut tail = api.tail(&thread());
    for seq in 1..=3 {
        assert_eq!(next(&mut tail).await, seq, "{of} bytes at a time");
    }
    assert_eq!(server.stop().await.requests.len(), 1);
    assert_eq!(api.link().stats().faults, 0);
}

/// A stream of three messages with all that its text may have, with these ends of lines.
fn three(newline: &str) -> String {
    let [one, two, three] = [1, 2, 3].map(message);
    // A value may be spread over lines where JSON may have white space.
    let (head, tail) = two.split_at(1);
    [
        ": ready 0",
        "id: 1",
        "event: message",
        &format!("data: {one}"),
        "",
        ": a comment",
        "unknown: field",
        "no colon",
        "id",
        &format!("data:{head}"),
        &format!("data: {tail}"),
        "",
        // An event without data is none.
        "event: nothing",
        "id: 2",
        "",
        "retry: 100",
        "retry: soon",
        &format!("data: {three}"),
        "id: 3",
        "",
        "",
    ]
    .join(newline)
}

#[tokio::test]
async fn one_byte_in_a_chunk_is_read_as_all_at_once() {
    for newline in ["\n", "\r\n"] {
        let text = three(newline);
        for of in [1, 2, 3, 5, text.len()] {
            reads_three(text.as_bytes(), of).await;
        }
    }
}

#[tokio::test]
async fn a_cr_alone_ends_a_line_and_the_last_event_does_not_wait_for_a_line_feed() {
    for of in [1, 2, 7] {
        reads_three(three("\r").as_bytes(), of).await;
    }
}

#[tokio::test]
async fn a_byte_order_mark_in_three_pieces_is_stripped() {
    // Its first line is one that counts.
    let [one, two, three] = [1, 2, 3].map(message);
    let text = format!("\u{feff}data: {one}\n\ndata: {two}\n\ndata: {three}\n\n");
    for of in [1, 2, text.len()] {
        reads_three(text.as_bytes(), of).await;
    }
}

#[tokio::test]
async fn a_cr_and_its_line_feed_in_two_pieces_are_one_end() {
    let text = three("\r\n");
    let mut events = Events::head(BUILD);
    for line in text.split_inclusive('\r') {
        events = events.torn(line.as_bytes(), line.len(), Duration::from_millis(1));
    }
    let server = saying(events);
    let api = api_with(&server.base(), PATIENT);
    let mut tail = api.tail(&thread());
    for seq in 1..=3 {
        assert_eq!(next(&mut tail).await, seq);
    }
    assert_eq!(server.stop().await.requests.len(), 1);
}

const GIB: u64 = 1 << 30;
const PIECE: usize = 64 << 10;

/// A stream that goes on with a gibibyte of this piece, again and again, ends at the cap.
async fn ends_at_the_cap(piece: &[u8]) {
    assert_eq!(piece.len(), PIECE);
    let times = GIB / u64::try_from(PIECE).unwrap();
    let server = saying(ready(0).event(1, &message(1)).repeat(piece, times));
    let api = api_with(&server.base(), PATIENT);
    let mut tail = api.tail(&thread());
    assert_eq!(next(&mut tail).await, 1);
    let error = soon(tail.next()).await.unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            StreamError::Undecodable {
                cursor: Some(1),
                ..
            }
        ),
        "{error:?}"
    );
    assert!(soon(tail.next()).await.is_none());
    let told = server.stop().await;
    // The cap, and what the systems of both ends hold.
    assert!(told.sent < 64 << 20, "{}", told.sent);
    assert_eq!(told.requests.len(), 1);
}

#[tokio::test]
async fn a_gibibyte_without_a_newline_is_cut_at_the_cap() {
    ends_at_the_cap("x".repeat(PIECE).as_bytes()).await;
}

#[tokio::test]
async fn a_gibibyte_of_data_lines_without_a_blank_one_is_cut_at_the_cap() {
    let line = format!("data:{}\n", "x".repeat(58));
    ends_at_the_cap(line.repeat(PIECE / line.len()).as_bytes()).await;
}
