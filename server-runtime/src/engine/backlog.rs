//! What the streams have still to tell: the newest chunks, bounded in number and in bytes.
//!
//! A chunk stays until each stream that was open when it came has told it. When there are too
//! many, the oldest go, and a stream that has not told them lags: it ends.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::Records;

/// How many chunks a stream may be behind before it ends.
const MOST_CHUNKS: usize = 1024;
/// How many bytes all chunks have that some stream has still to tell. The newest chunk stays
/// whatever it has.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The end of the writer. When it goes, no chunk can come any more.
pub(crate) struct Backlog<C> {
    ring: Arc<Ring<C>>,
}

/// The end of one stream.
pub(crate) struct Reader<C> {
    ring: Arc<Ring<C>>,
    /// The number of the chunk that it tells next.
    next: u64,
    news: watch::Receiver<()>,
}

/// Why there is no chunk to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoChunk {
    /// All are told.
    Empty,
    /// The next one went, as the reader was too slow.
    Lagged,
    /// All are told, and none can come.
    Closed,
}

struct Ring<C> {
    held: Mutex<Held<C>>,
    news: watch::Sender<()>,
}

struct Held<C> {
    chunks: VecDeque<Chunk<C>>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
    readers: usize,
    closed: bool,
}

struct Chunk<C> {
    records: Records<C>,
    bytes: usize,
    /// How many readers have still to tell it. Each tells them in order, so that those which all
    /// have told stand at the front.
    left: usize,
}

impl<C> Backlog<C> {
    pub(crate) fn new() -> Self {
        let held = Held {
            chunks: VecDeque::new(),
            first: 0,
            bytes: 0,
            readers: 0,
            closed: false,
        };
        let ring = Ring {
            held: Mutex::new(held),
            news: watch::Sender::new(()),
        };
        Self {
            ring: Arc::new(ring),
        }
    }

    /// Hands a chunk of so many bytes of JSON to each stream that is open.
    pub(crate) fn send(&self, records: Records<C>, bytes: usize) {
        let mut gone = Vec::new();
        let mut held = self.ring.held();
        if held.readers == 0 {
            return;
        }
        let left = held.readers;
        held.bytes += bytes;
        held.chunks.push_back(Chunk {
            records,
            bytes,
            left,
        });
        while held.chunks.len() > 1 && (held.chunks.len() > MOST_CHUNKS || held.bytes > MOST_BYTES)
        {
            gone.extend(held.pop());
        }
        drop(held);
        self.ring.news.send_replace(());
    }

    /// A reader of all chunks from now on.
    pub(crate) fn reader(&self) -> Reader<C> {
        let mut held = self.ring.held();
        held.readers += 1;
        Reader {
            ring: Arc::clone(&self.ring),
            next: held.end(),
            news: self.ring.news.subscribe(),
        }
    }
}

impl<C> Drop for Backlog<C> {
    fn drop(&mut self) {
        self.ring.held().closed = true;
        self.ring.news.send_replace(());
    }
}

impl<C> Reader<C> {
    /// The chunk to tell. It is lent for a moment: whoever keeps it keeps its bytes, too.
    pub(crate) fn chunk(&mut self) -> Result<Records<C>, NoChunk> {
        self.news.mark_unchanged();
        let held = self.ring.held();
        let Some(n) = self.next.checked_sub(held.first) else {
            return Err(NoChunk::Lagged);
        };
        let chunk = usize::try_from(n).ok().and_then(|n| held.chunks.get(n));
        match chunk {
            Some(chunk) => Ok(Arc::clone(&chunk.records)),
            None if held.closed => Err(NoChunk::Closed),
            None => Err(NoChunk::Empty),
        }
    }

    /// The chunk is told; the next one is to follow.
    pub(crate) fn told(&mut self) {
        let mut held = self.ring.held();
        let gone = held.told(self.next, self.next + 1);
        self.next += 1;
        drop(held);
        drop(gone);
    }

    /// Returns when there is something new since the last look at the chunk.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub(crate) async fn changed(&mut self) {
        // The sender lives as long as the reader.
        let _ = self.news.changed().await;
    }
}

