//! Start and stop: accepting connections, and ending all of them within a bound.

use std::{
    convert::Infallible,
    future::{Future, pending},
    pin::pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{Inner, MOST_CONNECTIONS, ServeError, order, socket::Socket, stops, who::Peer};
use crate::State;

/// How long a connection may take to its first whole head: whoever opens one has a request.
const FIRST_HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long a connection may take from its last reply to its next whole head.
const HEAD_WITHIN: Duration = Duration::from_secs(75);
/// The most headers that are read. More than are taken, so that the no to them is our own.
const MOST_HEADERS: usize = 1024;
/// How long calls under way have at the end.
const CALLS_WITHIN: Duration = Duration::from_secs(5);
/// How long the end takes in all: a second is left of the ten for the rest of the program.
const END_WITHIN: Duration = Duration::from_secs(9);
/// How long to wait when the system has no connection to give.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// The most connections for a server that does not say it.
pub(super) fn most_connections() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files: Option<u64> = None;
    // No limit is one beyond all that count.
    let quarter = usize::try_from(files.unwrap_or(u64::MAX) / 4).unwrap_or(usize::MAX);
    MOST_CONNECTIONS.min(quarter)
}

pub(super) async fn serve<S: State>(
    server: Arc<Inner<S>>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    if let Some(what) = &server.fault {
        return Err(ServeError::Table { what: what.clone() });
    }
    let most = server.most_connections.clamp(1, Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(most));
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    let mut was_full = false;
    loop {
        // A connection takes its place before it is accepted. Until then it costs no descriptor.
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            (accepted, place) = next => match accepted {
                Ok((stream, peer)) => {
                    // Without it a small reply can wait for the client's acknowledgement.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "a connection keeps its delay");
                    }
                    let free = places.available_permits();
                    if free == 0 && !was_full {
                        tracing::warn!(most, "there are as many connections as may be: more wait");
                    }
                    // Said once, until there is room again: not for each connection that waited.
                    was_full = free == 0 || (was_full && free < most / 8);
                    let peer = Peer {
                        address: Some(peer),
                    };
                    let connection = connection(Arc::clone(&server), stream, peer);
                    connections.spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    }
    let began = Instant::now();
    server.draining.send_replace(true);
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout_at(began + CALLS_WITHIN, ended).await.is_err() {
        let count = connections.len();
        tracing::warn!(count, "connections that did not end are cut");
    }
    // This cuts them, and waits for none: one that is inside of a handler ends when that returns.
    drop(connections);
    match timeout_at(began + END_WITHIN, server.engine.close()).await {
        Ok(closed) => Ok(closed?),
        Err(_) => Err(ServeError::Late),
    }
}

/// One connection, to its end.
pub(super) async fn connection<S: State>(
    server: Arc<Inner<S>>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: Peer,
) {
    let metrics = &server.metrics;
    metrics.connections_accepted.fetch_add(1, Relaxed);
    let _held = metrics.hold(|metrics| &metrics.connections);
    let mut draining = server.draining.subscribe();
    let arrived = Arc::new(Notify::new());
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        arrived.notify_one();
        request.extensions_mut().insert(peer);
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(order::answer(&server, request.map(Body::new)).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .max_headers(MOST_HEADERS)
        .header_read_timeout(HEAD_WITHIN);
    let stream = TokioIo::new(Socket::new(stream));
    let mut connection = pin!(builder.serve_connection(stream, service));
    let mut silent = pin!(async {
        if timeout(FIRST_HEAD_WITHIN, arrived.notified()).await.is_ok() {
            pending::<()>().await;
        }
    });
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
        }
    };
    if let Err(error) = ended {
        // Mostly a client that went away.
        tracing::debug!(%error, "a connection ended with an error");
    }
}
