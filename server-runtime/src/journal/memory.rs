//! The journal in memory, for tests: what is written and what is synced are two things, and it
//! can fail, hold, fence and lose power when a test says so.

use std::{
    ops::ControlFlow,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use link_wire::Position;

use super::{
    AppendError, Chunk, Cut, Epoch, Found, Journal, JournalError, JournalStats, Resolved, Writer,
    frame,
};

mod faults;
mod store;

use self::store::{Checkpoint, Segment, Store, said_so};

const SALT: u32 = 0x006d_65ff;
const SEGMENT_BYTES: usize = 64 * 1024 * 1024;

/// A journal whose disk is a vector. Its clones are handles on one store: a test keeps one while
/// the engine writes through the other, or takes the right to write away through it.
#[derive(Debug, Clone)]
pub struct MemoryJournal {
    disk: Arc<Disk>,
}

#[derive(Debug)]
struct Disk {
    store: Mutex<Store>,
    /// A fault was taken back, or the log grew.
    changed: Condvar,
    segment_bytes: usize,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::with_segments(SEGMENT_BYTES)
    }
}

impl MemoryJournal {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty log whose parts have so many bytes each, and at least one chunk.
    pub fn with_segments(segment_bytes: usize) -> Self {
        Self::of(
            Store {
                segments: vec![Segment {
                    base: Position(1),
                    offset: 0,
                }],
                next: Position(1),
                ..Store::default()
            },
            segment_bytes,
        )
    }

