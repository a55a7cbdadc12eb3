//! Who calls: from what a request brings with it to the name of a caller.
//!
//! | module | what |
//! |---|---|
//! | [`tokens`] | bearer tokens, of which the server keeps the SHA-256 |
//! | [`proxy`] | a header that a proxy in front of the server sets |
//! | [`certificate`] | the certificate that a client shows at the handshake of TLS |

use std::{borrow::Cow, fmt, net::SocketAddr};

use link_wire::Caller;

pub use self::{
    certificate::{ClientCertificate, FromCertificate},
    proxy::{FromProxy, InvalidNetwork, Network},
    tokens::Tokens,
};

pub mod certificate;
pub mod proxy;
pub mod tokens;

/// Finds out who calls.
///
/// A closure of the same shape is one, too:
///
/// ```
/// # use server_runtime::auth::{Authenticate, AuthUnavailable, Credentials};
/// let one = |who: &Credentials<'_>| -> Result<_, AuthUnavailable> {
///     Ok(who.token().filter(|token| *token == "a-secret").and_then(|_| "ann".parse().ok()))
/// };
/// assert_eq!(one.caller(&Credentials::of_token("a-secret")).unwrap().unwrap().as_str(), "ann");
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// The caller whose credentials these are; none is answered by 401 `unauthenticated`. The same
    /// person must get the same name for every token: the name is half of the key under which a
    /// command is remembered.
    ///
    /// It runs on a worker thread, once a request, and must not block. What may wait, as a look-up
    /// elsewhere, goes through [`Server::authenticate_blocking`](crate::Server::authenticate_blocking).
    /// A panic is answered by 500 `failed`.
    ///
    /// # Errors
    /// [`AuthUnavailable`] when it cannot be told now. It is answered by 503 `busy`, so that the
    /// client comes again: a 401 would end its session.
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable>;

    /// This one, and where it knows nobody, the other one.
    fn or<A: Authenticate>(self, other: A) -> Or<Self, A>
    where
        Self: Sized,
    {
        Or(self, other)
    }
}

impl<F> Authenticate for F
where
    F: Fn(&Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> + Send + Sync + 'static,
{
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        self(who)
    }
}

/// Two ways to find out who calls, see [`Authenticate::or`].
#[derive(Debug, Clone)]
pub struct Or<A, B>(A, B);

impl<A: Authenticate, B: Authenticate> Authenticate for Or<A, B> {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        match self.0.caller(who)? {
            Some(caller) => Ok(Some(caller)),
            None => self.1.caller(who),
        }
    }
}

/// Who calls cannot be told now. The text is for the server's log, not for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("who calls cannot be told now: {why}")]
pub struct AuthUnavailable {
    why: Cow<'static, str>,
}

impl AuthUnavailable {
    /// With what is wrong, for the operator. It must not have the token in it.
    pub fn new(why: impl Into<Cow<'static, str>>) -> Self {
        Self { why: why.into() }
    }
}

/// The headers of a request, as far as they are looked at here.
pub(crate) trait OneHeader {
    /// The value of a header that stands there once, and is visible ASCII.
    fn one(&self, name: &str) -> Option<&str>;
}

/// What a request says of its caller.
#[derive(Clone, Copy, Default)]
pub struct Credentials<'a> {
    token: Option<&'a str>,
    headers: Option<&'a dyn OneHeader>,
    peer: Option<SocketAddr>,
    certificate: Option<&'a ClientCertificate>,
}

impl<'a> Credentials<'a> {
    /// A token and nothing else: for the tests of a look-up.
    pub fn of_token(token: &'a str) -> Self {
        Self {
            token: Some(token),
            ..Self::default()
        }
    }

    pub(crate) fn new(
        token: Option<&'a str>,
        headers: &'a dyn OneHeader,
        peer: Option<SocketAddr>,
        certificate: Option<&'a ClientCertificate>,
    ) -> Self {
        Self {
            token,
            headers: Some(headers),
            peer,
            certificate,
        }
    }

    /// The bearer token of the `authorization` header. None when there is more than one header.
    pub fn token(&self) -> Option<&'a str> {
        self.token
    }

    /// The value of a header that stands there once, without the spaces around it.
    ///
    /// Whoever connects can set any header: believe one only when [`Credentials::peer`] is a proxy
    /// of yours that sets it itself.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers?.one(name)
    }

    /// The other end of the connection. None where another program accepted the connection and
    /// does not say it.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The certificate that the client has shown at the handshake of TLS, signed by an authority
    /// that the server trusts. None without TLS, and where the server asks for none.
    pub fn certificate(&self) -> Option<&'a ClientCertificate> {
        self.certificate
    }
}

impl fmt::Debug for Credentials<'_> {
    /// Without the token, and without headers, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("token", &self.token.map(|_| "…"))
            .field("peer", &self.peer)
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_asked_where_the_first_knows_nobody_and_not_where_it_fails() {
        let ann: Caller = "ann".parse().unwrap();
        let ben: Caller = "ben".parse().unwrap();
        let one = Tokens::new().with(ann.clone(), "a");
        let two = Tokens::new().with(ben.clone(), "b");
        let both = one.or(two.clone());
        let ask = |token| both.caller(&Credentials::of_token(token));
        assert_eq!(ask("a"), Ok(Some(ann)));
        assert_eq!(ask("b"), Ok(Some(ben)));
        assert_eq!(ask("c"), Ok(None));
        let fails = |_: &Credentials<'_>| Err(AuthUnavailable::new("no network"));
        let both = fails.or(two);
        assert!(both.caller(&Credentials::of_token("b")).is_err());
    }

    #[test]
    fn a_token_is_not_shown_by_debug() {
        let text = format!("{:?}", Credentials::of_token("a-secret"));
        assert!(!text.contains("a-secret"), "{text}");
    }
}
