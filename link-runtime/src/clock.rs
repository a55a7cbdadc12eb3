//! The wall clock and how spans of time are said, apart so that nothing else reads time of day.
//!
//! Deadlines use `tokio::time`, which tests can pause.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use link_wire::UnixMillis;

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn wall() -> UnixMillis {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX))
}

/// A span of time in the words of a person: `250 ms`, `1.5 s`, `20 s`, `3 min`, `5 h`, `2 days`.
///
/// Cut, never rounded up: 179 s are `2 min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spoken(pub(crate) Duration);

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let seconds = millis / 1000;
        let tenth = millis / 100 % 10;
        match seconds {
            0 => write!(f, "{millis} ms"),
            1..10 if tenth > 0 => write!(f, "{seconds}.{tenth} s"),
            1..120 => write!(f, "{seconds} s"),
            120..7_200 => write!(f, "{} min", seconds / 60),
            7_200..172_800 => write!(f, "{} h", seconds / 3_600),
            _ => write!(f, "{} days", seconds / 86_400),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_said_in_its_largest_fitting_unit() {
        for (millis, said) in [
            (0, "0 ms"),
            (250, "250 ms"),
            (1_000, "1 s"),
            (1_550, "1.5 s"),
            (20_900, "20 s"),
            (119_999, "119 s"),
            (180_000, "3 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 days"),
        ] {
            assert_eq!(Spoken(Duration::from_millis(millis)).to_string(), said);
        }
    }
}
