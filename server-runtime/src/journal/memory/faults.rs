//! What a test can make the journal in memory do wrong, apart from the journal itself.

use super::{MemoryJournal, Position};

/// What goes wrong next.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    append: Option<u64>,
    sync: Option<u64>,
    resolves: u64,
    pub(super) held: bool,
    pub(super) full: bool,
    /// The next append ends as unknown; true: its chunk is in the log.
    pub(super) unknown: Option<bool>,
}

impl Faults {
    pub(super) fn this_append(&mut self) -> bool {
        counts_down(&mut self.append)
    }

    pub(super) fn this_sync(&mut self) -> bool {
        counts_down(&mut self.sync)
    }

    pub(super) fn this_resolve(&mut self) -> bool {
        let fails = self.resolves > 0;
        self.resolves -= u64::from(fails);
        fails
    }
}

/// Whether this is the one that fails.
fn counts_down(left: &mut Option<u64>) -> bool {
    match left {
        Some(0 | 1) => {
            *left = None;
            true
        }
        Some(n) => {
            *n -= 1;
            false
        }
        None => false,
    }
}

impl MemoryJournal {
    /// The n-th append from now, 1 for the next, writes half of its bytes and fails.
    pub fn fail_append(&self, n: u64) {
        self.store().faults.append = Some(n);
    }

    /// The sync of the n-th append from now, 1 for the next, fails: its bytes are written only.
    pub fn fail_sync(&self, n: u64) {
        self.store().faults.sync = Some(n);
    }

    /// While this is true there is no room: appends are [`super::AppendError::Full`], and no
    /// checkpoint can be put.
    pub fn full(&self, full: bool) {
        self.store().faults.full = full;
    }

    /// The next append ends as [`super::AppendError::Unknown`]; its chunk is in the log, or not.
    pub fn unknown(&self, appended: bool) {
        self.store().faults.unknown = Some(appended);
    }

    /// So many times from now what became of a chunk cannot be said yet.
    pub fn fail_resolve(&self, times: u64) {
        self.store().faults.resolves = times;
    }

    /// From now on each append waits for [`MemoryJournal::release`], before it looks at anything.
    pub fn hold(&self) {
        self.store().faults.held = true;
    }

    /// Lets appends go on.
    pub fn release(&self) {
        self.store().faults.held = false;
        self.disk.changed.notify_all();
    }

    /// Damages the checkpoint at this position, if there is one.
    pub fn damage_checkpoint(&self, at: Position) {
        if let Some(checkpoint) = self.store().checkpoints.get_mut(&at) {
            checkpoint.damaged = true;
        }
    }
}
