//! When a stream is opened again: at once after an end, with waits after faults; pure.

use std::time::Duration;

use link_wire::Limits;

use crate::wait;

/// How many connections in a row may end at once, without a new event, before there are waits.
const SHORT_AT_ONCE: u32 = 2;
/// The longest wait that a `Retry-After` can ask of a stream, which has no budget to end it. Our
/// own comes on top.
const MOST_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);

/// What the connections of one stream have come to so far.
#[derive(Debug)]
pub(super) struct Pace {
    limits: Limits,
    /// Whether a failed connect is followed by one more at once.
    once_more: bool,
    /// Connections in a row that ended as soon as they were open.
    short: u32,
}

impl Pace {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            once_more: false,
            short: 0,
        }
    }

    /// The server asks for this wait after a fault, in place of `stream_retry`.
    pub(super) fn set_retry(&mut self, wait: Duration) {
        self.limits.stream_retry = wait.max(self.limits.first_wait);
    }

    /// The wait after a stream that was open ended; `lived` since then. None: at once.
    ///
    /// An end is normal, but a server that ends each stream as soon as it is open is asked at
    /// growing intervals.
    pub(super) fn ended(&mut self, lived: Duration, moved: bool, random: u32) -> Option<Duration> {
        if moved || lived >= self.limits.first_wait {
            self.short = 0;
        } else {
            self.short = self.short.saturating_add(1);
        }
        let waits = self.short.saturating_sub(SHORT_AT_ONCE);
        self.once_more = waits == 0;
        let limits = Limits {
            most_wait: self.limits.stream_retry,
            ..self.limits
        };
        (waits > 0).then(|| wait::wait(waits, &limits, random))
    }

    /// The wait after an open that failed without an answer. None: at once.
    pub(super) fn failed(&mut self, random: u32) -> Option<Duration> {
        if std::mem::take(&mut self.once_more) {
            return None;
        }
        Some(wait::jitter(self.limits.stream_retry, random))
    }

    /// The wait after an answer that asks to come again: theirs, and then ours, so that streams
    /// that were told the same do not all come back in one instant.
    pub(super) fn told_to_wait(&mut self, theirs: Option<Duration>, random: u32) -> Duration {
        self.once_more = false;
        let theirs = theirs.unwrap_or_default().min(MOST_RETRY_AFTER);
        theirs + wait::jitter(self.limits.stream_retry, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const FULL: u32 = u32::MAX;

    fn pace() -> Pace {
        Pace::new(Limits::DEFAULT)
    }

    #[test]
    fn an_end_is_followed_by_two_opens_at_once_and_then_by_waits() {
        let mut pace = pace();
        assert_eq!(pace.ended(LONG, false, FULL), None);
        assert_eq!(pace.failed(FULL), None);
        assert_eq!(pace.failed(FULL), Some(Limits::DEFAULT.stream_retry));
        assert_eq!(pace.failed(0), Some(Limits::DEFAULT.stream_retry / 2));
    }

    #[test]
    fn a_first_open_that_fails_waits() {
        assert_eq!(pace().failed(FULL), Some(Limits::DEFAULT.stream_retry));
    }

    #[test]
    fn a_server_that_ends_each_stream_at_once_is_asked_ever_less() {
        let mut pace = pace();
        let mut end = |moved| {
            pace.ended(Duration::ZERO, moved, FULL)
                .map(|w| w.as_millis())
        };
        assert_eq!(
            [end(false), end(false), end(false)],
            [None, None, Some(250)]
        );
        assert_eq!(
            [end(false), end(false), end(false)],
            [Some(500), Some(1000), Some(2000)]
        );
        assert_eq!(
            [end(false), end(false), end(false)],
            [Some(4000), Some(5000), Some(5000)]
        );
        assert_eq!(end(true), None);
        assert_eq!(end(false), None);
    }

    #[test]
    fn a_wait_that_a_server_asks_for_is_obeyed_within_reason() {
        let mut pace = pace();
        let minute = Duration::from_secs(60);
        let ours = Limits::DEFAULT.stream_retry;
        assert_eq!(pace.told_to_wait(Some(minute), FULL), minute + ours);
        assert_eq!(pace.told_to_wait(Some(minute), 0), minute + ours / 2);
        assert_eq!(
            pace.told_to_wait(Some(minute * 600), FULL),
            MOST_RETRY_AFTER + ours
        );
        assert_eq!(pace.told_to_wait(None, FULL), ours);
        pace.set_retry(minute);
        assert_eq!(pace.failed(FULL), Some(minute));
        pace.set_retry(Duration::ZERO);
        assert_eq!(pace.failed(FULL), Some(Limits::DEFAULT.first_wait));
    }
}
