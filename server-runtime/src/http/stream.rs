//! A stream as bytes: server-sent events, written by hand so that no field can break a line.
//!
//! ```text
//! : ready 17            first and at once; `: ready` for a stream without a cursor
//!
//! id: 18                the cursor, if the stream has one
//! data: {"seq":18}
//!
//! : alive               after 15 s of silence
//! ```
//!
//! It ends when its reader is too slow, after 50 minutes, when the server stops, and when no
//! record can come any more. A reader takes each of these for a reason to open it again.

use std::{
    convert::Infallible,
    fmt::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::stream;
use http::{
    HeaderName, HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use link_wire::Route;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{metrics::Held, stops};
use crate::{
    engine::{
        Live, Records,
        backlog::{NoChunk, Reader},
    },
    handler::{Event, ProjectFn},
};

/// How long a stream is silent before it says that it lives.
const SILENCE: Duration = Duration::from_secs(15);
/// The age at which a stream ends by itself, before a platform cuts it; plus or minus a twentieth.
const AGE: Duration = Duration::from_secs(50 * 60);
/// A piece of the stream takes events until it has this many bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The reply that opens a stream.
pub(super) fn response<C: Send + Sync + 'static>(
    route: &'static Route,
    live: Live<C>,
    draining: watch::Receiver<bool>,
    held: Held,
) -> Response {
    let tail = Tail::new(route, live, draining);
    // It is counted as open until the body goes.
    let pieces = stream::unfold((tail, held), |(mut tail, held)| async move {
        let piece = tail.next().await?;
        Some((Ok::<_, Infallible>(piece), (tail, held)))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    let no_buffer = HeaderName::from_static("x-accel-buffering");
    headers.insert(no_buffer, HeaderValue::from_static("no"));
    response
}

/// One open stream.
struct Tail<C> {
    route: &'static Route,
    project: ProjectFn<C>,
    records: Reader<C>,
    draining: watch::Receiver<bool>,
    /// The next record of the chunk that is being told. The chunk itself is not kept: so one
    /// reader that does not read pins nothing beside what all of them may pin together.
    from: usize,
    /// The first piece, until it is sent.
    ready: Option<String>,
    ends: Instant,
    ended: bool,
}

impl<C: Send + Sync + 'static> Tail<C> {
    fn new(route: &'static Route, live: Live<C>, draining: watch::Receiver<bool>) -> Self {
        let Live {
            projection,
            records,
        } = live;
        let ready = match projection.cursor {
            Some(cursor) => format!(": ready {cursor}\n\n"),
            None => ": ready\n\n".into(),
        };
        Self {
            route,
            project: projection.project,
            records,
            draining,
            from: 0,
            ready: Some(ready),
            ends: Instant::now() + age(),
            ended: false,
        }
    }

    /// The next piece; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.take() {
            return Some(ready.into());
        }
        let silent = Instant::now() + SILENCE;
        let mut piece = String::new();
        loop {
            if *self.draining.borrow() || Instant::now() >= self.ends {
                return None;
            }
            while !self.ended && piece.len() < PIECE_BYTES {
                match self.records.chunk() {
                    Ok(chunk) => self.tell(&chunk, &mut piece),
                    Err(NoChunk::Empty) => break,
                    Err(NoChunk::Lagged | NoChunk::Closed) => self.ended = true,
                }
            }
            if !piece.is_empty() {
                return Some(piece.into());
            }
            if self.ended {
                return None;
            }
            tokio::select! {
                biased;
                () = stops(&mut self.draining) => return None,
                () = sleep_until(self.ends) => return None,
                () = self.records.changed() => {}
                () = sleep_until(silent) => return Some(Bytes::from_static(b": alive\n\n")),
            }
        }
    }

    /// Adds what the current chunk still means to the reader. An event that cannot be told ends
    /// the stream: to leave it out would be a gap that nobody sees.
    fn tell(&mut self, chunk: &Records<C>, piece: &mut String) {
        for (n, record) in chunk.iter().enumerate().skip(self.from) {
            if piece.len() >= PIECE_BYTES {
                self.from = n;
                return;
            }
            let event = catch_unwind(AssertUnwindSafe(|| (self.project)(record)));
            let what: &dyn fmt::Display = match &event {
                Ok(None) => continue,
                Ok(Some(Ok(event))) => {
                    write(event, piece);
                    continue;
                }
                Ok(Some(Err(error))) => error,
                Err(_) => &"it panicked",
            };
            let (handler, position) = (self.route.name, record.position);
            tracing::error!(handler, %position, %what, "a stream cannot tell an event and ends");
            self.ended = true;
            return;
        }
        self.from = 0;
        self.records.told();
    }
}

/// One event. The line breaks of JSON stand between its tokens only, so each is one of the data.
fn write(event: &Event, piece: &mut String) {
    if let Some(cursor) = event.cursor {
        // Writing to a string does not fail.
        let _ = writeln!(piece, "id: {cursor}");
    }
    for line in event.json.get().split(['\n', '\r']) {
        piece.push_str("data: ");
        piece.push_str(line);
        piece.push('\n');
    }
    piece.push('\n');
}

/// Between 95 and 105 percent of [`AGE`], so that streams which began together do not end so.
fn age() -> Duration {
    let mut byte = [0; 1];
    // Without random bytes the age is 95 percent.
    let _ = getrandom::fill(&mut byte);
    AGE * 95 / 100 + AGE / 10 * u32::from(byte[0]) / 255
}

