//! How long until the next try: doubling with jitter, and what a server asks for; pure.

use std::time::{Duration, SystemTime};

use link_wire::Limits;

/// Beyond it the numbers below could overflow.
const MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// The wait after the `done`-th try: `first_wait`, doubled for each further one, at most
/// `most_wait`; then a random place in its upper half, so that many clients spread.
///
/// `random` is uniform over all of `u32`.
pub(crate) fn wait(done: u32, limits: &Limits, random: u32) -> Duration {
    let doublings = done.saturating_sub(1).min(31);
    let full = limits
        .first_wait
        .saturating_mul(1 << doublings)
        .min(limits.most_wait);
    jitter(full, random)
}

/// A random place in `[full / 2, full]`. No wait is longer than a day.
pub(crate) fn jitter(full: Duration, random: u32) -> Duration {
    let full = full.min(MOST);
    let half = full / 2;
    half + full
        .saturating_sub(half)
        .mul_f64(f64::from(random) / f64::from(u32::MAX))
}

/// The wait before the next try when a server asks for `theirs` and our own wait is `ours`: first
/// theirs, then ours, so that clients that were told the same do not all come back in one instant.
/// Theirs alone when both do not fit into `left`. A server that asks for no wait changes nothing.
pub(crate) fn theirs_and_ours(theirs: Duration, ours: Duration, left: Duration) -> Duration {
    let both = theirs.saturating_add(ours);
    // Never nothing: a server that says 0 would be asked in a spin at the end of a budget.
    if both < left || theirs.is_zero() {
        both
    } else {
        theirs
    }
}

/// A number for [`wait`] and [`jitter`]. A machine without randomness gets the full wait.
pub(crate) fn random() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}

/// How long a reply asks to wait (RFC 9110, 10.2.3).
///
/// `values` are all its `retry-after` headers, `date` its own `date`. The value is digits (seconds), or an
/// HTTP date, which is measured against `date`, never against our clock: the two clocks need not
/// agree. Anything else is ignored: two headers, a sign, a fraction, a date without a `date`
/// beside it. A date that has passed asks for no wait; more digits than a `u64` holds ask for
/// the longest one.
pub(crate) fn retry_after(values: &[&str], date: Option<&str>) -> Option<Duration> {
    let &[value] = values else { return None };
    let value = value.trim_matches([' ', '\t']);
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let then = httpdate::parse_http_date(value).ok()?;
    let sent: SystemTime = httpdate::parse_http_date(date?.trim_matches([' ', '\t'])).ok()?;
    Some(then.duration_since(sent).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_up_to_the_most() {
        let fulls: Vec<_> = (1..=7)
            .map(|done| wait(done, &Limits::DEFAULT, u32::MAX))
            .collect();
        assert_eq!(
            fulls,
            [250, 500, 1000, 2000, 4000, 5000, 5000].map(Duration::from_millis)
        );
        assert_eq!(
            wait(u32::MAX, &Limits::DEFAULT, u32::MAX),
            Limits::DEFAULT.most_wait
        );
    }

    #[test]
    fn a_wait_lies_between_its_half_and_its_full() {
        for random in [0, 1, 7, u32::MAX / 3, u32::MAX - 1, u32::MAX] {
            let wait = wait(3, &Limits::DEFAULT, random);
            assert!(
                (500..=1000).contains(&wait.as_millis()),
                "{random} gives {wait:?}"
            );
        }
        assert_eq!(
            jitter(Duration::from_secs(1), 0),
            Duration::from_millis(500)
        );
        assert_eq!(jitter(Duration::ZERO, u32::MAX), Duration::ZERO);
        assert_eq!(jitter(Duration::MAX, u32::MAX), MOST);
    }

    #[test]
    fn our_wait_comes_on_top_of_theirs_while_both_fit() {
        for (theirs, ours, left, wait) in [
            (7_000, 250, 60_000, 7_250),
            (7_000, 125, 60_000, 7_125),
            (7_000, 250, 7_250, 7_000),
            (7_000, 250, 7_100, 7_000),
            (7_000, 250, 100, 7_000),
            (0, 250, 60_000, 250),
            (0, 250, 100, 250),
        ] {
            let [theirs, ours, left, wait] = [theirs, ours, left, wait].map(Duration::from_millis);
            assert_eq!(
                theirs_and_ours(theirs, ours, left),
                wait,
                "{theirs:?} in {left:?}"
            );
        }
        let ever = Duration::MAX;
        assert_eq!(theirs_and_ours(ever, ever, ever), ever);
    }

    #[test]
    fn retry_after_is_digits_or_a_date_and_nothing_else() {
        const SENT: &str = "Tue, 01 Dec 2026 10:00:00 GMT";
        let table: &[(&[&str], Option<u64>)] = &[
            (&["120"], Some(120)),
            (&[" 120\t"], Some(120)),
            (&["0"], Some(0)),
            (&["007"], Some(7)),
            (&[], None),
            (&[""], None),
            (&["-5"], None),
            (&["1.5"], None),
            (&["+3"], None),
            (&["120junk"], None),
            (&["99999999999999999999"], Some(u64::MAX)),
            (&["\u{661}\u{662}"], None),
            (&["1, 2"], None),
            (&["1", "1"], None),
            (&["Tue, 01 Dec 2026 10:02:00 GMT"], Some(120)),
            (&["Tue, 01 Dec 2026 09:00:00 GMT"], Some(0)),
            (&["Tuesday"], None),
        ];
        for (values, seconds) in table {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(retry_after(values, Some(SENT)), expected, "{values:?}");
        }
    }

    #[test]
    fn a_date_counts_from_the_replys_own_date_whatever_our_clock_says() {
        let ahead = ["Fri, 01 Jan 2038 00:00:30 GMT"];
        let sent = Some("Fri, 01 Jan 2038 00:00:00 GMT");
        assert_eq!(retry_after(&ahead, sent), Some(Duration::from_secs(30)));
        assert_eq!(retry_after(&ahead, None), None);
        assert_eq!(retry_after(&ahead, Some("now")), None);
    }
}
