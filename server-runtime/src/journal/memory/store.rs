//! What the journal in memory holds, and how a chunk comes to it.

use std::{collections::BTreeMap, io};

use link_wire::Position;

use super::{
    super::{AppendError, Chunk, Epoch, Found, JournalError, JournalStats, frame},
    SALT,
    faults::Faults,
};

/// What is on the disk, and how it goes on.
#[derive(Debug, Clone, Default)]
pub(super) struct Store {
    /// The frames, from those of the oldest segment on.
    pub(super) live: Vec<u8>,
    /// How many of the live bytes a loss of power leaves.
    pub(super) durable: usize,
    pub(super) segments: Vec<Segment>,
    pub(super) next: Position,
    /// The chunk that was appended last, for `resolve`.
    pub(super) last: Option<Position>,
    /// A checkpoint is durable as soon as it is put.
    pub(super) checkpoints: BTreeMap<Position, Checkpoint>,
    pub(super) epoch: Epoch,
    pub(super) found: Found,
    pub(super) stats: JournalStats,
    pub(super) faults: Faults,
    pub(super) stopped: bool,
}

/// Some frames that can be dropped together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) base: Position,
    pub(super) offset: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) bytes: Vec<u8>,
    pub(super) damaged: bool,
}

impl Store {
    /// The position of the oldest record.
    pub(super) fn first(&self) -> Position {
        self.segments
            .first()
            .map_or(Position(1), |first| first.base)
    }

    pub(super) fn check_epoch(&self, given: Epoch) -> Result<(), AppendError> {
        if self.stopped {
            return Err(AppendError::Failed(JournalError::Stopped));
        }
        let now = self.epoch;
        if given != now {
            return Err(AppendError::Fenced { given, now });
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        chunk: Chunk<'_>,
        segment_bytes: usize,
    ) -> Result<(), AppendError> {
        let begins = self.segments.last().map_or(0, |segment| segment.offset);
        let mut bytes = Vec::new();
        frame::encode(SALT, chunk.records, chunk.bytes, &mut bytes);
        if self.faults.this_append() {
            let half = bytes.len() / 2;
            self.live.extend_from_slice(&bytes[..half]);
            return Err(self.stop("appending to"));
        }
        let offset = self.live.len();
        if offset > begins && offset - begins + bytes.len() > segment_bytes {
            let base = self.next;
            self.segments.push(Segment { base, offset });
        }
        self.live.extend_from_slice(&bytes);
        if self.faults.this_sync() {
            return Err(self.stop("syncing"));
        }
        self.durable = self.live.len();
        self.last = Some(chunk.first);
        self.next = chunk.end();
        self.found.restored = false;
        self.stats.appends += 1;
        self.stats.appended_bytes += chunk.bytes.len() as u64;
        self.stats.syncs += 1;
        Ok(())
    }

    pub(super) fn stop(&mut self, doing: &'static str) -> AppendError {
        self.stopped = true;
        AppendError::Failed(said_so(doing))
    }
}

/// A failure that a test asked for.
pub(super) fn said_so(doing: &'static str) -> JournalError {
    JournalError::Io {
        doing,
        place: "memory".into(),
        source: io::Error::other("a test said so"),
    }
}