#[cfg(test)]
mod tests {
    use link_wire::{Kind, Position, UnixMillis};
    use serde_json::value::{RawValue, to_raw_value};
    use tokio::time::sleep;

    use super::*;
    use crate::{Record, engine::backlog::Backlog, handler::Projection};

    static ROUTE: Route = Route {
        name: "tail",
        kind: Kind::Stream,
        method: "GET",
        path: "/v1/tail",
        budget: None,
        outbox: link_wire::OutboxRule::Keep,
        line: 1,
    };

    type Sender = Backlog<u64>;

    fn record(n: u64) -> Record<u64> {
        Record {
            position: Position(n),
            at: UnixMillis(n),
            by: "ann".parse().unwrap(),
            command: "say".into(),
            call: "one".parse().unwrap(),
            change: n,
        }
    }

    /// A stream of the even changes.
    fn tail() -> (Sender, watch::Sender<bool>, Tail<u64>) {
        let sender = Backlog::new();
        let records = sender.reader();
        let (draining, told) = watch::channel(false);
        let project = |record: &Record<u64>| {
            assert_ne!(record.change, 666, "a projection that panics");
            let even = record.change.is_multiple_of(2);
            even.then(|| {
                Ok(Event {
                    cursor: Some(record.position.0),
                    json: to_raw_value(&record.change)?,
                })
            })
        };
        let projection = Projection {
            cursor: Some(7),
            project: Box::new(project),
        };
        (
            sender,
            draining,
            Tail::new(
                &ROUTE,
                Live {
                    projection,
                    records,
                },
                told,
            ),
        )
    }

    async fn text(tail: &mut Tail<u64>) -> Option<String> {
        tail.next()
            .await
            .map(|piece| String::from_utf8(piece.to_vec()).unwrap())
    }

    fn send(sender: &Sender, records: impl IntoIterator<Item = u64>) {
        let records: Records<u64> = records.into_iter().map(record).collect();
        let bytes = 20 * records.len();
        sender.send(records, bytes);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_filled_each_15_seconds_until_the_age_is_reached() {
        let (sender, _draining, mut tail) = tail();
        assert_eq!(text(&mut tail).await.unwrap(), ": ready 7\n\n");
        let began = Instant::now();
        sleep(Duration::from_secs(5)).await;
        send(&sender, [2]);
        assert_eq!(text(&mut tail).await.unwrap(), "id: 2\ndata: 2\n\n");
        let sent = Instant::now();
        send(&sender, [3]);
        assert_eq!(
            text(&mut tail).await.unwrap(),
            ": alive\n\n",
            "3 is no event"
        );
        assert_eq!(sent.elapsed(), SILENCE);
        while let Some(piece) = text(&mut tail).await {
            assert_eq!(piece, ": alive\n\n");
        }
        let age = began.elapsed();
        assert!((AGE * 95 / 100..=AGE * 105 / 100).contains(&age), "{age:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn all_that_is_ready_leaves_in_pieces_of_64_kib() {
        let (sender, _draining, mut tail) = tail();
        text(&mut tail).await.unwrap();
        send(&sender, [2, 3, 4]);
        send(&sender, [6]);
        assert_eq!(text(&mut tail).await.unwrap().matches("data: ").count(), 3);
        send(&sender, (0..20_000).map(|n| n * 2 + 1_000));
        let (mut events, mut pieces) = (0, 0);
        while events < 20_000 {
            let piece = text(&mut tail).await.unwrap();
            assert!(piece.len() < PIECE_BYTES + 100, "{}", piece.len());
            events += piece.matches("data: ").count();
            pieces += 1;
        }
        assert_eq!(events, 20_000);
        assert!(pieces > 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_too_slow_ends_without_a_gap() {
        let (sender, _draining, mut tail) = tail();
        text(&mut tail).await.unwrap();
        send(&sender, 0..20_000);
        assert!(text(&mut tail).await.unwrap().starts_with("id: 0\n"));
        for n in 1..=1024 {
            send(&sender, [n * 2]);
        }
        assert_eq!(text(&mut tail).await, None, "the rest of its chunk is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_and_the_end_of_the_engine_end_it() {
        let (sender, draining, mut tail_one) = tail();
        text(&mut tail_one).await.unwrap();
        send(&sender, [2]);
        draining.send_replace(true);
        assert_eq!(text(&mut tail_one).await, None);
        let (sender, _draining, mut tail_two) = tail();
        text(&mut tail_two).await.unwrap();
        send(&sender, [2]);
        drop(sender);
        assert_eq!(text(&mut tail_two).await.unwrap(), "id: 2\ndata: 2\n\n");
        assert_eq!(text(&mut tail_two).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_cannot_be_told_ends_it_after_those_before() {
        let (sender, _draining, mut tail) = tail();
        text(&mut tail).await.unwrap();
        send(&sender, [2, 666, 4]);
        assert_eq!(text(&mut tail).await.unwrap(), "id: 2\ndata: 2\n\n");
        assert_eq!(text(&mut tail).await, None);
    }

    #[test]
    fn a_line_break_between_tokens_is_one_of_the_data() {
        let json = RawValue::from_string("{\n\"a\": 1\r\n}".into()).unwrap();
        let mut piece = String::new();
        write(&Event { cursor: None, json }, &mut piece);
        assert_eq!(piece, "data: {\ndata: \"a\": 1\ndata: \ndata: }\n\n");
    }
}
