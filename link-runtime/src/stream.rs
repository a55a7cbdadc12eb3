//! Streams of events: one handle that resumes by itself, and says what it could not resume.
//!
//! ```text
//! next() ◄─ bounded channel ◄─ task: open ─ ready ─ catch up ─ live ─┐
//!                                     ▲                              │ end or fault
//!                                     └────────── pace ◄─────────────┘
//! ```

use std::fmt;

use serde::de::DeserializeOwned;
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    outcome::{Cause, Refused},
    request::Request,
};

mod catch_up;
mod follow;
mod live;
mod pace;
mod parser;

/// How many items wait for a reader. A reader that stops holds up the connection, and no timer
/// runs against it.
const AHEAD: usize = 64;

/// One item of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamItem<E> {
    /// An event. With a cursor: in its order, each one once.
    Event(E),
    /// Here events are missing that cannot be read any more.
    Gap {
        /// How many. None when nobody knows, nor whether there were any:
        ///
        /// - a stream without a cursor was opened again, or
        /// - the server's log ends before the cursor of this stream, as after a restore from a
        ///   backup, or with an [`after`](EventStream::after) of another log. The stream goes on
        ///   after the end of that log, so cursors may come again. A log that has grown beyond
        ///   the cursor meanwhile cannot be told from the old one.
        lost: Option<u64>,
    },
}

/// Why a stream ended for good. What a new connection can mend is never told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The server said no, to the stream or to its catch-up query.
    #[error("{0}")]
    Refused(Refused),
    /// Who answered is no server of this service: its reply lacks the build header. Told only of
    /// the first open and its catch-up; later it is waited out, as a front end that stands in
    /// while the server is replaced.
    #[error("not a {service} server (status {status})")]
    NotOurServer {
        /// The name of the service.
        service: &'static str,
        /// The HTTP status.
        status: u16,
    },
    /// An event, or a page of the catch-up query, is not of the route's type, or is larger than
    /// the link takes. A new stream after `cursor` meets the same one.
    #[error("an event cannot be read: {why}")]
    Undecodable {
        /// The cursor of the last event that was given; none before the first, or without one.
        cursor: Option<u64>,
        /// What the decoder said.
        why: String,
    },
    /// Several catch-ups in a row said that more events follow, and gave none. The catch-up
    /// query of the server is at fault.
    #[error("the catch-up query says that more follows after {cursor}, and gives nothing")]
    NoProgress {
        /// The cursor after which it gives nothing.
        cursor: u64,
    },
    /// The stream was never opened: its request is at fault.
    #[error("not sent: {cause}")]
    NotSent {
        /// What is wrong with it.
        cause: Cause,
    },
}

/// Events from the server, resumed for ever.
///
/// It opens at the first [`next`](Self::next), on a connection of its own, and closes when it is
/// dropped. The end of a connection is no end of the stream: it is opened again, at once after
/// an end by the server, else after `stream_retry`. Faults, failures of the server (5xx, 429), and
/// a server that says it is busy are waited out; a wait that it asks for by `Retry-After` is kept,
/// up to 5 min, and our own comes on top.
///
/// A stream without a cursor ([`ordered`](Self::ordered) gives one) cannot resume: each time it
/// was opened again it gives [`StreamItem::Gap`] with `lost: None`. With a cursor it gives that
/// once when it is opened and the server says that its log ends before the cursor: it goes on
/// from there.
///
/// # Ends
/// - The server answers 204: no more items.
/// - [`Refused`](StreamError::Refused): the server says no to an open or to a catch-up, by any
///   status but a 5xx or a 429, or because its build does not fit.
/// - [`NotOurServer`](StreamError::NotOurServer): something else answers the first open or its
///   catch-up. Once the stream was open, it is waited out.
/// - [`Undecodable`](StreamError::Undecodable): the yes to an open is no event stream; an event or
///   a page is not of its type; a page is larger than 64 MiB; an event is too large. One line of
///   the stream's text, `data: ` included, and the data of one event have at most 4 MiB
///   (4,194,304 bytes).
/// - [`NoProgress`](StreamError::NoProgress): 3 catch-ups in a row say that more follows, and give
///   nothing new.
/// - [`NotSent`](StreamError::NotSent): the request is at fault.
/// - The tokio runtime of the first [`next`](Self::next) is shut down: no more items.
/// - The `Deserialize` of `E`, or the cursor function, panics: `next` panics with it.
#[must_use = "a stream opens at the first `next`"]
pub struct EventStream<E>(Phase<E>);

