//! One connection: HTTP/1.1 or HTTP/2 on it, and how it ends.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::body::Body;
use http::Version;
use hyper::{body::Incoming, rt::Executor, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Notify,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{Inner, order, socket::Socket, stops, who::Peer};
use crate::State;

/// How long a connection may take to its first whole head: whoever opens one has a request.
pub(super) const FIRST_HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long a connection may take from its last reply to its next whole head.
const HEAD_WITHIN: Duration = Duration::from_secs(75);
/// The most headers that are read. More than are taken, so that the no to them is our own.
const MOST_HEADERS: usize = 1024;
/// The same for HTTP/2, where the parser counts bytes, and 32 more for each header.
const MOST_HEAD_BYTES: u32 = 256 * 1024;
/// The most requests at a time on one HTTP/2 connection, open streams included.
const MOST_REQUESTS: u32 = 128;
/// What one request's body may send ahead of its reader, and what all of a connection may.
const STREAM_WINDOW: u32 = 256 * 1024;
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// How often the peer of an HTTP/2 connection is asked for life, and how long it may take.
const PING: Duration = Duration::from_secs(20);

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Http1,
    /// As the handshake of TLS has settled it.
    #[cfg(feature = "rustls")]
    Http2,
    /// The first bytes tell: HTTP/2 begins with a preface that is no request of HTTP/1.1.
    Either,
}

/// One connection, to its end. Dropping the future ends its requests, too.
pub(super) async fn connection<S: State>(
    server: Arc<Inner<S>>,
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: Peer,
    speaks: Speaks,
) {
    let metrics = &server.metrics;
    metrics.connections_accepted.fetch_add(1, Relaxed);
    let _held = metrics.hold(|metrics| &metrics.connections);
    let mut draining = server.draining.subscribe();
    let arrived = Arc::new(Notify::new());
    let is_http2 = Arc::new(AtomicBool::new(false));
    let service = {
        let (arrived, is_http2) = (Arc::clone(&arrived), Arc::clone(&is_http2));
        let server = Arc::clone(&server);
        service_fn(move |mut request: hyper::Request<Incoming>| {
            is_http2.store(request.version() == Version::HTTP_2, Relaxed);
            arrived.notify_one();
            request.extensions_mut().insert(peer.clone());
            let server = Arc::clone(&server);
            async move { Ok::<_, Infallible>(order::answer(&server, request.map(Body::new)).await) }
        })
    };
    let requests = Requests::default();
    let builder = builder(requests.clone(), speaks);
    let stream = TokioIo::new(Socket::new(stream));
    let mut connection = pin!(builder.serve_connection(stream, service));
    let mut silent = pin!(async {
        if timeout(FIRST_HEAD_WITHIN, arrived.notified()).await.is_ok() {
            pending::<()>().await;
        }
    });
    let mut idle = pin!(idle(&requests, &is_http2));
    let mut told = false;
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = &mut silent => {
                tracing::debug!("a connection brought no request in time");
                return;
            }
            () = stops(&mut draining), if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
            () = &mut idle, if !told => {
                told = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended {
        // Mostly a client that went away.
        tracing::debug!(error = &*error, "a connection ended with an error");
    }
}

fn builder(requests: Requests, speaks: Speaks) -> Builder<Requests> {
    let mut builder = Builder::new(requests);
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_headers(MOST_HEADERS)
        .header_read_timeout(HEAD_WITHIN);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(MOST_HEAD_BYTES)
        .max_concurrent_streams(MOST_REQUESTS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING);
    match speaks {
        Speaks::Http1 => builder.http1_only(),
        #[cfg(feature = "rustls")]
        Speaks::Http2 => builder.http2_only(),
        Speaks::Either => builder,
    }
}

/// Returns when an HTTP/2 connection had no request for as long as one of HTTP/1.1 may have none:
/// there the library looks after it.
async fn idle(requests: &Requests, is_http2: &AtomicBool) {
    const LOOKS: u32 = 5;
    let mut looks = interval(HEAD_WITHIN / LOOKS);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks.tick().await;
    let (mut before, mut quiet) = (0, 0);
    while quiet < LOOKS {
        looks.tick().await;
        let ended = requests.ended.load(Relaxed);
        let begun = requests.begun.load(Relaxed);
        let busy = begun != ended || begun != before || !is_http2.load(Relaxed);
        quiet = if busy { 0 } else { quiet + 1 };
        before = begun;
    }
}

/// Runs the requests of an HTTP/2 connection, each as a task, which ends with the connection.
#[derive(Debug, Clone, Default)]
struct Requests {
    begun: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Requests {
    fn execute(&self, request: F) {
        self.begun.fetch_add(1, Relaxed);
        let ended = Arc::clone(&self.ended);
        tokio::spawn(async move {
            request.await;
            ended.fetch_add(1, Relaxed);
        });
    }
}
