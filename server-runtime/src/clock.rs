//! The one place that reads the time of day, so that everything else takes it as a value.

use std::time::{SystemTime, UNIX_EPOCH};

use link_wire::UnixMillis;

/// The time of day. A clock before 1970 reads as 1970.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn now() -> UnixMillis {
    #[cfg(test)]
    if let Some(at) = SET.get() {
        return at;
    }
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
thread_local! {
    static SET: std::cell::Cell<Option<UnixMillis>> = const { std::cell::Cell::new(None) };
}

/// What the clock of this thread reads from now on; none for the time of day.
#[cfg(test)]
pub(crate) fn set(at: Option<UnixMillis>) {
    SET.set(at);
}