    /// The log that a start finds in these bytes, which begin with the first record.
    ///
    /// # Errors
    /// [`JournalError::Damaged`] when a later frame was begun after a bad one.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, JournalError> {
        let new = Self::new();
        let store = new.store().clone();
        new.started(Store {
            live: bytes,
            ..store
        })
    }

    /// The log that a start finds after the process was killed: all that was written.
    ///
    /// # Errors
    /// As [`MemoryJournal::from_bytes`].
    pub fn killed(&self) -> Result<Self, JournalError> {
        let store = self.store().clone();
        self.started(store)
    }

    /// The log that a start finds after a loss of power: what was synced, and this many bytes of
    /// what was not.
    ///
    /// # Errors
    /// As [`MemoryJournal::from_bytes`].
    pub fn without_power(&self, unsynced: usize) -> Result<Self, JournalError> {
        let mut store = self.store().clone();
        let end = store.durable.saturating_add(unsynced);
        store.live.truncate(end);
        self.started(store)
    }

    /// This log as a backup of it that was put back: [`Found::restored`] is set until something
    /// is appended.
    #[must_use]
    pub fn restored(self) -> Self {
        self.store().found.restored = true;
        self
    }

    /// All that was written and not dropped, as frames.
    pub fn bytes(&self) -> Vec<u8> {
        self.store().live.clone()
    }

    /// How many of the written bytes are not synced.
    pub fn unsynced(&self) -> usize {
        let store = self.store();
        store.live.len() - store.durable
    }

    /// Another disk, as a start finds it that begins with this one.
    fn started(&self, old: Store) -> Result<Self, JournalError> {
        let mut store = Store {
            checkpoints: old.checkpoints,
            segments: old.segments,
            epoch: old.epoch,
            found: Found {
                cut: Vec::new(),
                restored: old.found.restored,
            },
            live: old.live,
            ..Store::default()
        };
        let walk = frame::walk(SALT, &store.live);
        if let Some(bad) = walk.bad {
            let place = format!("memory, byte {}", walk.end);
            if walk.follows.is_some() {
                return Err(JournalError::Damaged {
                    place,
                    what: bad.as_str().into(),
                });
            }
            store.found.cut.push(Cut {
                place,
                bytes: (store.live.len() - walk.end) as u64,
                what: bad.as_str(),
            });
        }
        store.live.truncate(walk.end);
        store.durable = store.live.len();
        store
            .segments
            .retain(|segment| segment.offset == 0 || segment.offset < walk.end);
        store.next = Position(store.first().0 + walk.records);
        Ok(Self::of(store, self.disk.segment_bytes))
    }

    fn of(store: Store, segment_bytes: usize) -> Self {
        let disk = Disk {
            store: Mutex::new(store),
            changed: Condvar::new(),
            segment_bytes,
        };
        Self {
            disk: Arc::new(disk),
        }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        let store = self.disk.store.lock();
        store.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn found(&self) -> Found {
        self.store().found.clone()
    }

    fn acquire(&self) -> Result<Writer, JournalError> {
        let mut store = self.store();
        if store.stopped {
            return Err(JournalError::Stopped);
        }
        store.epoch.0 += 1;
        Ok(Writer {
            epoch: store.epoch,
            tail: Position(store.next.0 - 1),
        })
    }

    fn renew(&self, writer: &Writer) -> Result<(), AppendError> {
        self.store().check_epoch(writer.epoch)
    }

    fn append(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<(), AppendError> {
        let store = self.store();
        let held = self
            .disk
            .changed
            .wait_while(store, |store| store.faults.held);
        let mut store = held.unwrap_or_else(PoisonError::into_inner);
        store.check_epoch(epoch)?;
        if chunk.bytes.len() > frame::MOST_PAYLOAD {
            return Err(AppendError::TooLarge {
                bytes: chunk.bytes.len(),
            });
        }
        if chunk.first != store.next {
            return Err(AppendError::WrongPosition {
                stands: store.next,
                given: chunk.first,
            });
        }
        if store.faults.full {
            return Err(AppendError::Full {
                source: said_so("appending to"),
            });
        }
        let unknown = store.faults.unknown.take();
        if unknown != Some(false) {
            store.write(chunk, self.disk.segment_bytes)?;
            self.disk.changed.notify_all();
        }
        match unknown {
            None => Ok(()),
            Some(_) => Err(AppendError::Unknown {
                source: said_so("waiting for"),
            }),
        }
    }

    fn resolve(&self, epoch: Epoch, chunk: Chunk<'_>) -> Result<Resolved, AppendError> {
        let mut store = self.store();
        store.check_epoch(epoch)?;
        if store.faults.this_resolve() {
            return Err(AppendError::Unknown {
                source: said_so("asking"),
            });
        }
        if store.next == chunk.first {
            return Ok(Resolved::Absent);
        }
        if store.last == Some(chunk.first) && store.next == chunk.end() {
            return Ok(Resolved::Appended);
        }
        Err(AppendError::WrongPosition {
            stands: store.next,
            given: chunk.first,
        })
    }

    fn read(
        &self,
        from: Position,
        visit: &mut dyn FnMut(Chunk<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let (bytes, mut first) = {
            let store = self.store();
            (store.live[..store.durable].to_vec(), store.first())
        };
        if from < first && first > Position(1) {
            return Err(JournalError::Pruned { first });
        }
        let mut rest = &bytes[..];
        while let Ok(frame) = frame::read(SALT, rest) {
            let chunk = Chunk {
                first,
                records: frame.records,
                bytes: frame.payload,
            };
            if chunk.end() > from && visit(chunk).is_break() {
                return Ok(());
            }
            first = chunk.end();
            rest = &rest[frame.len()..];
        }
        Ok(())
    }

    fn follow(&self, from: Position, within: Duration) -> Result<bool, JournalError> {
        let nothing = |store: &mut Store| store.next <= from;
        let waited = self
            .disk
            .changed
            .wait_timeout_while(self.store(), within, nothing);
        let (store, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(store.next > from)
    }

    fn first(&self) -> Position {
        self.store().first()
    }

    fn put_checkpoint(&self, at: Position, bytes: &[u8]) -> Result<(), JournalError> {
        let mut store = self.store();
        if store.faults.full {
            return Err(said_so("putting a checkpoint into"));
        }
        let (bytes, damaged) = (bytes.to_vec(), false);
        store.checkpoints.insert(at, Checkpoint { bytes, damaged });
        Ok(())
    }

    fn checkpoints(&self) -> Result<Vec<Position>, JournalError> {
        Ok(self.store().checkpoints.keys().rev().copied().collect())
    }

    fn checkpoint(&self, at: Position) -> Result<Vec<u8>, JournalError> {
        match self.store().checkpoints.get(&at) {
            None => Err(JournalError::NoCheckpoint { at }),
            Some(checkpoint) if checkpoint.damaged => Err(JournalError::Damaged {
                place: format!("memory, the checkpoint at {at}"),
                what: "a test said so".into(),
            }),
            Some(checkpoint) => Ok(checkpoint.bytes.clone()),
        }
    }

    fn remove_checkpoint(&self, at: Position) -> Result<(), JournalError> {
        self.store().checkpoints.remove(&at);
        Ok(())
    }

    fn truncate_before(&self, at: Position) -> Result<(), JournalError> {
        let mut store = self.store();
        let newest = store.checkpoints.keys().next_back();
        if newest.is_none_or(|newest| *newest < at) {
            return Err(JournalError::NoCheckpoint { at });
        }
        let keep = store.segments.partition_point(|segment| segment.base <= at);
        store.segments.drain(..keep.saturating_sub(1));
        let cut = store.segments.first().map_or(0, |first| first.offset);
        store.live.drain(..cut);
        store.durable = store.durable.saturating_sub(cut);
        for segment in &mut store.segments {
            segment.offset -= cut;
        }
        Ok(())
    }

    fn stats(&self) -> JournalStats {
        let store = self.store();
        JournalStats {
            bytes: store.live.len() as u64,
            segments: store.segments.len() as u64,
            ..store.stats
        }
    }
}
