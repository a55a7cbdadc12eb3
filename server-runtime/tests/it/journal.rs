//! The journals through the suite that each must pass, and what only a directory has.

use std::{fs, path::PathBuf};

use link_wire::Position;
use server_runtime::{
    FileJournal, Journal, JournalError, MemoryJournal,
    journal::{
        AppendError, Chunk, Epoch,
        conformance::{self, Factory},
        file::FileOptions,
    },
};

struct Memory(MemoryJournal);

impl Factory for Memory {
    type Journal = MemoryJournal;

    fn open(&mut self) -> Result<MemoryJournal, JournalError> {
        Ok(self.0.clone())
    }

    fn set_full(&mut self, journal: &MemoryJournal, full: bool) -> bool {
        journal.full(full);
        true
    }

    fn set_unknown(&mut self, journal: &MemoryJournal, appended: bool) -> bool {
        journal.unknown(appended);
        true
    }

    fn damage_checkpoint(&mut self, journal: &MemoryJournal, at: Position) -> bool {
        journal.damage_checkpoint(at);
        true
    }
}

/// A log in memory that is killed before each opening.
struct Killed(Memory);

impl Factory for Killed {
    type Journal = MemoryJournal;

    fn open(&mut self) -> Result<MemoryJournal, JournalError> {
        self.0.0 = self.0.0.killed()?;
        self.0.open()
    }

    fn set_full(&mut self, journal: &MemoryJournal, full: bool) -> bool {
        self.0.set_full(journal, full)
    }

    fn set_unknown(&mut self, journal: &MemoryJournal, appended: bool) -> bool {
        self.0.set_unknown(journal, appended)
    }
}

struct Files {
    dir: tempfile::TempDir,
    options: FileOptions,
}

impl Files {
    fn new(segment_bytes: u64, fill_bytes: u64) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            options: FileOptions {
                segment_bytes,
                fill_bytes,
            },
        }
    }
}

impl Factory for Files {
    type Journal = FileJournal;

    fn open(&mut self) -> Result<FileJournal, JournalError> {
        FileJournal::open_with(self.dir.path(), self.options)
    }

    fn damage_checkpoint(&mut self, _: &FileJournal, at: Position) -> bool {
        let path = self.dir.path().join(format!("checkpoint-{:020}", at.0));
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        true
    }
}

#[test]
fn the_journal_in_memory_conforms() {
    for segment_bytes in [1, 100, 1 << 20] {
        conformance::suite(|| Memory(MemoryJournal::with_segments(segment_bytes)));
    }
}

#[test]
fn a_journal_in_memory_that_is_killed_again_and_again_conforms() {
    for segment_bytes in [1, 100, 1 << 20] {
        let make = || Killed(Memory(MemoryJournal::with_segments(segment_bytes)));
        conformance::what_was_appended_is_read_and_found_again(&mut make());
        conformance::checkpoints_are_whole_and_newest_first(&mut make());
        conformance::a_truncated_log_begins_later(&mut make());
        conformance::a_full_journal_goes_on_when_there_is_room(&mut make());
        conformance::an_unknown_append_is_resolved(&mut make(), true);
        conformance::an_unknown_append_is_resolved(&mut make(), false);
    }
}

#[test]
fn the_journal_in_a_directory_conforms() {
    let FileOptions {
        segment_bytes,
        fill_bytes,
    } = FileOptions::default();
    conformance::suite(|| Files::new(segment_bytes, fill_bytes));
}

#[test]
fn a_journal_of_many_segments_conforms() {
    for (segment_bytes, fill_bytes) in [(1, 0), (100, 0), (100, 30), (100, 1000), (400, 64)] {
        conformance::suite(|| Files::new(segment_bytes, fill_bytes));
    }
}

/// Appends one record, as the newest writer.
fn append(journal: &impl Journal, first: u64, text: &str) -> Result<(), AppendError> {
    let epoch = journal.acquire().map_err(AppendError::Failed)?.epoch;
    append_as(journal, epoch, first, text)
}

fn append_as(
    journal: &impl Journal,
    epoch: Epoch,
    first: u64,
    text: &str,
) -> Result<(), AppendError> {
    let chunk = Chunk {
        first: Position(first),
        records: 1,
        bytes: text.as_bytes(),
    };
    journal.append(epoch, chunk)
}

