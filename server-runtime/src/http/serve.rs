//! Start and stop: accepting connections, and ending all of them within a bound.

use std::{future::Future, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};
#[cfg(feature = "rustls")]
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    Inner, MOST_CONNECTIONS, ServeError,
    connection::{Speaks, connection},
    who::Peer,
};
#[cfg(feature = "rustls")]
use super::{connection::FIRST_HEAD_WITHIN, stops};
use crate::State;
#[cfg(feature = "rustls")]
use crate::tls::Tls;

/// How long calls under way have at the end.
const CALLS_WITHIN: Duration = Duration::from_secs(5);
/// How long the end takes in all: a second is left of the ten for the rest of the program.
const END_WITHIN: Duration = Duration::from_secs(9);
/// How often it is looked for a renewed certificate.
#[cfg(feature = "rustls")]
const RENEWED_WITHIN: Duration = Duration::from_secs(60);
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
    #[cfg(feature = "rustls")]
    let mut renewals = pin!(renewals(server.tls.clone()));
    #[cfg(not(feature = "rustls"))]
    let mut renewals = pin!(std::future::pending::<()>());
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
            () = &mut renewals => {}
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
                    let connection = welcome(Arc::clone(&server), stream, peer);
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

/// A connection, from the moment at which it is accepted.
async fn welcome<S: State>(server: Arc<Inner<S>>, stream: TcpStream, address: SocketAddr) {
    let peer = Peer {
        address: Some(address),
        ..Peer::default()
    };
    #[cfg(feature = "rustls")]
    if let Some(tls) = &server.tls {
        let mut draining = server.draining.subscribe();
        let shaken = tokio::select! {
            shaken = timeout(FIRST_HEAD_WITHIN, tls.accept(stream)) => shaken,
            // It has asked for nothing yet.
            () = stops(&mut draining) => return,
        };
        match shaken {
            Ok(Ok(secured)) => {
                let certificate = secured.certificate.map(Arc::new);
                let peer = Peer {
                    certificate,
                    ..peer
                };
                let speaks = if secured.http2 {
                    Speaks::Http2
                } else {
                    Speaks::Http1
                };
                connection(server, secured.stream, peer, speaks).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, %address, "a TLS handshake failed"),
            Err(_) => tracing::debug!(%address, "a TLS handshake did not end in time"),
        }
        return;
    }
    let speaks = if server.h2c {
        Speaks::Either
    } else {
        Speaks::Http1
    };
    connection(server, stream, peer, speaks).await;
}

/// Looks for a renewed certificate now and then. Never returns.
#[cfg(feature = "rustls")]
async fn renewals(tls: Option<Tls>) {
    let Some(tls) = tls else {
        return std::future::pending().await;
    };
    loop {
        sleep(RENEWED_WITHIN).await;
        let tls = tls.clone();
        // It reads files.
        if let Ok(Err(error)) = spawn_blocking(move || tls.reload()).await {
            tracing::warn!(%error, "the certificate stays as it was");
        }
    }
}
