//! Start and stop: accepting connections, and ending all of them within a bound.

use std::{convert::Infallible, future::Future, pin::pin, sync::Arc, time::Duration};

use axum::body::Body;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{Inner, ServeError, order, stops};
use crate::State;

/// How long a connection may take from its last reply to its next whole head.
const HEAD_WITHIN: Duration = Duration::from_secs(90);
/// How long calls under way have at the end. With the two below: less than ten seconds.
const CALLS_WITHIN: Duration = Duration::from_secs(5);
/// How long the queue has to be written at the end.
const QUEUE_WITHIN: Duration = Duration::from_secs(2);
/// How long to wait when the system has no connection to give.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

pub(super) async fn serve<S: State>(
    server: Arc<Inner<S>>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    if let Some(what) = &server.fault {
        return Err(ServeError::Table { what: what.clone() });
    }
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(Arc::clone(&server), stream));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    }
    server.draining.send_replace(true);
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(CALLS_WITHIN, ended).await.is_err() {
        tracing::warn!(
            count = connections.len(),
            "connections that did not end are cut"
        );
        connections.shutdown().await;
    }
    match timeout(QUEUE_WITHIN, server.engine.close()).await {
        Ok(closed) => Ok(closed?),
        Err(_) => Err(ServeError::Late),
    }
}

/// One connection, to its end.
async fn connection<S: State>(server: Arc<Inner<S>>, stream: TcpStream) {
    // Without it a small reply can wait for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let mut draining = server.draining.subscribe();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(order::answer(&server, request.map(Body::new)).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stops(&mut draining) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Mostly a client that went away.
        tracing::debug!(%error, "a connection ended with an error");
    }
}
