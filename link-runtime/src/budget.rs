//! The budget of a call: a deadline and a number of tries, counted from its first try.

use std::time::Duration;

use link_wire::{Attempts, Budget, UnixMillis};
use tokio::time::Instant;

use crate::clock;

/// The deadline of a running call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// None when the end lies beyond what the clock can say: then there is none.
    at: Option<Instant>,
    within: Duration,
    /// When it began, by the clock that goes on while the machine sleeps.
    began: UnixMillis,
}

/// A wall clock that is so far ahead of the other one means that the machine slept.
const SLEPT: Duration = Duration::from_secs(5);

impl Deadline {
    /// The deadline of a call whose first try begins now.
    pub(crate) fn of(within: Duration) -> Self {
        Self {
            at: Instant::now().checked_add(within),
            within,
            began: clock::wall(),
        }
    }

    /// The whole budget.
    pub(crate) fn within(self) -> Duration {
        self.within
    }

    /// How much of the budget is left; nothing after the deadline. A sleep of the machine counts.
    pub(crate) fn left(self) -> Duration {
        self.left_at(clock::wall())
    }

    fn left_at(self, wall: UnixMillis) -> Duration {
        let Some(at) = self.at else {
            return Duration::MAX;
        };
        let left = at.saturating_duration_since(Instant::now());
        let (gone, by_wall) = (self.within.saturating_sub(left), wall.since(self.began));
        if by_wall > gone.saturating_add(SLEPT) {
            self.within.saturating_sub(by_wall)
        } else {
            left
        }
    }

    /// How many milliseconds are left, at least 1; none when there is no deadline.
    pub(crate) fn left_ms(self) -> Option<u64> {
        let left = self.at.map(|_| self.left().as_millis())?;
        Some(u64::try_from(left).unwrap_or(u64::MAX).max(1))
    }
}

/// What holds for a call: the route's budget, with the span that the caller may have set.
///
/// A route without a budget (a heartbeat, whose maker sets its period) has one try of `attempt`.
pub(crate) fn of(
    budget: Option<Budget>,
    within: Option<Duration>,
    attempt: Duration,
) -> (Duration, Attempts) {
    match budget {
        Some(budget) => (within.unwrap_or(budget.within), budget.tries),
        None => (within.unwrap_or(attempt), Attempts::AtMost(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_sleep_of_the_machine_counts_and_a_small_step_of_the_clock_does_not() {
        let deadline = Deadline::of(Duration::from_secs(60));
        tokio::time::advance(Duration::from_secs(10)).await;
        let after = |seconds: u64| UnixMillis(deadline.began.0 + seconds * 1000);
        for (wall, left) in [(10, 50), (14, 50), (0, 50), (40, 20), (3600, 0)] {
            assert_eq!(deadline.left_at(after(wall)).as_secs(), left, "{wall}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_budget_runs_out_and_never_below_nothing() {
        let deadline = Deadline::of(Duration::from_secs(3));
        assert_eq!(deadline.left(), Duration::from_secs(3));
        assert_eq!(deadline.left_ms(), Some(3_000));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(deadline.left(), Duration::from_secs(1));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(deadline.left(), Duration::ZERO);
        assert_eq!(deadline.left_ms(), Some(1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_budget_has_no_deadline() {
        let endless = Deadline::of(Duration::MAX);
        assert_eq!((endless.left(), endless.left_ms()), (Duration::MAX, None));
    }

    #[test]
    fn a_callers_span_replaces_that_of_the_route_and_keeps_its_tries() {
        let second = Duration::from_secs(1);
        let budget = Budget {
            name: "once",
            within: second,
            tries: Attempts::AtMost(2),
        };
        assert_eq!(
            of(Some(budget), None, second),
            (second, Attempts::AtMost(2))
        );
        assert_eq!(
            of(Some(budget), Some(second * 9), second),
            (second * 9, Attempts::AtMost(2))
        );
        assert_eq!(
            of(None, None, second * 20),
            (second * 20, Attempts::AtMost(1))
        );
    }
}