enum Phase<E> {
    New(Box<Plan<E>>),
    Open {
        items: mpsc::Receiver<Given<E>>,
        task: AbortOnDrop,
    },
    Over,
}

type Given<E> = Result<StreamItem<E>, StreamError>;

/// What a stream was asked to be.
struct Plan<E> {
    request: Request,
    order: Option<Order<E>>,
    after: Option<u64>,
}

/// How the events of a stream are ordered, and the query that reads them.
struct Order<E> {
    cursor: fn(&E) -> u64,
    catch_up: Request,
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<E> EventStream<E> {
    pub(crate) fn new(request: Request) -> Self {
        Self(Phase::New(Box::new(Plan {
            request,
            order: None,
            after: None,
        })))
    }

    /// Orders the events by `cursor`, which grows from event to event, and lets `catch_up` read
    /// what came while the stream was away: a query whose reply is a [`Page`](link_wire::Page)
    /// of `E`, asked with `?after=CURSOR`.
    ///
    /// Has no effect after the first [`next`](Self::next).
    pub fn ordered(mut self, cursor: fn(&E) -> u64, catch_up: Request) -> Self {
        if let Phase::New(plan) = &mut self.0 {
            plan.order = Some(Order { cursor, catch_up });
        }
        self
    }

    /// Begins after the event of this cursor: what came since is caught up with. Without it the
    /// stream begins with what comes after it is open.
    ///
    /// Means nothing for a stream without a cursor, and after the first [`next`](Self::next).
    pub fn after(mut self, cursor: u64) -> Self {
        if let Phase::New(plan) = &mut self.0 {
            plan.after = Some(cursor);
        }
        self
    }
}

impl<E: DeserializeOwned + Send + 'static> EventStream<E> {
    /// The next item; none after the end of the stream.
    ///
    /// The first call spawns a task on the tokio runtime that it runs in.
    ///
    /// # Errors
    /// What [`StreamError`] lists, once; then the stream has ended.
    ///
    /// # Cancel safety
    /// Cancel safe: dropping the future loses no item, and the stream goes on.
    ///
    /// # Panics
    /// Once, with the panic of the `Deserialize` of `E` or of the cursor function, after the items
    /// before it; then the stream has ended.
    pub async fn next(&mut self) -> Option<Result<StreamItem<E>, StreamError>> {
        if let Phase::New(plan) = &mut self.0 {
            let (sender, items) = mpsc::channel(AHEAD);
            let plan = Plan {
                request: plan.request.clone(),
                order: plan.order.take(),
                after: plan.after,
            };
            let task = AbortOnDrop(tokio::spawn(follow::follow(plan, sender)));
            self.0 = Phase::Open { items, task };
        }
        let Phase::Open { items, task } = &mut self.0 else {
            return None;
        };
        if let Some(given) = items.recv().await {
            return Some(given);
        }
        // Without this, a panic of the user's code would look like an end by the server.
        let end = (&mut task.0).await;
        self.0 = Phase::Over;
        if let Err(Ok(panic)) = end.map_err(tokio::task::JoinError::try_into_panic) {
            std::panic::resume_unwind(panic);
        }
        None
    }
}

impl<E> fmt::Debug for EventStream<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Phase::New(plan) => f.debug_tuple("EventStream").field(&plan.request).finish(),
            Phase::Open { .. } => f.write_str("EventStream(open)"),
            Phase::Over => f.write_str("EventStream(over)"),
        }
    }
}
