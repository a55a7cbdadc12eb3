//! A place in the log of a server, as both ends say it: which run wrote it, and how far it was.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::Position;

/// The name of one run of a server's writer: 16 random bytes, made at each start and logged.
///
/// As text it has 22 characters of base64url without padding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId([u8; 16]);

impl RunId {
    /// The run of these random bytes. The caller is answerable for their being random.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({self})")
    }
}

impl FromStr for RunId {
    type Err = InvalidLogPosition;

    fn from_str(text: &str) -> Result<Self, InvalidLogPosition> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(InvalidLogPosition::Run)
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidLogPosition;

    fn try_from(text: String) -> Result<Self, InvalidLogPosition> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(run: RunId) -> Self {
        run.to_string()
    }
}

/// `RUN.POSITION`: the newest written position of a server, in the run that says so.
///
/// ```
/// # use link_wire::{LogPosition, Position, RunId};
/// let seen = LogPosition { run: RunId::from_bytes([0; 16]), position: Position(17) };
/// assert_eq!(seen.to_string(), "AAAAAAAAAAAAAAAAAAAAAA.17");
/// assert_eq!(seen.to_string().parse(), Ok(seen));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LogPosition {
    /// Which run of the writer.
    pub run: RunId,
    /// How far its log was; 0 for an empty one.
    pub position: Position,
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.run, self.position)
    }
}

impl FromStr for LogPosition {
    type Err = InvalidLogPosition;

    fn from_str(text: &str) -> Result<Self, InvalidLogPosition> {
        let (run, position) = text.split_once('.').ok_or(InvalidLogPosition::Form)?;
        let digits = !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit());
        let position = position.parse().ok().filter(|_| digits);
        Ok(Self {
            run: run.parse()?,
            position: Position(position.ok_or(InvalidLogPosition::Position)?),
        })
    }
}

impl TryFrom<String> for LogPosition {
    type Error = InvalidLogPosition;

    fn try_from(text: String) -> Result<Self, InvalidLogPosition> {
        text.parse()
    }
}

impl From<LogPosition> for String {
    fn from(place: LogPosition) -> Self {
        place.to_string()
    }
}

/// A text that is no place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLogPosition {
    /// There is no dot in it.
    #[error("a place in a log is RUN.POSITION")]
    Form,
    /// The run is not 22 characters of base64url.
    #[error("a run is 22 characters of base64url without padding")]
    Run,
    /// The position is no number of 64 bits.
    #[error("a position is digits, and less than 2^64")]
    Position,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_place_in_a_log_says_why() {
        let run = RunId::from_bytes([0xfb; 16]).to_string();
        for (text, why) in [
            (String::new(), InvalidLogPosition::Form),
            (run.clone(), InvalidLogPosition::Form),
            (".1".into(), InvalidLogPosition::Run),
            (format!("{run}A.1"), InvalidLogPosition::Run),
            (format!("{run}."), InvalidLogPosition::Position),
            (format!("{run}.+1"), InvalidLogPosition::Position),
            (
                format!("{run}.99999999999999999999"),
                InvalidLogPosition::Position,
            ),
        ] {
            assert_eq!(text.parse::<LogPosition>(), Err(why), "{text}");
        }
    }
}
