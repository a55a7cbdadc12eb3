//! Writing a chunk at the end of the log, and letting it be seen: apart from the doors, as it is all
//! that an append does.

use std::path::Path;

use link_wire::Position;

use super::{
    super::{AppendError, Chunk, Epoch, JournalError, JournalStats, frame},
    FileJournal, marks,
    segment::{self, Listed},
    tail::Tail,
};

/// Where the log is written.
#[derive(Debug)]
pub(super) struct End {
    pub(super) tail: Tail,
    pub(super) epoch: Epoch,
    /// The chunk that was appended last.
    pub(super) last: Option<Position>,
    /// The mark of a backup is there.
    pub(super) marked: bool,
    /// The bytes of the frame that is written; kept for its room.
    pub(super) buffer: Vec<u8>,
    pub(super) stopped: bool,
}

/// What everybody may know of the log: never more than is durable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) first: Position,
    /// The position of the next record.
    pub(super) next: Position,
    pub(super) restored: bool,
    /// Those of the segments before the last one, for [`JournalStats::bytes`].
    pub(super) full_bytes: u64,
    pub(super) stats: JournalStats,
}

impl FileJournal {
    /// Writes a chunk at the end of the log and makes it durable.
    pub(super) fn write(&self, end: &mut End, chunk: Chunk<'_>) -> Result<(), AppendError> {
        let frame_bytes = (frame::HEADER + chunk.bytes.len()) as u64;
        let full = end.tail.end + frame_bytes > self.options.segment_bytes;
        if full && end.tail.end > segment::HEADER as u64 {
            let new = end.tail.roll(&*self.disk, &self.dir)?;
            let old = std::mem::replace(&mut end.tail, new);
            let mut shown = self.shown();
            shown.full_bytes += old.filled;
            shown.stats.segments += 1;
        }
        let End { tail, buffer, .. } = end;
        buffer.clear();
        frame::encode(tail.salt, chunk.records, chunk.bytes, buffer);
        tail.append(&*self.disk, buffer, &self.options)?;
        tail.next = chunk.end();
        end.last = Some(chunk.first);
        Ok(())
    }

    /// Lets a chunk that is durable be seen.
    pub(super) fn show(&self, end: &End, chunk: Chunk<'_>) {
        let mut shown = self.shown();
        shown.next = chunk.end();
        shown.stats.bytes = shown.full_bytes + end.tail.end;
        shown.stats.appends += 1;
        shown.stats.appended_bytes += chunk.bytes.len() as u64;
        shown.stats.syncs = end.tail.syncs;
        drop(shown);
        self.grown.notify_all();
    }

    /// The log is a new one from here on: takes the mark of the backup away.
    pub(super) fn unmark(&self, end: &mut End) {
        end.marked = false;
        match marks::remove_restored(&*self.disk, &self.dir) {
            Ok(()) => self.shown().restored = false,
            // The next start takes the log for a backup again: that forgets more, and nothing runs
            // twice.
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "the mark of a backup cannot be removed");
            }
        }
    }
}

impl End {
    /// Whether this writer may write, whatever it writes.
    pub(super) fn check(&self, given: Epoch) -> Result<(), AppendError> {
        if self.stopped {
            return Err(AppendError::Failed(JournalError::Stopped));
        }
        let now = self.epoch;
        if given != now {
            return Err(AppendError::Fenced { given, now });
        }
        Ok(())
    }
}

impl Shown {
    pub(super) fn of(dir: &Path, tail: &Tail, restored: bool) -> Result<Self, JournalError> {
        let segments = segment::list(dir)?;
        let before = segments.split_last().map_or(&[][..], |(_, before)| before);
        let full_bytes = before.iter().map(Listed::len).sum::<Result<u64, _>>()?;
        Ok(Self {
            first: segments.first().map_or(Position(1), |first| first.base),
            next: tail.next,
            restored,
            full_bytes,
            stats: JournalStats {
                bytes: full_bytes + tail.end,
                segments: segments.len() as u64,
                syncs: tail.syncs,
                ..JournalStats::default()
            },
        })
    }
}
