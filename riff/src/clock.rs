//! The one reader of the wall clock, for what a person is shown. Nothing is decided by it.

use std::time::SystemTime;

use riff_link::UnixMillis;

/// Now, by the clock of this machine.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> UnixMillis {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A moment in UTC, to the millisecond: for logs, which people in several places read.
pub fn utc(at: UnixMillis) -> String {
    let ms = i64::try_from(at.0).unwrap_or(i64::MAX);
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX);
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_in_utc_has_milliseconds() {
        assert_eq!(utc(UnixMillis(1_000)), "1970-01-01T00:00:01.000Z");
        assert!(utc(UnixMillis(u64::MAX)).starts_with("9999-"));
    }
}
