//! The HTTP clients of a link over reqwest, the only file that names it.
//!
//! Two clients: one with a pool, shared by all calls and replaced when it fails; one without a
//! pool, so that each stream dials a connection of its own.

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Version, header};
use reqwest::{Client, ClientBuilder, redirect};
use tokio::{sync::OnceCell, time::timeout};
use url::Url;

use super::{Failure, Outgoing, connected::Count};

/// How often an HTTP/2 connection is asked for life, and how long it may take to answer. A
/// shorter answer limit kills a healthy upload behind its own queue.
const PING: Duration = Duration::from_secs(10);
/// What one HTTP/2 reply may send ahead of its reader.
const STREAM_WINDOW: u32 = 1 << 20;
/// What all replies of an HTTP/2 connection may send ahead: many times one stream's, so that some
/// unread replies do not hold up the others.
const CONNECTION_WINDOW: u32 = 64 << 20;

/// How the clients of a link connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    /// How long it may take.
    pub(crate) connect: Duration,
    /// Whether HTTP/2 is spoken from the first byte, without TLS.
    pub(crate) h2c: bool,
}

/// The clients of one link.
#[derive(Debug)]
pub(crate) struct Http {
    how: How,
    calls: Mutex<Lease>,
    streams: OnceLock<Client>,
}

/// Why there is no client: the system's certificates cannot be read, for one.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be made: {0}")]
pub(crate) struct BuildError(String);

impl Http {
    /// The clients of a link.
    pub(crate) fn new(how: How) -> Result<Self, BuildError> {
        let calls = Mutex::new(Lease::new(how, 1)?);
        Ok(Self {
            how,
            calls,
            streams: OnceLock::new(),
        })
    }

    /// The client for calls, as it is now.
    pub(crate) fn calls(&self) -> Lease {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether that client was not replaced yet.
    pub(crate) fn is_current(&self, lease: &Lease) -> bool {
        self.calls().generation == lease.generation
    }

    /// Replaces the client for calls if it is still that one, so that calls which fail together
    /// make one new client. Tells whether it did.
    ///
    /// A client that never had a connection has no dead one to leave behind, and stays. So does
    /// one whose successor cannot be made.
    pub(crate) fn swap(&self, failed: &Lease) -> bool {
        if failed.connected.read() == 0 || !self.is_current(failed) {
            return false;
        }
        self.replace(failed, |generation| Lease::new(self.how, generation))
    }

    /// Makes the next client, and puts it in if `failed` is still the one for calls.
    ///
    /// It is made outside the lock, which every try takes: it may read all certificates of the
    /// system.
    fn replace(&self, failed: &Lease, make: impl FnOnce(u64) -> Result<Lease, BuildError>) -> bool {
        let next = match make(failed.generation + 1) {
            Ok(next) => next,
            Err(error) => {
                tracing::warn!(%error, "the HTTP client stays");
                return false;
            }
        };
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let current = calls.generation == failed.generation;
        if current {
            *calls = next;
        }
        current
    }

    /// Sends a request that opens a stream, on a connection of its own.
    pub(crate) async fn open(&self, outgoing: Outgoing) -> Result<Incoming, Failure> {
        let client = if let Some(client) = self.streams.get() {
            client
        } else {
            let made = build(builder(self.how).pool_max_idle_per_host(0));
            let client = made.map_err(|error| Failure {
                connect: true,
                refused: false,
                unprocessed: false,
                why: error.to_string(),
            })?;
            self.streams.get_or_init(|| client)
        };
        send(client, outgoing).await
    }
}

/// One generation of the client for calls.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    generation: u64,
    client: Client,
    connected: Count,
    /// Where HTTP/2 is spoken from the first byte: whether the first connection was tried.
    dialled: Option<Arc<OnceCell<()>>>,
}

impl Lease {
    fn new(how: How, generation: u64) -> Result<Self, BuildError> {
        let connected = Count::default();
        let client = build(builder(how).connector_layer(connected.clone()))?;
        Ok(Self {
            generation,
            client,
            connected,
            dialled: how.h2c.then(Arc::default),
        })
    }

    /// Makes the first connection by a task of its own. All calls wait for it, and the library
    /// ties it to the request that asked for it first: one that is dropped would fail the others.
    async fn dial(&self, to: &Url, within: Duration) {
        let Some(dialled) = &self.dialled else {
            return;
        };
        let dial = || async {
            let request = self.client.get(to.join("/healthz").unwrap_or(to.clone()));
            let sent = tokio::spawn(timeout(within, request.send()));
            // Whatever came of it: the calls find out by themselves.
            let _ = sent.await;
        };
        dialled.get_or_init(dial).await;
    }

