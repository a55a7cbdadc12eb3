//! Finding out who calls: the credentials of a request, and the ways to ask about them.

use std::{
    net::SocketAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use axum::extract::ConnectInfo;
use http::{HeaderMap, header::AUTHORIZATION, request::Parts};
use link_wire::{Caller, Code};
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use super::reply::Stop;
use crate::auth::{AuthUnavailable, Authenticate, ClientCertificate, Credentials, OneHeader};

/// How long a look-up that may block has, the wait for a thread included.
const ASKED_WITHIN: Duration = Duration::from_secs(5);
/// How many of them run at a time: more would take the threads from the rest of the program.
const MOST_ASKED: usize = 64;

/// The other end of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Peer {
    pub(super) address: Option<SocketAddr>,
    /// What it has shown at the handshake of TLS.
    pub(super) certificate: Option<Arc<ClientCertificate>>,
}

/// How it is found out who calls.
pub(super) enum Ask {
    /// By what answers at once.
    Now(Box<dyn Authenticate>),
    /// By what may wait, so on a thread of its own.
    Blocking {
        authenticate: Arc<dyn Authenticate>,
        places: Arc<Semaphore>,
    },
}

impl OneHeader for HeaderMap {
    fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.get_all(name).iter();
        let value = values.next().filter(|_| values.next().is_none())?;
        Some(value.to_str().ok()?.trim_matches([' ', '\t']))
    }
}

impl Ask {
    pub(super) fn nobody() -> Self {
        let nobody = |_: &Credentials<'_>| Ok::<Option<Caller>, AuthUnavailable>(None);
        Self::Now(Box::new(nobody))
    }

    pub(super) fn blocking(authenticate: impl Authenticate) -> Self {
        Self::Blocking {
            authenticate: Arc::new(authenticate),
            places: Arc::new(Semaphore::new(MOST_ASKED)),
        }
    }

    /// The caller of a request: 401 when it is nobody, 503 when that cannot be told now, 500 when
    /// the program is at fault.
    pub(super) async fn caller(&self, head: &Parts) -> Result<Caller, Stop> {
        let headers = &head.headers;
        let mut peer = head.extensions.get::<Peer>().cloned().unwrap_or_default();
        if let Some(ConnectInfo(address)) = head.extensions.get() {
            // Another program accepted the connection.
            peer.address = peer.address.or(Some(*address));
        }
        let answer = match self {
            Self::Now(authenticate) => ask(&**authenticate, headers, &peer)?,
            Self::Blocking {
                authenticate,
                places,
            } => {
                let (authenticate, headers) = (Arc::clone(authenticate), headers.clone());
                let places = Arc::clone(places);
                let asked = async move {
                    let place = places.acquire_owned().await;
                    spawn_blocking(move || {
                        let answer = ask(&*authenticate, &headers, &peer);
                        // It is free when the look-up has ended, and not when nobody waits for it.
                        drop(place);
                        answer
                    })
                    .await
                };
                match timeout(ASKED_WITHIN, asked).await {
                    Ok(Ok(answer)) => answer?,
                    Ok(Err(_)) => Err(AuthUnavailable::new("the runtime ends")),
                    Err(_) => Err(AuthUnavailable::new("the look-up takes too long")),
                }
            }
        };
        match answer {
            Ok(Some(caller)) => Ok(caller),
            Ok(None) => Err(Stop::code(Code::Unauthenticated, why_nobody(headers))),
            Err(error) => {
                tracing::warn!(%error, "a request is told to come again");
                let detail = "who calls cannot be told now: this try did not run";
                Err(Stop::code(Code::Busy, detail))
            }
        }
    }
}

type Answer = Result<Option<Caller>, AuthUnavailable>;

fn ask(authenticate: &dyn Authenticate, headers: &HeaderMap, peer: &Peer) -> Result<Answer, Stop> {
    let who = Credentials::new(
        token(headers),
        headers,
        peer.address,
        peer.certificate.as_deref(),
    );
    // It is the program's own, and a panic would end the connection without a reply.
    catch_unwind(AssertUnwindSafe(|| authenticate.caller(&who))).map_err(|_| {
        tracing::error!("to find out who calls panicked");
        Stop::code(Code::Failed, "the server cannot find out who calls")
    })
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.one(AUTHORIZATION.as_str())?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim_matches([' ', '\t']))
}

/// What a person needs to know who was not let in.
fn why_nobody(headers: &HeaderMap) -> &'static str {
    if !headers.contains_key(AUTHORIZATION) {
        "there is no authorization header"
    } else if headers.one(AUTHORIZATION.as_str()).is_none() {
        "there is more than one authorization header, or one that is not text"
    } else if token(headers).is_none() {
        "the authorization header has no bearer token"
    } else {
        "the token is not known"
    }
}
