//! Who calls: the token of a caller, kept apart so that nothing prints it.

use std::{fmt, pin::Pin, sync::Arc};

use http::HeaderValue;
use tokio::sync::Mutex;

/// What an [`Api`](crate::Api) proves its caller with.
///
/// Each try of a call, and each open of a stream, takes the header anew. `Debug` hides the token.
#[derive(Clone)]
pub struct Credentials(Proof);

#[derive(Clone)]
enum Proof {
    None,
    Bearer(HeaderValue),
    /// The token cannot stand in a header.
    Unusable,
    Source(Arc<Source>),
}

/// Whatever gives tokens, and the one that it gave last.
struct Source {
    name: String,
    ask: Box<dyn Fn() -> Asked + Send + Sync>,
    /// Locked while it is asked, so that all calls that need a token ask once.
    held: Mutex<Held>,
}

type Asked = Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>>;

#[derive(Default)]
struct Held {
    header: Option<HeaderValue>,
    /// Counts the tokens.
    generation: u64,
}

/// Why a source gives no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It may give one later: a call asks again within its budget.
    #[error("no token now: {why}")]
    Later {
        /// What is wrong, for a person. It must not have a secret in it.
        why: String,
    },
    /// It gives none: somebody has to sign in.
    #[error("no token: {why}")]
    Never {
        /// What is wrong, for a person. It must not have a secret in it.
        why: String,
    },
}

/// What one try shows.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    pub(crate) header: Option<HeaderValue>,
    /// The number of a token that can be renewed.
    generation: Option<u64>,
}

impl Shown {
    /// Whether there may be another token in its place.
    pub(crate) fn can_be_renewed(&self) -> bool {
        self.generation.is_some()
    }
}

impl Source {
    async fn ask(&self) -> Result<HeaderValue, TokenError> {
        let token = (self.ask)().await?;
        bearer(&token).ok_or_else(|| TokenError::Never {
            why: UNUSABLE.into(),
        })
    }
}

const UNUSABLE: &str = "the token has a character that cannot stand in a header";

fn bearer(token: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl Credentials {
    /// A token, sent as `authorization: Bearer TOKEN`.
    ///
    /// A token with a character that cannot stand in a header (a line break, a control
    /// character) makes every call end as not sent, with a cause that says so.
    pub fn bearer(token: impl Into<String>) -> Self {
        Self(bearer(&token.into()).map_or(Proof::Unusable, Proof::Bearer))
    }

    /// Tokens that are renewed: `ask` gives one, when the first is needed and when the server does
    /// not know the last one (401).
    ///
    /// Each try and each open of a stream shows the newest token. A call asks for a new one once at
    /// most, and all that need one at the same time ask once. What `ask` takes is of the budget of
    /// the call; it may be dropped in the middle.
    ///
    /// `name` tells this caller from others of this machine, now and in later processes, as
    /// `ann@riff.example`: the token does not, as it changes. It is not sent.
    ///
    /// ```
    /// use link_runtime::Credentials;
    /// let credentials = Credentials::from_source("ann@riff.example", || async {
    ///     Ok("read from where your tokens are".to_owned())
    /// });
    /// # drop(credentials);
    /// ```
    pub fn from_source<F, A>(name: impl Into<String>, ask: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, TokenError>> + Send + 'static,
    {
        Self(Proof::Source(Arc::new(Source {
            name: name.into(),
            ask: Box::new(move || Box::pin(ask())),
            held: Mutex::default(),
        })))
    }

    /// No caller: for a server that asks for none.
    pub const fn none() -> Self {
        Self(Proof::None)
    }

    /// What a try shows, where nobody has to be asked for it.
    pub(crate) fn at_once(&self) -> Result<Option<Shown>, &'static str> {
        match &self.0 {
            Proof::None => Ok(Some(Shown::default())),
            Proof::Bearer(header) => Ok(Some(Shown {
                header: Some(header.clone()),
                generation: None,
            })),
            Proof::Unusable => Err(UNUSABLE),
            Proof::Source(_) => Ok(None),
        }
    }

    /// What a try shows, by a source of tokens.
    pub(crate) async fn asked(&self) -> Result<Shown, TokenError> {
        let Proof::Source(source) = &self.0 else {
            return Ok(Shown::default());
        };
        let mut held = source.held.lock().await;
        if held.header.is_none() {
            held.header = Some(source.ask().await?);
        }
        Ok(Shown {
            header: held.header.clone(),
            generation: Some(held.generation),
        })
    }

    /// After the server did not know what was shown: whether there is another token.
    pub(crate) async fn renew(&self, shown: &Shown) -> Result<bool, TokenError> {
        let (Proof::Source(source), Some(generation)) = (&self.0, shown.generation) else {
            return Ok(false);
        };
        let mut held = source.held.lock().await;
        if held.generation != generation {
            return Ok(true);
        }
        let new = Some(source.ask().await?);
        let is_new = held.header != new;
        if is_new {
            *held = Held {
                header: new,
                generation: generation + 1,
            };
        }
        Ok(is_new)
    }
}

impl Credentials {
    /// What tells these credentials from others. Never printed.
    pub(crate) fn proof(&self) -> Vec<u8> {
        match &self.0 {
            Proof::Bearer(header) => header.as_bytes().to_vec(),
            // No token begins so: a header has no zero byte.
            Proof::Source(source) => [b"source\0", source.name.as_bytes()].concat(),
            Proof::None | Proof::Unusable => Vec::new(),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Proof::None => "Credentials(none)",
            Proof::Bearer(_) => "Credentials(bearer …)",
            Proof::Unusable => "Credentials(unusable)",
            Proof::Source(source) => return write!(f, "Credentials(source {:?})", source.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        let credentials = Credentials::bearer("very-secret");
        let shown = credentials.at_once().unwrap().unwrap();
        let header = shown.header.unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer very-secret");
        assert!(!format!("{credentials:?} {header:?}").contains("secret"));
    }

    #[test]
    fn a_token_with_a_line_break_is_no_header() {
        assert!(Credentials::bearer("a\r\nx: y").at_once().is_err());
        let none = Credentials::none().at_once().unwrap().unwrap();
        assert!(none.header.is_none() && !none.can_be_renewed());
    }
}
