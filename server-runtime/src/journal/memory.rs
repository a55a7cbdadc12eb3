//! The journal in memory, for tests: what is written and what is synced are two things, and it
//! can fail, hold and lose power when a test says so.

use std::{
    ops::ControlFlow,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use link_wire::Position;

use super::{AppendError, Chunk, Cut, Found, Journal, JournalError, frame};

const SALT: u32 = 0x006d_65ff;

/// A journal whose disk is a vector. Its clones share the disk, so that a test keeps one while
/// the engine writes through the other.
#[derive(Debug, Clone)]
pub struct MemoryJournal {
    disk: Arc<Disk>,
    found: Found,
}

#[derive(Debug)]
struct Disk {
    state: Mutex<Bytes>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Bytes {
    live: Vec<u8>,
    /// How many of the live bytes a loss of power leaves.
    durable: usize,
    next: Position,
    fail_append: Option<u64>,
    fail_sync: Option<u64>,
    held: bool,
    stopped: bool,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::of(
            Bytes {
                next: Position(1),
                ..Bytes::default()
            },
            Found::default(),
        )
    }
}

impl MemoryJournal {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The log that a start finds in these bytes.
    ///
    /// # Errors
    /// [`JournalError::Damaged`] when a later frame was begun after a bad one.
    pub fn from_bytes(mut bytes: Vec<u8>) -> Result<Self, JournalError> {
        let walk = frame::walk(SALT, &bytes);
        let place = format!("memory, byte {}", walk.end);
        let mut found = Found::default();
        if let Some(bad) = walk.bad {
            if walk.follows.is_some() {
                return Err(JournalError::Damaged {
                    place,
                    what: bad.as_str().into(),
                });
            }
            let cut = (bytes.len() - walk.end) as u64;
            found.cut.push(Cut {
                place,
                bytes: cut,
                what: bad.as_str(),
            });
            bytes.truncate(walk.end);
        }
        let durable = bytes.len();
        let next = Position(1 + walk.records);
        Ok(Self::of(
            Bytes {
                live: bytes,
                durable,
                next,
                ..Bytes::default()
            },
            found,
        ))
    }

    /// The log that a start finds after the process was killed: all that was written.
    ///
    /// # Errors
    /// As [`MemoryJournal::from_bytes`].
    pub fn killed(&self) -> Result<Self, JournalError> {
        Self::from_bytes(self.state().live.clone())
    }

    /// The log that a start finds after a loss of power: what was synced, and this many bytes of
    /// what was not.
    ///
    /// # Errors
    /// As [`MemoryJournal::from_bytes`].
    pub fn without_power(&self, unsynced: usize) -> Result<Self, JournalError> {
        let state = self.state();
        let end = state.live.len().min(state.durable.saturating_add(unsynced));
        Self::from_bytes(state.live[..end].to_vec())
    }

    /// All that was written.
    pub fn bytes(&self) -> Vec<u8> {
        self.state().live.clone()
    }

    /// How many of the written bytes are not synced.
    pub fn unsynced(&self) -> usize {
        let state = self.state();
        state.live.len() - state.durable
    }

    /// The n-th append from now, 1 for the next, writes half of its bytes and fails.
    pub fn fail_append(&self, n: u64) {
        self.state().fail_append = Some(n);
    }

    /// The sync of the n-th append from now, 1 for the next, fails: its bytes are written only.
    pub fn fail_sync(&self, n: u64) {
        self.state().fail_sync = Some(n);
    }

    /// From now on each append waits for [`MemoryJournal::release`], before it writes.
    pub fn hold(&self) {
        self.state().held = true;
    }

    /// Lets appends go on.
    pub fn release(&self) {
        self.state().held = false;
        self.disk.released.notify_all();
    }

    fn of(bytes: Bytes, found: Found) -> Self {
        let disk = Disk {
            state: Mutex::new(bytes),
            released: Condvar::new(),
        };
        Self {
            disk: Arc::new(disk),
            found,
        }
    }

    fn state(&self) -> MutexGuard<'_, Bytes> {
        self.disk
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for MemoryJournal {
    fn found(&self) -> Found {
        self.found.clone()
    }

    fn replay(
        &mut self,
        visit: &mut dyn FnMut(Chunk<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let bytes = self.bytes();
        let (mut rest, mut first) = (&bytes[..], Position(1));
        while let Ok(frame) = frame::read(SALT, rest) {
            let chunk = Chunk {
                first,
                records: frame.records,
                bytes: frame.payload,
            };
            if visit(chunk).is_break() {
                return Ok(());
            }
            first = Position(first.0 + u64::from(frame.records));
            rest = &rest[frame.len()..];
        }
        Ok(())
    }

    fn append(&mut self, chunk: Chunk<'_>) -> Result<(), AppendError> {
        let state = self.state();
        let held = self.disk.released.wait_while(state, |state| state.held);
        let mut state = held.unwrap_or_else(PoisonError::into_inner);
        if state.stopped {
            return Err(AppendError::Failed(JournalError::Stopped));
        }
        if chunk.bytes.len() > frame::MOST_PAYLOAD {
            return Err(AppendError::TooLarge {
                bytes: chunk.bytes.len(),
            });
        }
        if chunk.first != state.next {
            return Err(AppendError::WrongPosition {
                stands: state.next,
                given: chunk.first,
            });
        }
        let mut bytes = Vec::new();
        frame::encode(SALT, chunk.records, chunk.bytes, &mut bytes);
        if counts_down(&mut state.fail_append) {
            let half = bytes.len() / 2;
            state.live.extend_from_slice(&bytes[..half]);
            return Err(stop(&mut state, "appending to"));
        }
        state.live.extend_from_slice(&bytes);
        if counts_down(&mut state.fail_sync) {
            return Err(stop(&mut state, "syncing"));
        }
        state.durable = state.live.len();
        state.next = Position(state.next.0 + u64::from(chunk.records));
        Ok(())
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

fn stop(state: &mut Bytes, doing: &'static str) -> AppendError {
    state.stopped = true;
    let source = std::io::Error::other("a test said so");
    AppendError::Failed(JournalError::Io {
        doing,
        place: "memory".into(),
        source,
    })
}