    /// Sends a request and waits for the head of its reply.
    pub(crate) async fn send(
        &self,
        outgoing: Outgoing,
        connect: Duration,
    ) -> Result<Incoming, Failure> {
        self.dial(&outgoing.url, connect).await;
        send(&self.client, outgoing).await
    }

    /// Whether this client can have sent anything. Asked after a dropped
    /// [`send`](Self::send), it tells whether that one may have reached the server.
    pub(crate) fn may_have_sent(&self) -> bool {
        self.connected.read() > 0
    }
}

fn build(builder: ClientBuilder) -> Result<Client, BuildError> {
    #[cfg(feature = "rustls")]
    let builder = builder.tls_backend_preconfigured(super::tls::config().map_err(BuildError)?);
    let built = builder.build();
    built.map_err(|error| BuildError(innermost(&error)))
}

fn builder(how: How) -> ClientBuilder {
    let builder = Client::builder();
    let builder = if how.h2c {
        builder.http2_prior_knowledge()
    } else {
        builder
    };
    builder
        // A 302 would send a POST again as a GET, without its body.
        .redirect(redirect::Policy::none())
        // A proxy of the environment would be asked for loopback addresses too.
        .no_proxy()
        // The rule of tries is ours.
        .retry(reqwest::retry::never())
        .connect_timeout(how.connect)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PING)
        .http2_keep_alive_while_idle(true)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
}

async fn send(client: &Client, outgoing: Outgoing) -> Result<Incoming, Failure> {
    let Outgoing {
        method,
        url,
        headers,
        body,
    } = outgoing;
    let mut request = client.request(method, url).headers(headers);
    if let Some(body) = body {
        request = request.body(body);
    }
    match request.send().await {
        Ok(response) => Ok(Incoming { response }),
        // `is_connect` covers names, sockets, TLS and the connect limit, and never our timers.
        Err(error) => Err(Failure::of(
            &error,
            error.is_connect() || error.is_builder(),
        )),
    }
}

/// A reply whose head is there.
#[derive(Debug)]
pub(crate) struct Incoming {
    response: reqwest::Response,
}

impl Incoming {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Whether only the end of the connection ends the body, so that a cut looks like an end.
    pub(crate) fn ends_with_its_connection(&self) -> bool {
        let headers = self.headers();
        self.response.version() <= Version::HTTP_11
            && !headers.contains_key(header::CONTENT_LENGTH)
            && !headers.contains_key(header::TRANSFER_ENCODING)
    }

    /// The next piece of the body; none after the last.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Failure> {
        self.response
            .chunk()
            .await
            .map_err(|error| Failure::of(&error, false))
    }
}

impl Failure {
    fn of(error: &(dyn Error + 'static), connect: bool) -> Self {
        let refused = chain(error).any(|error| {
            error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        });
        Self {
            connect,
            refused: connect && refused,
            unprocessed: chain(error).any(is_unprocessed),
            why: innermost(error),
        }
    }
}

/// Whether an HTTP/2 server says that it has not looked at the request: it goes away, and the request
/// is beyond the last one that it takes; or it refuses the stream.
fn is_unprocessed(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<h2::Error>().is_some_and(|error| {
        let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (error.is_go_away() || refused)
    })
}

/// The innermost error says what happened; those around it repeat the URL.
fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error)
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + use<'a> {
    std::iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNECT: How = How {
        connect: Duration::from_secs(1),
        h2c: false,
    };

    #[test]
    fn a_client_is_made_while_tries_go_on_and_put_in_if_no_other_was() {
        let http = Http::new(CONNECT).unwrap();
        let failed = http.calls();
        let slow = http.replace(&failed, |generation| {
            assert!(http.calls.try_lock().is_ok(), "every try waits for it");
            // Another call that failed is faster.
            assert!(http.replace(&failed, |generation| Lease::new(CONNECT, generation)));
            Lease::new(CONNECT, generation)
        });
        assert!(!slow);
        assert_eq!(http.calls().generation, failed.generation + 1);
        assert!(!http.is_current(&failed) && http.is_current(&http.calls()));
    }

    #[test]
    fn a_client_whose_successor_cannot_be_made_stays() {
        let http = Http::new(CONNECT).unwrap();
        let failed = http.calls();
        assert!(!http.replace(&failed, |_| Err(BuildError("no certificates".into()))));
        assert!(http.is_current(&failed));
    }
}
