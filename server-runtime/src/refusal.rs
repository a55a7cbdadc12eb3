//! A handler's no, which is an answer and not a failure.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What kind of no it is; each has one HTTP status.
///
/// 401, 429 and 503 are not among them: a client takes those for the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// 403: this caller may not.
    Forbidden,
    /// 404: what the request names does not exist.
    NotFound,
    /// 409: the state of now does not allow it.
    Conflict,
    /// 410: it existed, and does no longer.
    Gone,
    /// 422: what the request says makes no sense.
    Invalid,
}

impl RefusalKind {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::Gone,
        Self::Invalid,
    ];

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        match self {
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Gone => 410,
            Self::Invalid => 422,
        }
    }
}

/// A handler's no: a status, a code for programs, a detail for people.
///
/// The reply is a problem (RFC 9457) with these three; for a command its code stands in the
/// `refused` header too. A code is 1 to 64 of `a` to `z`, `0` to `9` and `_`; with another one
/// the call fails (500), and the log says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    kind: RefusalKind,
    code: Cow<'static, str>,
    detail: String,
}

impl Refusal {
    /// A no of this kind.
    pub fn new(
        kind: RefusalKind,
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            code: code.into(),
            detail: detail.into(),
        }
    }

    /// 403: this caller may not.
    pub fn forbidden(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RefusalKind::Forbidden, code, detail)
    }

    /// 404: what the request names does not exist.
    pub fn not_found(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RefusalKind::NotFound, code, detail)
    }

    /// 409: the state of now does not allow it.
    pub fn conflict(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RefusalKind::Conflict, code, detail)
    }

    /// 410: it existed, and does no longer.
    pub fn gone(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RefusalKind::Gone, code, detail)
    }

    /// 422: what the request says makes no sense.
    pub fn invalid(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RefusalKind::Invalid, code, detail)
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.kind.status()
    }

    /// What is wrong, for a program.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// What is wrong, for a person.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Whether the code can stand in a header and in the log.
    pub(crate) fn has_a_code(&self) -> bool {
        let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        (1..=64).contains(&self.code.len()) && self.code.bytes().all(known)
    }
}

/// A no as it stands in the log and is given again: `{"status":409,"code":"held","detail":"…"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRefusal {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, for a program.
    pub code: String,
    /// What is wrong, for a person.
    #[serde(default)]
    pub detail: String,
}

impl From<Refusal> for KeptRefusal {
    fn from(refusal: Refusal) -> Self {
        Self {
            status: refusal.status(),
            code: refusal.code.into_owned(),
            detail: refusal.detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_status_of_its_own_that_is_not_one_of_the_servers() {
        for (n, kind) in RefusalKind::ALL.iter().enumerate() {
            let status = kind.status();
            assert!(
                (400..500).contains(&status) && ![401, 429].contains(&status),
                "{kind:?}"
            );
            assert!(
                RefusalKind::ALL[..n]
                    .iter()
                    .all(|other| other.status() != status)
            );
        }
    }

    #[test]
    fn a_code_fits_into_a_header() {
        assert!(Refusal::conflict("held_2", "").has_a_code());
        assert!(Refusal::conflict("x".repeat(64), "").has_a_code());
        for code in ["", "Held", "a b", "a\r\nb", "\u{e4}", &"x".repeat(65)] {
            assert!(
                !Refusal::conflict(code.to_owned(), "").has_a_code(),
                "{code:?}"
            );
        }
    }
}
