//! The call ID: the name of one command, the same in each of its tries.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

/// The name of one command of one caller.
///
/// The link makes it of 16 random bytes: 22 characters of base64url without padding. Another
/// client may send any 1 to 128 visible ASCII characters (`!` to `~`) without a comma, so that
/// a list in the header is never taken for one ID.
///
/// ```
/// # use link_wire::CallId;
/// assert_eq!(CallId::from_bytes([0; 16]).as_str(), "AAAAAAAAAAAAAAAAAAAAAA");
/// assert!("order-7".parse::<CallId>().is_ok());
/// assert!("a, b".parse::<CallId>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CallId(Arc<str>);

impl CallId {
    /// The most characters that a call ID may have.
    pub const MOST: usize = 128;

    /// The ID of these random bytes. The caller is answerable for their being random.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes).into())
    }

    /// The ID as it stands in the header.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CallId {
    type Err = InvalidCallId;

    fn from_str(text: &str) -> Result<Self, InvalidCallId> {
        if text.is_empty() {
            return Err(InvalidCallId::Empty);
        }
        if text.len() > Self::MOST {
            return Err(InvalidCallId::Long { len: text.len() });
        }
        match text
            .char_indices()
            .find(|&(_, c)| !c.is_ascii_graphic() || c == ',')
        {
            Some((at, _)) => Err(InvalidCallId::Character { at }),
            None => Ok(Self(text.into())),
        }
    }
}

impl TryFrom<String> for CallId {
    type Error = InvalidCallId;

    fn try_from(text: String) -> Result<Self, InvalidCallId> {
        text.parse()
    }
}

impl From<CallId> for String {
    fn from(id: CallId) -> Self {
        id.as_str().into()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({})", self.0)
    }
}

/// Why a text is no call ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCallId {
    /// There is nothing.
    #[error("a call ID has 1 to 128 characters, this one has none")]
    Empty,
    /// More than [`CallId::MOST`] characters.
    #[error("a call ID has 1 to 128 characters, this one has {len}")]
    Long {
        /// How many bytes the text has.
        len: usize,
    },
    /// A character that is not visible ASCII, or a comma.
    #[error("a call ID has visible ASCII characters and no comma; the one at byte {at} is another")]
    Character {
        /// The byte at which the character begins.
        at: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_22_characters_that_parse_back() {
        let id = CallId::from_bytes([0xff; 16]);
        assert_eq!(id.as_str().len(), 22);
        assert_eq!(id.as_str().parse(), Ok(id));
    }

    #[test]
    fn the_bounds_hold() {
        assert_eq!("".parse::<CallId>(), Err(InvalidCallId::Empty));
        assert!("x".repeat(128).parse::<CallId>().is_ok());
        assert_eq!(
            "x".repeat(129).parse::<CallId>(),
            Err(InvalidCallId::Long { len: 129 })
        );
        for (text, at) in [
            ("a b", 1),
            ("a,b", 1),
            ("\u{80}", 0),
            ("ab\t", 2),
            ("a\u{7f}", 1),
        ] {
            assert_eq!(
                text.parse::<CallId>(),
                Err(InvalidCallId::Character { at }),
                "{text:?}"
            );
        }
    }
}
