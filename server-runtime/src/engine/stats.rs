//! What an engine counts, for metrics and for tests.

use std::sync::atomic::Ordering;

use link_wire::{LogPosition, Position};

use super::{Engine, calls::CallStats, shared::Phase};
use crate::{State, journal::JournalStats};

/// What an engine holds and has done since its start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineStats {
    /// The table of calls.
    pub calls: CallStats,
    /// The journal; none when it is closed.
    pub journal: Option<JournalStats>,
    /// How many commands wait for the writer.
    pub queued: u64,
    /// The bytes of their records, at most.
    pub queued_bytes: u64,
    /// How many chunks were written.
    pub chunks: u64,
    /// How many records they had, the one with which the run began not counted.
    pub records: u64,
    /// The newest written record, in this run.
    pub written: LogPosition,
    /// The newest checkpoint.
    pub checkpoint: Option<Position>,
    /// Whether the journal had no room at the last try.
    pub full: bool,
    /// Whether the engine has failed for good.
    pub failed: bool,
}

impl<S: State> Engine<S> {
    /// The newest written position, in the run of this writer.
    pub fn position(&self) -> LogPosition {
        let shared = &self.handle.shared;
        LogPosition {
            run: shared.run,
            position: shared.desk.position(),
        }
    }

    /// What the engine counts. Waits for the handler of a command that runs now.
    pub fn stats(&self) -> EngineStats {
        let shared = &self.handle.shared;
        let journal = shared.journal.upgrade().map(|journal| journal.stats());
        let core = shared.core();
        EngineStats {
            calls: core.calls.stats(),
            journal,
            queued: core.queue.len() as u64,
            queued_bytes: core.queue.bytes() as u64,
            chunks: shared.counts.chunks.load(Ordering::Relaxed),
            records: shared.counts.records.load(Ordering::Relaxed),
            written: self.position(),
            checkpoint: shared.desk.newest(),
            full: shared.counts.full.load(Ordering::Relaxed),
            failed: matches!(*shared.phase.borrow(), Phase::Failed(_)),
        }
    }
}
