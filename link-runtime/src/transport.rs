//! Bytes to the server and back, in words of our own, so that no other module knows the HTTP
//! library.

use ::http::{HeaderMap, Method};
use bytes::Bytes;
use url::Url;

pub(crate) use self::http::{How, Http, Incoming, Lease};

mod connected;
mod http;
#[cfg(feature = "rustls")]
mod tls;

/// One request, the same in each try but for its headers.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// None sends no body at all.
    pub(crate) body: Option<Bytes>,
}

/// Why a request got no head, or a body no next piece. Our own timers are not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The connect failed, so nothing was sent.
    pub(crate) connect: bool,
    /// The connect was refused: nobody listens.
    pub(crate) refused: bool,
    /// The server says that it has not looked at the request.
    pub(crate) unprocessed: bool,
    /// What the innermost error says.
    pub(crate) why: String,
}