impl<C> Drop for Reader<C> {
    fn drop(&mut self) {
        let mut held = self.ring.held();
        held.readers -= 1;
        let end = held.end();
        let gone = held.told(self.next, end);
        drop(held);
        drop(gone);
    }
}

impl<C> Ring<C> {
    fn held(&self) -> MutexGuard<'_, Held<C>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Held<C> {
    fn end(&self) -> u64 {
        self.first + self.chunks.len() as u64
    }

    fn pop(&mut self) -> Option<Chunk<C>> {
        let chunk = self.chunks.pop_front()?;
        self.first += 1;
        self.bytes -= chunk.bytes;
        Some(chunk)
    }

    /// One reader has no more to tell of the chunks with these numbers. What goes by that is
    /// given back, so that it is freed outside of the lock.
    fn told(&mut self, from: u64, to: u64) -> Vec<Chunk<C>> {
        let first = self.first;
        for number in from.max(first)..to {
            let n = usize::try_from(number - first).ok();
            if let Some(chunk) = n.and_then(|n| self.chunks.get_mut(n)) {
                chunk.left -= 1;
            }
        }
        let mut gone = Vec::new();
        while self.chunks.front().is_some_and(|chunk| chunk.left == 0) {
            gone.extend(self.pop());
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use link_wire::{Position, UnixMillis};

    use super::*;
    use crate::Record;

    fn chunk(n: u64) -> Records<u64> {
        let record = Record {
            position: Position(n),
            at: UnixMillis(n),
            by: "ann".parse().unwrap(),
            command: "say".into(),
            call: "one".parse().unwrap(),
            change: n,
        };
        Arc::new([record])
    }

    fn next(reader: &mut Reader<u64>) -> Result<u64, NoChunk> {
        let chunk = reader.chunk()?;
        reader.told();
        Ok(chunk[0].change)
    }

    fn held(backlog: &Backlog<u64>) -> (usize, usize) {
        let held = backlog.ring.held();
        (held.chunks.len(), held.bytes)
    }

    #[test]
    fn a_chunk_stays_until_the_last_reader_has_told_it_or_is_gone() {
        let backlog = Backlog::new();
        backlog.send(chunk(1), 10);
        assert_eq!(held(&backlog), (0, 0), "nobody is to be told");
        let (mut one, two) = (backlog.reader(), backlog.reader());
        backlog.send(chunk(2), 10);
        let mut three = backlog.reader();
        backlog.send(chunk(3), 5);
        assert_eq!((next(&mut one), next(&mut one)), (Ok(2), Ok(3)));
        assert_eq!(next(&mut one), Err(NoChunk::Empty));
        assert_eq!(held(&backlog), (2, 15));
        drop(two);
        assert_eq!(held(&backlog), (1, 5));
        assert_eq!(next(&mut three), Ok(3));
        assert_eq!(held(&backlog), (0, 0));
        drop(backlog);
        assert_eq!(next(&mut three), Err(NoChunk::Closed));
    }

    #[test]
    fn too_many_bytes_end_the_reader_that_lags_and_no_other() {
        let backlog = Backlog::new();
        let (mut slow, mut fast) = (backlog.reader(), backlog.reader());
        for n in 0..20 {
            backlog.send(chunk(n), MOST_BYTES / 4);
            assert_eq!(next(&mut fast), Ok(n));
        }
        assert_eq!(held(&backlog), (4, MOST_BYTES));
        assert_eq!(next(&mut slow), Err(NoChunk::Lagged));
        backlog.send(chunk(20), 2 * MOST_BYTES);
        assert_eq!(held(&backlog).0, 1, "the newest stays");
        assert_eq!(next(&mut fast), Ok(20));
        drop(slow);
        assert_eq!(held(&backlog), (0, 0));
    }

    #[test]
    fn too_many_chunks_end_it_too() {
        let backlog = Backlog::new();
        let mut slow = backlog.reader();
        for n in 0..=MOST_CHUNKS as u64 {
            backlog.send(chunk(n), 0);
        }
        assert_eq!(next(&mut slow), Err(NoChunk::Lagged));
    }
}
