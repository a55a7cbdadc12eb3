//! The server over HTTP: the only part that names axum, hyper and http types.

use std::{fmt, future::Future, sync::Arc};

use axum::{Router, extract::Request};
use link_wire::Service;
use tokio::{net::TcpListener, sync::watch};

use self::{metrics::Metrics, rate::Rate, reply::Names, routes::Routes, who::Ask};
#[cfg(feature = "rustls")]
use crate::tls::Tls;
use crate::{Authenticate, Engine, EngineFailed, Handler, State};

mod call;
mod connection;
mod limits;
mod metrics;
mod numbers;
mod openapi;
mod order;
mod own;
mod rate;
mod reply;
mod routes;
mod serve;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
mod trace;
mod who;

/// The most bytes that a request's body may have, unless the server says otherwise: 1 MiB.
pub const MOST_BODY_BYTES: usize = 1024 * 1024;

/// The most connections at a time, unless the server says otherwise. Where the process may open
/// fewer than four times as many files, it is a quarter of those: a log needs some, too.
pub const MOST_CONNECTIONS: usize = 1024;

/// A server: a service table, an engine, and a handler for each route.
///
/// Until [`Server::authenticate`] is called it knows no caller and answers 401 to all.
///
/// What a request meets, in this order; every reply to it has the build header:
///
/// | stage | its no |
/// |---|---|
/// | `/healthz`, `/readyz` are answered | |
/// | the server takes calls | 503 `unavailable` |
/// | the head is not too large | 400 `bad_request` |
/// | it is found out who calls | 401 `unauthenticated`, 503 `busy`, 500 `failed` |
/// | the body is not too large, and arrives | 413 `too_large`, 400 `bad_request`, 503 `busy` |
/// | the caller is the one that the request names, if it names one | 403 `other_caller` |
/// | the call ID, if there is one and the method is not GET or HEAD | a known one gets its kept reply; 422 `call_reused`, 410 `reply_forgotten`, 410 `call_cancelled` |
/// | the build, if the client says one | 412 `other_build` |
/// | the rate of the caller, if there is one | 429 `too_fast` |
/// | path, then method | 404 `no_route`, 405 `other_method` |
/// | for a command: its ID is surely new | 410 `call_forgotten`, 410 `rolled_back`, 429 `too_many_keys` |
/// | path values, query, body | 400 `bad_request` |
/// | the handler | its refusal; 500 `failed` |
/// | for a command: the write | 503 `busy`: without room it did not run; after 10 s it may still run |
///
/// A command without a call ID gets one that the server makes, and that the reply gives back: it
/// runs once for that request, and a second request is a second command. So `curl` works, and is
/// never told to try again when the first may run.
///
/// What is no request is answered by the parser, without the build header, and its connection
/// ends: bytes that are not HTTP/1.1 (400), a path of more than 64 KiB (414), more than 1,024
/// headers or a head of more than about 400 KiB (431).
///
/// A connection ends without a reply when its first request does not arrive whole in 10 s, a later
/// one not in 75 s after the reply before it, and when its peer takes no byte of a reply for
/// two minutes.
pub struct Server<S: State> {
    inner: Inner<S>,
}

/// What each request needs.
struct Inner<S: State> {
    service: &'static Service,
    names: Names,
    routes: Routes<S>,
    engine: Engine<S>,
    ask: Ask,
    /// None: callers may send as many as they like.
    rate: Option<Rate>,
    metrics: Arc<Metrics>,
    public_metrics: bool,
    public_openapi: bool,
    most_body_bytes: usize,
    most_connections: usize,
    /// Whether HTTP/2 is spoken where there is no TLS.
    h2c: bool,
    #[cfg(feature = "rustls")]
    tls: Option<Tls>,
    /// What is wrong with the table; then nothing is served.
    fault: Option<String>,
    /// True from the moment at which the server is told to stop.
    draining: watch::Sender<bool>,
}

/// Returns when the server stops, or is there no more.
async fn stops(draining: &mut watch::Receiver<bool>) {
    // An error means that the sender went, and with it the server.
    let _ = draining.wait_for(|draining| *draining).await;
}

/// Why a server ended other than by being told to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The table of the service and the handlers do not fit: generated code never does this.
    #[error("the server has no sound table of routes: {what}")]
    Table {
        /// What is wrong.
        what: String,
    },
    /// A write failed while it served; since then it answered 503.
    #[error(transparent)]
    Engine(#[from] EngineFailed),
    /// What was queued could not be written in time. Whether it ran shows at the next start.
    #[error("the journal did not end in time: what was queued last may not be written")]
    Late,
}

