//! The runs of the log's writers: which places in a log are places in this one.

use std::collections::HashMap;

use link_wire::{LogPosition, Position, RunId};

/// So many runs are known, the newest ones. Who names an older one is told as one who has seen
/// another log.
const MOST: usize = 65_536;

/// The runs, by the position of their first record.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Each with its first position.
    list: Vec<(RunId, Position)>,
    /// From a run to its place in the list, the runs that were dropped counted.
    places: HashMap<RunId, usize>,
    dropped: usize,
    /// The first position of the newest run that began with a log from a backup; 0 for none.
    floor: Position,
}

impl Runs {
    pub(super) fn add(&mut self, run: RunId, at: Position, restored: bool) {
        self.places.insert(run, self.dropped + self.list.len());
        self.list.push((run, at));
        if restored {
            self.floor = at;
        }
        // Twice as many are held at times, so that to drop them is seldom.
        if self.list.len() > 2 * MOST {
            for (run, _) in self.list.drain(..MOST) {
                self.places.remove(&run);
            }
            self.dropped += MOST;
        }
    }

    /// Whether this log, which is written up to `written`, has that place, and has it still from
    /// before no backup was put back.
    pub(super) fn has(&self, seen: LogPosition, written: Position) -> bool {
        let Some(place) = self.places.get(&seen.run) else {
            return false;
        };
        let after = self.list.get(place - self.dropped + 1);
        // A run ends before the record with which the next one begins.
        let end = after.map_or(written, |(_, next)| Position(next.0.saturating_sub(1)));
        seen.position <= end && seen.position >= self.floor
    }

    /// The position below which nobody's place counts.
    pub(super) fn floor(&self) -> Position {
        self.floor
    }

    pub(super) fn set_floor(&mut self, floor: Position) {
        self.floor = floor;
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &(RunId, Position)> {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_the_positions_up_to_the_next_one() {
        let run = |n| RunId::from_bytes([n; 16]);
        let seen = |n, position| LogPosition {
            run: run(n),
            position: Position(position),
        };
        let mut runs = Runs::default();
        runs.add(run(1), Position(1), false);
        runs.add(run(2), Position(10), false);
        let written = Position(20);
        for (place, has) in [
            (seen(1, 0), true),
            (seen(1, 9), true),
            (seen(1, 10), false),
            (seen(2, 10), true),
            (seen(2, 20), true),
            (seen(2, 21), false),
            (seen(3, 1), false),
        ] {
            assert_eq!(runs.has(place, written), has, "{place}");
        }
        runs.add(run(4), Position(21), true);
        assert!(
            !runs.has(seen(2, 20), Position(22)),
            "a backup was put back"
        );
        assert!(runs.has(seen(4, 22), Position(22)));
    }

    #[test]
    fn many_runs_cost_a_bounded_memory() {
        let mut runs = Runs::default();
        let run = |n: usize| RunId::from_bytes((n as u128).to_le_bytes());
        for n in 0..5 * MOST {
            runs.add(run(n), Position(n as u64 + 1), false);
        }
        assert!(runs.iter().len() <= 2 * MOST);
        let newest = 5 * MOST - 1;
        let seen = |n: usize| LogPosition {
            run: run(n),
            position: Position(n as u64 + 1),
        };
        assert!(runs.has(seen(newest), Position(newest as u64 + 1)));
        assert!(runs.has(seen(newest - MOST + 1), Position(newest as u64 + 1)));
        assert!(!runs.has(seen(0), Position(newest as u64 + 1)));
    }
}
