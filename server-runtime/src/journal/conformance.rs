//! One suite over every journal: what the engine relies on, whatever stands behind the trait.
//!
//! Feature `conformance`. Give [`suite`] a way to make empty logs:
//!
//! ```
//! use server_runtime::{JournalError, MemoryJournal, journal::conformance};
//!
//! struct Memory(MemoryJournal);
//!
//! impl conformance::Factory for Memory {
//!     type Journal = MemoryJournal;
//!
//!     fn open(&mut self) -> Result<MemoryJournal, JournalError> {
//!         Ok(self.0.clone())
//!     }
//! }
//!
//! conformance::suite(|| Memory(MemoryJournal::new()));
//! ```
//!
//! Each case panics with a text that says what was expected. A journal that wants to show in a
//! test of its own which case fails calls the cases one by one: they are functions of this module.

#![expect(clippy::panic, reason = "a suite of tests says no by a panic")]

use std::{fmt::Debug, ops::ControlFlow};

use link_wire::Position;

use super::{AppendError, Chunk, Epoch, Journal, JournalError, MOST_CHUNK_BYTES, Writer};

mod old;
mod writers;

pub use self::{
    old::{a_truncated_log_begins_later, checkpoints_are_whole_and_newest_first},
    writers::{
        a_full_journal_goes_on_when_there_is_room, a_stale_writer_appends_nothing,
        an_unknown_append_is_resolved,
    },
};

/// How to open one log again and again, and how to make it fail.
pub trait Factory {
    /// The kind of journal.
    type Journal: Journal;

    /// Opens the log: the first time an empty one, and then the same. Journals that were opened
    /// before may be still there.
    ///
    /// # Errors
    /// [`JournalError::Locked`] when the log can be open only once. Any other fails the case.
    fn open(&mut self) -> Result<Self::Journal, JournalError>;

    /// Takes away all room, or gives it back. False: that cannot be done here.
    fn set_full(&mut self, journal: &Self::Journal, full: bool) -> bool {
        let _ = (journal, full);
        false
    }

    /// Makes the next append unknown, its chunk appended or not. False: that cannot be done here.
    fn set_unknown(&mut self, journal: &Self::Journal, appended: bool) -> bool {
        let _ = (journal, appended);
        false
    }

    /// Damages a checkpoint. False: that cannot be done here.
    fn damage_checkpoint(&mut self, journal: &Self::Journal, at: Position) -> bool {
        let _ = (journal, at);
        false
    }
}

/// Runs each case on a log of its own.
pub fn suite<F: Factory>(mut make: impl FnMut() -> F) {
    an_empty_log_has_nothing(&mut make());
    what_was_appended_is_read_and_found_again(&mut make());
    a_chunk_that_does_not_fit_changes_nothing(&mut make());
    reading_begins_at_the_chunk_that_holds_the_position(&mut make());
    a_follower_wakes(&mut make());
    a_stale_writer_appends_nothing(&mut make());
    for appended in [true, false] {
        an_unknown_append_is_resolved(&mut make(), appended);
    }
    a_full_journal_goes_on_when_there_is_room(&mut make());
    checkpoints_are_whole_and_newest_first(&mut make());
    a_truncated_log_begins_later(&mut make());
}

/// A log with nothing in it.
pub fn an_empty_log_has_nothing(factory: &mut impl Factory) {
    let journal = opened(factory);
    assert_eq!(chunks(&journal, 0), [], "an empty log gives no chunk");
    assert_eq!(chunks(&journal, 1), [], "nor from 1");
    assert_eq!(journal.first(), Position(1), "it begins at 1");
    let writer = must(journal.acquire(), "the first writer");
    assert_eq!(writer.tail, Position(0), "it has no last record");
    assert_eq!(must(journal.checkpoints(), "listing"), [], "no checkpoint");
    assert!(journal.found().cut.is_empty(), "nothing was torn");
    assert!(!journal.found().restored, "it came from no backup");
    let now = std::time::Duration::ZERO;
    let follow = must(journal.follow(Position(1), now), "following");
    assert!(!follow, "there is nothing to follow to");
}

/// Append, read back, open again, append on.
pub fn what_was_appended_is_read_and_found_again(factory: &mut impl Factory) {
    let mut all = Vec::new();
    for opening in 1..=3 {
        let mut log = Log::open(factory);
        let journal = &log.journal;
        assert!(journal.found().cut.is_empty(), "opening {opening} cut");
        assert_eq!(chunks(journal, 0), all, "opening {opening} finds all");
        let stands = log.writer.tail.0;
        assert_eq!(stands, ends(&all) - 1, "opening {opening} stands at");
        let before = journal.stats().appends;
        for records in [1, 3, 1, 2, 1, 1, 1, 5] {
            all.push(log.append(records));
            assert_eq!(chunks(&log.journal, 0), all, "what was appended is read");
        }
        let stats = log.journal.stats();
        assert_eq!(stats.appends, before + 8, "appends of this opening");
        let payload: usize = all.iter().map(|chunk| chunk.2.len()).sum();
        assert!(stats.bytes >= payload as u64, "the log has bytes");
        assert!(stats.segments >= 1, "and at least one part");
    }
}

