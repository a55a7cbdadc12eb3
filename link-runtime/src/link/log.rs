//! What a link has seen of its server's log: the newest position, and the runs that were lost.

use std::sync::{Mutex, MutexGuard, PoisonError};

use link_wire::{LogPosition, RunId};

/// How many lost runs are remembered, so that each is told once.
const MOST_LOST: usize = 16;

/// The newest position that the server said, kept apart so that one lock guards all of it.
#[derive(Debug, Default)]
pub(super) struct SeenLog(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    newest: Option<LogPosition>,
    /// Runs that the server says it does not hold, the oldest first.
    lost: Vec<RunId>,
}

impl SeenLog {
    /// Takes the position of a reply that arrived now.
    ///
    /// Of one run the greatest counts, since replies overtake each other. Another run is a server
    /// that was started since, or the log of another one: what it says now counts.
    pub(super) fn saw(&self, said: LogPosition) {
        let mut seen = self.lock();
        let older = seen
            .newest
            .is_some_and(|newest| newest.run == said.run && newest.position >= said.position);
        if !older {
            seen.newest = Some(said);
        }
    }

    /// The newest position; none before the first reply that said one.
    pub(super) fn newest(&self) -> Option<LogPosition> {
        self.lock().newest
    }

    /// Notes that the server does not hold this run as far as it was seen. Whether that is news.
    pub(super) fn lose(&self, run: RunId) -> bool {
        let lost = &mut self.lock().lost;
        if lost.contains(&run) {
            return false;
        }
        if lost.len() == MOST_LOST {
            lost.remove(0);
        }
        lost.push(run);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use link_wire::Position;

    use super::*;

    fn run(n: usize) -> RunId {
        RunId::from_bytes([u8::try_from(n).unwrap(); 16])
    }

    fn at(n: usize, position: u64) -> LogPosition {
        LogPosition {
            run: run(n),
            position: Position(position),
        }
    }

    #[test]
    fn of_one_run_the_greatest_position_counts_and_of_two_the_later_reply() {
        let log = SeenLog::default();
        assert_eq!(log.newest(), None);
        for (said, newest) in [
            (at(1, 5), at(1, 5)),
            (at(1, 3), at(1, 5)),
            (at(1, 9), at(1, 9)),
            (at(2, 4), at(2, 4)),
            (at(2, 2), at(2, 4)),
            (at(1, 6), at(1, 6)),
        ] {
            log.saw(said);
            assert_eq!(log.newest(), Some(newest), "after {said}");
        }
    }

    #[test]
    fn a_lost_run_is_news_once() {
        let log = SeenLog::default();
        let news: Vec<_> = [1, 1, 2, 1, 2].map(|n| log.lose(run(n))).into();
        assert_eq!(news, [true, false, true, false, false]);
        for n in 3..3 + MOST_LOST {
            assert!(log.lose(run(n)));
        }
        assert_eq!(log.lock().lost.len(), MOST_LOST);
    }
}