#[test]
fn a_failed_journal_takes_nothing_any_more() {
    let journal = MemoryJournal::new();
    let epoch = journal.acquire().unwrap().epoch;
    journal.fail_sync(2);
    append_as(&journal, epoch, 1, "one\n").unwrap();
    for _ in 0..2 {
        let error = append_as(&journal, epoch, 2, "two\n").unwrap_err();
        assert!(matches!(error, AppendError::Failed(_)), "{error}");
    }
    let left = journal.without_power(0).unwrap();
    assert_eq!(left.acquire().unwrap().tail, Position(1));
    assert_eq!(
        journal.killed().unwrap().acquire().unwrap().tail,
        Position(2)
    );
}

#[test]
fn an_append_that_was_held_up_is_fenced_by_a_writer_that_came_meanwhile() {
    let journal = MemoryJournal::new();
    let epoch = journal.acquire().unwrap().epoch;
    journal.hold();
    std::thread::scope(|scope| {
        let late = scope.spawn(|| append_as(&journal, epoch, 1, "late\n"));
        let newer = journal.acquire().unwrap().epoch;
        journal.release();
        let error = late.join().unwrap().unwrap_err();
        assert!(matches!(error, AppendError::Fenced { .. }), "{error}");
        append_as(&journal, newer, 1, "new\n").unwrap();
    });
    assert_eq!(
        journal.killed().unwrap().acquire().unwrap().tail,
        Position(1)
    );
}

#[test]
fn a_resolve_can_be_unknown_too() {
    let journal = MemoryJournal::new();
    let epoch = journal.acquire().unwrap().epoch;
    journal.unknown(true);
    journal.fail_resolve(1);
    append_as(&journal, epoch, 1, "one\n").unwrap_err();
    let chunk = Chunk {
        first: Position(1),
        records: 1,
        bytes: b"one\n",
    };
    let error = journal.resolve(epoch, chunk).unwrap_err();
    assert!(matches!(error, AppendError::Unknown { .. }), "{error}");
    journal.resolve(epoch, chunk).unwrap();
}

#[test]
fn a_second_journal_on_a_directory_is_refused_and_names_the_first() {
    let mut files = Files::new(1000, 0);
    let first = files.open().unwrap();
    let error = files.open().unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    let place = files.dir.path().to_string_lossy();
    assert!(text.contains(&*place), "{text}");
    drop(first);
    files.open().unwrap();
}

#[test]
fn a_new_directory_is_made_with_those_above_it() {
    let root = tempfile::tempdir().unwrap();
    let dir: PathBuf = root.path().join("a/b");
    drop(FileJournal::open(&dir).unwrap());
    let mut names: Vec<_> = dir
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["00000000000000000001.log", "lock"]);
}

#[test]
fn space_is_filled_ahead_within_the_segment_and_given_back_at_the_end() {
    let mut files = Files::new(4096, 1024);
    let path = files.dir.path().join("00000000000000000001.log");
    let len = || fs::metadata(&path).unwrap().len();
    let journal = files.open().unwrap();
    append(&journal, 1, &"x".repeat(100)).unwrap();
    let end = 32 + 16 + 100;
    assert_eq!(len(), end + 1024, "filled ahead");
    append(&journal, 2, &"x".repeat(100)).unwrap();
    assert_eq!(len(), end + 1024, "a frame into filled space needs no more");
    append(&journal, 3, &"x".repeat(2900)).unwrap();
    assert_eq!(len(), 4096, "not beyond the segment");
    assert_eq!(journal.stats().bytes, end + 116 + 2916);
    let syncs = journal.stats().syncs;
    append(&journal, 4, &"x".repeat(100)).unwrap();
    assert_eq!(journal.stats().syncs, syncs + 1, "one sync an append");
    drop(journal);
    assert_eq!(len(), end + 116 + 2916 + 116, "the rest is given back");
    let journal = files.open().unwrap();
    assert!(journal.found().cut.is_empty());
    append(&journal, 5, &"x".repeat(40_000)).unwrap();
    let large = files.dir.path().join("00000000000000000005.log");
    let len = fs::metadata(large).unwrap().len();
    assert_eq!(len, 32 + 16 + 40_000, "nothing behind a large frame");
}

#[test]
fn a_checkpoint_without_a_segment_stops_the_start() {
    let mut files = Files::new(100, 0);
    let journal = files.open().unwrap();
    append(&journal, 1, "one\n").unwrap();
    journal.put_checkpoint(Position(1), b"sum").unwrap();
    drop(journal);
    fs::remove_file(files.dir.path().join("00000000000000000001.log")).unwrap();
    let error = files.open().unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("checkpoint-"), "{error}");
    let left = fs::read_dir(files.dir.path()).unwrap().count();
    assert_eq!(left, 2, "nothing was made: the checkpoint and the lock");
}
