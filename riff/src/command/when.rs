//! Times as a person says them.

use jiff::{Timestamp, tz::TimeZone};
use riff_link::UnixMillis;

/// The time of day where this machine is, and the day when it is another one.
pub(super) fn when(at: UnixMillis, now: UnixMillis) -> String {
    spoken(at, now, &TimeZone::system())
}

fn spoken(at: UnixMillis, now: UnixMillis, zone: &TimeZone) -> String {
    let zoned = |ms: UnixMillis| {
        let ms = i64::try_from(ms.0).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(ms)
            .unwrap_or(Timestamp::MAX)
            .to_zoned_datetime(zone.clone())
    };
    let (at, now) = (zoned(at), zoned(now));
    let form = if at.date() == now.date() {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M"
    };
    at.strftime(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_needs_no_date() {
        let day = 86_400_000;
        let spoken = |at, now| spoken(UnixMillis(at), UnixMillis(now), &TimeZone::UTC);
        assert_eq!(spoken(day + 61_000, 2 * day - 1), "00:01:01");
        assert_eq!(spoken(day + 61_000, 2 * day), "1970-01-02 00:01");
    }
}
