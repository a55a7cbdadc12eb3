//! Small values with a unit in their type, and the traits of values that stand in a request.

use std::{fmt, str::FromStr, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

/// The place of a record in the log: 1 for the first, then one more for each.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// The place after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// How long ago `earlier` was; nothing when it is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Who calls: a stable name from authentication, never the token itself.
///
/// 1 to 128 visible ASCII characters, so that it can stand in a header.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Caller(Arc<str>);

impl Caller {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Caller {
    type Err = InvalidCaller;

    fn from_str(name: &str) -> Result<Self, InvalidCaller> {
        let visible = name.bytes().all(|b| b.is_ascii_graphic());
        if visible && (1..=128).contains(&name.len()) {
            Ok(Self(name.into()))
        } else {
            Err(InvalidCaller { name: name.into() })
        }
    }
}

impl TryFrom<String> for Caller {
    type Error = InvalidCaller;

    fn try_from(name: String) -> Result<Self, InvalidCaller> {
        name.parse()
    }
}

impl From<Caller> for String {
    fn from(caller: Caller) -> Self {
        caller.as_str().into()
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that cannot name a caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot name a caller: 1 to 128 visible ASCII characters can")]
pub struct InvalidCaller {
    /// The text.
    pub name: String,
}

/// A value that stands in a path, as one segment.
///
/// Each type with `Display` and `FromStr` is one. The two must be each other's inverse, and the
/// text must not be empty: an empty segment is another route.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a path",
    label = "a path parameter needs `Display` and `FromStr`",
    note = "implement `std::fmt::Display` and `std::str::FromStr`, each the other's inverse"
)]
pub trait PathValue: Sized {
    /// Reads the value from its segment, percent-decoded.
    ///
    /// # Errors
    /// What a person is told, when the segment is no such value.
    fn from_segment(segment: &str) -> Result<Self, String>;
}

impl<T> PathValue for T
where
    T: fmt::Display + FromStr,
    T::Err: fmt::Display,
{
    fn from_segment(segment: &str) -> Result<Self, String> {
        segment.parse().map_err(|error: T::Err| error.to_string())
    }
}

/// The value that orders the events of a stream: `cursor` in link.toml names its field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the cursor of a stream",
    label = "this field is named by `cursor` in link.toml",
    note = "a cursor is a `u64` or a `Position` that grows from event to event"
)]
pub trait Cursor {
    /// Its number.
    fn cursor(&self) -> u64;
}

impl Cursor for u64 {
    fn cursor(&self) -> u64 {
        *self
    }
}

impl Cursor for Position {
    fn cursor(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_fits_into_a_header() {
        assert!("ann@example".parse::<Caller>().is_ok());
        for name in ["", "ann lee", "\u{e4}nn", "a\nb"] {
            assert!(name.parse::<Caller>().is_err(), "{name:?}");
        }
        assert!("a".repeat(129).parse::<Caller>().is_err());
    }

    #[test]
    fn time_never_runs_backwards() {
        assert_eq!(UnixMillis(5).since(UnixMillis(7)), Duration::ZERO);
        assert_eq!(UnixMillis(7).since(UnixMillis(5)), Duration::from_millis(2));
    }
}