/// Wrong positions, and more than a chunk may have.
pub fn a_chunk_that_does_not_fit_changes_nothing(factory: &mut impl Factory) {
    let mut log = Log::open(factory);
    let all = vec![log.append(1), log.append(3)];
    for wrong in [0, 1, 2, 4, 6, u64::MAX / 2] {
        match log.try_append(wrong, 1, b"no\n") {
            Err(AppendError::WrongPosition { stands, given }) => {
                assert_eq!((stands, given), (Position(5), Position(wrong)));
            }
            other => panic!("an append at {wrong}, after four records: {other:?}"),
        }
    }
    let large = vec![b'x'; MOST_CHUNK_BYTES + 1];
    match log.try_append(5, 1, &large) {
        Err(AppendError::TooLarge { bytes }) => assert_eq!(bytes, large.len()),
        other => panic!("an append of {} bytes: {other:?}", large.len()),
    }
    assert_eq!(chunks(&log.journal, 0), all, "none of them is there");
    let all = [&all[..], &[log.append(2)]].concat();
    assert_eq!(chunks(&log.journal, 0), all, "and the next one works");
}

/// Reading from each position, and a visit that stops it.
pub fn reading_begins_at_the_chunk_that_holds_the_position(factory: &mut impl Factory) {
    let mut log = Log::open(factory);
    let all: Vec<_> = (0..20).map(|n| log.append(1 + n % 3)).collect();
    let end = ends(&all);
    for from in 0..end + 2 {
        let wanted = all
            .iter()
            .filter(|chunk| chunk.0 + u64::from(chunk.1) > from);
        let wanted: Vec<_> = wanted.cloned().collect();
        assert_eq!(chunks(&log.journal, from), wanted, "from {from}");
    }
    let mut seen = 0;
    let read = log.journal.read(Position(0), &mut |_| {
        seen += 1;
        if seen == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    must(read, "a reading that stops");
    assert_eq!(seen, 2, "a visit can stop the reading");
}

/// Whoever waits for a record is woken by its append.
pub fn a_follower_wakes(factory: &mut impl Factory) {
    // Far longer than an append takes, and never waited for to its end.
    let far = std::time::Duration::from_secs(60);
    let mut log = Log::open(factory);
    log.append(1);
    let there = must(log.journal.follow(Position(1), far), "following");
    assert!(there, "a record that is there needs no wait");
    let Log { journal, writer } = &log;
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| journal.follow(Position(2), far));
        let chunk = Chunk {
            first: Position(2),
            records: 1,
            bytes: b"two\n",
        };
        must(journal.append(writer.epoch, chunk), "an append");
        let Ok(woken) = follower.join() else {
            panic!("following panicked")
        };
        assert!(must(woken, "following"), "it is told of the new record");
    });
    let soon = std::time::Duration::from_millis(1);
    must(
        log.journal.follow(Position(3), soon),
        "following to the end of the time",
    );
}

/// A log whose right to write is held.
pub(super) struct Log<J> {
    journal: J,
    writer: Writer,
}

impl<J: Journal> Log<J> {
    fn open(factory: &mut impl Factory<Journal = J>) -> Self {
        let journal = opened(factory);
        let writer = must(journal.acquire(), "the right to write");
        Self { journal, writer }
    }

    fn epoch(&self) -> Epoch {
        self.writer.epoch
    }

    /// Appends so many records, and gives their chunk.
    fn append(&mut self, records: u32) -> (u64, u32, Vec<u8>) {
        let first = self.writer.tail.0 + 1;
        let (count, mut bytes) = (u64::from(records), Vec::new());
        for n in first..first + count {
            bytes.extend_from_slice(format!("record {n}\n").as_bytes());
        }
        must(self.try_append(first, records, &bytes), "an append");
        self.writer.tail.0 += count;
        (first, records, bytes)
    }

    fn try_append(&self, first: u64, records: u32, bytes: &[u8]) -> Result<(), AppendError> {
        self.journal.append(
            self.writer.epoch,
            Chunk {
                first: Position(first),
                records,
                bytes,
            },
        )
    }
}

fn opened<F: Factory>(factory: &mut F) -> F::Journal {
    must(factory.open(), "opening the log")
}

/// What must work.
fn must<T, E: Debug>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| panic!("{what} failed: {error:?}"))
}

/// All chunks from the one that holds a position: position, count, bytes.
fn chunks(journal: &impl Journal, from: u64) -> Vec<(u64, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let read = journal.read(Position(from), &mut |chunk| {
        all.push((chunk.first.0, chunk.records, chunk.bytes.to_vec()));
        ControlFlow::Continue(())
    });
    must(read, "reading");
    all
}

/// The position after the last of these chunks.
fn ends(chunks: &[(u64, u32, Vec<u8>)]) -> u64 {
    let last = chunks.last();
    last.map_or(1, |(first, records, _)| first + u64::from(*records))
}