impl<S: State> Server<S> {
    /// A server of the service over the engine. Each route has one handler of its kind.
    pub fn new(service: &'static Service, engine: Engine<S>, handlers: Vec<Handler<S>>) -> Self {
        let names = Names::of(service);
        let routes = Routes::of(service, handlers);
        let fault = names.as_ref().err().or(routes.as_ref().err()).cloned();
        if let Some(what) = &fault {
            tracing::error!(
                what,
                "the server has no sound table of routes and serves nothing"
            );
        }
        let (keeps, says) = (engine.call_limits().keep, service.limits.call_keep);
        if keeps < says {
            tracing::warn!(
                ?keeps,
                ?says,
                "the engine remembers calls for less long than link.toml says (`call_keep`): open \
                 it with `CallLimits::of` the limits of the service"
            );
        }
        let inner = Inner {
            service,
            names: names.unwrap_or_default(),
            routes: routes.unwrap_or_default(),
            engine,
            ask: Ask::nobody(),
            rate: None,
            metrics: Arc::new(Metrics::new(service)),
            public_metrics: false,
            public_openapi: false,
            most_body_bytes: MOST_BODY_BYTES,
            most_connections: serve::most_connections(),
            h2c: false,
            #[cfg(feature = "rustls")]
            tls: None,
            fault,
            draining: watch::Sender::new(false),
        };
        Self { inner }
    }

    /// Sets who finds out who calls.
    #[must_use]
    pub fn authenticate(mut self, authenticate: impl Authenticate) -> Self {
        self.inner.ask = Ask::Now(Box::new(authenticate));
        self
    }

    /// Sets who finds out who calls, where that may wait: each look-up runs on a thread of its own,
    /// 64 at a time, and one that takes more than five seconds is answered by 503 `busy`.
    #[must_use]
    pub fn authenticate_blocking(mut self, authenticate: impl Authenticate) -> Self {
        self.inner.ask = Ask::blocking(authenticate);
        self
    }

    /// Lets each caller send so many requests a second, and so many at once after a silence; at
    /// least one of both. One too many is answered by 429 `too_fast` with `retry-after`. A retry of
    /// a call that is known is not one of them. Without this there is no such limit.
    #[must_use]
    pub fn rate(mut self, per_second: u32, burst: u32) -> Self {
        self.inner.rate = Some(Rate::new(per_second, burst));
        self
    }

    /// Whether `/metrics` answers whoever asks. False unless it is set: it then needs a caller.
    #[must_use]
    pub fn public_metrics(mut self, public: bool) -> Self {
        self.inner.public_metrics = public;
        self
    }

    /// Whether `/openapi.json` answers whoever asks. False unless it is set: it then needs a
    /// caller.
    #[must_use]
    pub fn public_openapi(mut self, public: bool) -> Self {
        self.inner.public_openapi = public;
        self
    }

    /// Sets the most bytes of a request's body. [`MOST_BODY_BYTES`] unless it is set.
    #[must_use]
    pub fn most_body_bytes(mut self, bytes: usize) -> Self {
        self.inner.most_body_bytes = bytes;
        self
    }

    /// Sets the most connections at a time, open streams included; at least one. More of them wait
    /// in the queue of the system until one ends. [`MOST_CONNECTIONS`] unless it is set.
    #[must_use]
    pub fn most_connections(mut self, connections: usize) -> Self {
        self.inner.most_connections = connections;
        self
    }

    /// Whether a connection without TLS may speak HTTP/2 from its first byte (h2c with prior
    /// knowledge), beside HTTP/1.1: for a proxy or a mesh that ends TLS before the server. False
    /// unless it is set.
    #[must_use]
    pub fn h2c(mut self, h2c: bool) -> Self {
        self.inner.h2c = h2c;
        self
    }

    /// Serves HTTPS, and no HTTP: HTTP/2 where the client offers it, else HTTP/1.1.
    #[cfg(feature = "rustls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.inner.tls = Some(tls);
        self
    }

    /// The server as an axum router: for a test without a socket, or inside of another program.
    ///
    /// It answers whatever no other route of the program takes. The program then has to bound and
    /// end the connections itself; [`Engine::close`] ends the streams and writes what is queued.
    pub fn into_router(self) -> Router {
        let inner = Arc::new(self.inner);
        Router::new().fallback(move |request: Request| {
            let inner = Arc::clone(&inner);
            async move { order::answer(&inner, request).await }
        })
    }

    /// Serves until `stop` is ready, and then ends in order, within ten seconds:
    ///
    /// 1. each new request gets 503, and no connection is accepted any more;
    /// 2. streams end, idle connections close, calls under way get their replies;
    /// 3. what is queued is written, and the journal is closed, for each handle of the engine.
    ///
    /// After five seconds connections that still hang are cut, and the end does not wait for a
    /// handler that hangs. Dropping the runtime does: see tokio's `shutdown_background`.
    ///
    /// # Errors
    /// [`ServeError`]. A failure of the engine ends the server only when it is told to stop: until
    /// then it answers 503, so that its clients know it for what it is.
    ///
    /// # Cancel safety
    /// Dropping the future cuts all connections. The engine writes what is queued when its last
    /// handle goes.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        serve::serve(Arc::new(self.inner), listener, stop).await
    }
}

impl<S: State> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("service", &self.inner.service.name)
            .finish_non_exhaustive()
    }
}
