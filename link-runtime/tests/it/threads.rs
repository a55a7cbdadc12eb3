//! Servers of a stream and of its catch-up query, and what a test reads of them.

use std::time::Duration;

use link_runtime::{EventStream, StreamItem};
use tokio::time::timeout;

use crate::{
    fixture::{Message, soon},
    server::{Seen, Server, Step, yes},
};

/// Events of these numbers, as the text of a stream.
pub(crate) fn events(numbers: impl IntoIterator<Item = u64>) -> String {
    let event = |seq| format!("id: {seq}\ndata: {{\"seq\":{seq}}}\n\n");
    numbers.into_iter().map(event).collect::<Vec<_>>().concat()
}

/// A page of the catch-up query.
pub(crate) fn page(numbers: impl IntoIterator<Item = u64>, lost: u64, more: bool) -> Vec<Step> {
    let items: Vec<_> = numbers
        .into_iter()
        .map(|seq| format!("{{\"seq\":{seq}}}"))
        .collect();
    yes(&format!(
        "{{\"items\":[{}],\"lost\":{lost},\"more\":{more}}}",
        items.join(",")
    ))
}

/// The `after` of a catch-up query; none for the stream itself.
pub(crate) fn after(seen: &Seen) -> Option<u64> {
    seen.path
        .strip_prefix("/v1/threads/t?after=")
        .map(|text| text.parse().unwrap())
}

pub(crate) fn opens(server: &Server) -> usize {
    server
        .seen()
        .iter()
        .filter(|seen| after(seen).is_none())
        .count()
}

pub(crate) fn afters(server: &Server) -> Vec<u64> {
    server.seen().iter().filter_map(after).collect()
}

/// A server whose stream is opened by `open`, which gets how often it was opened before, and
/// whose catch-up query is answered by `history`.
pub(crate) async fn server(
    open: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static,
    history: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static,
) -> Server {
    let opened = std::sync::atomic::AtomicUsize::new(0);
    Server::new(move |seen| match after(seen) {
        Some(after) => history(after),
        None => open(opened.fetch_add(1, std::sync::atomic::Ordering::SeqCst)),
    })
    .await
}

pub(crate) async fn numbers(stream: &mut EventStream<Message>, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        match soon(stream.next()).await {
            Some(Ok(StreamItem::Event(message))) => numbers.push(message.seq),
            other => panic!("after {numbers:?} came {other:?}"),
        }
    }
    numbers
}

pub(crate) async fn nothing_more(stream: &mut EventStream<Message>) {
    let more = timeout(Duration::from_millis(100), stream.next()).await;
    assert!(more.is_err(), "{more:?}");
}
