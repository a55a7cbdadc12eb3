//! Who calls: the token of a caller, kept apart so that nothing prints it.

use std::fmt;

use http::HeaderValue;

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
}

impl Credentials {
    /// A token, sent as `authorization: Bearer TOKEN`.
    ///
    /// A token with a character that cannot stand in a header (a line break, a control
    /// character) makes every call end as not sent, with a cause that says so.
    pub fn bearer(token: impl Into<String>) -> Self {
        let proof = match HeaderValue::try_from(format!("Bearer {}", token.into())) {
            Ok(mut header) => {
                header.set_sensitive(true);
                Proof::Bearer(header)
            }
            Err(_) => Proof::Unusable,
        };
        Self(proof)
    }

    /// No caller: for a server that asks for none.
    pub const fn none() -> Self {
        Self(Proof::None)
    }

    /// The value of the header `authorization`, or why there can be none.
    pub(crate) fn header(&self) -> Result<Option<HeaderValue>, &'static str> {
        match &self.0 {
            Proof::None => Ok(None),
            Proof::Bearer(header) => Ok(Some(header.clone())),
            Proof::Unusable => Err("the token has a character that cannot stand in a header"),
        }
    }
}

impl Credentials {
    /// What tells these credentials from others. Never printed.
    pub(crate) fn proof(&self) -> Vec<u8> {
        match &self.0 {
            Proof::Bearer(header) => header.as_bytes().to_vec(),
            Proof::None | Proof::Unusable => Vec::new(),
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Proof::None => "Credentials(none)",
            Proof::Bearer(_) => "Credentials(bearer …)",
            Proof::Unusable => "Credentials(unusable)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        let credentials = Credentials::bearer("very-secret");
        let header = credentials.header().unwrap().unwrap();
        assert_eq!(header.to_str().unwrap(), "Bearer very-secret");
        assert!(!format!("{credentials:?} {header:?}").contains("secret"));
    }

    #[test]
    fn a_token_with_a_line_break_is_no_header() {
        assert!(Credentials::bearer("a\r\nx: y").header().is_err());
        assert!(Credentials::none().header().unwrap().is_none());
    }
}
