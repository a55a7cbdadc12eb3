//! One suite over each journal: what the engine relies on, whatever stands behind the trait.

use std::{ops::ControlFlow, path::PathBuf};

use link_wire::Position;
use server_runtime::{
    FileJournal, Journal, JournalError, MemoryJournal,
    journal::{AppendError, Chunk, MOST_CHUNK_BYTES, file::FileOptions},
};

/// How to open one kind of journal again and again.
trait Fixture {
    type Journal: Journal;
    fn open(&mut self) -> Self::Journal;
}

struct Memory(MemoryJournal);

impl Fixture for Memory {
    type Journal = MemoryJournal;

    fn open(&mut self) -> MemoryJournal {
        self.0 = self.0.killed().unwrap();
        self.0.clone()
    }
}

struct Files(tempfile::TempDir, FileOptions);

impl Files {
    fn new(segment_bytes: u64) -> Self {
        Self(tempfile::tempdir().unwrap(), FileOptions { segment_bytes })
    }
}

impl Fixture for Files {
    type Journal = FileJournal;

    fn open(&mut self) -> FileJournal {
        FileJournal::open_with(self.0.path(), self.1).unwrap()
    }
}

/// All chunks: position, count, bytes.
fn chunks(journal: &mut impl Journal) -> Vec<(u64, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let visit = &mut |chunk: Chunk<'_>| {
        all.push((chunk.first.0, chunk.records, chunk.bytes.to_vec()));
        ControlFlow::Continue(())
    };
    journal.replay(visit).unwrap();
    all
}

fn append(
    journal: &mut impl Journal,
    first: u64,
    records: u32,
    bytes: &[u8],
) -> Result<(), AppendError> {
    journal.append(Chunk {
        first: Position(first),
        records,
        bytes,
    })
}

fn conforms(mut fixture: impl Fixture) {
    let mut journal = fixture.open();
    assert_eq!(chunks(&mut journal), []);
    append(&mut journal, 1, 1, b"one\n").unwrap();
    append(&mut journal, 2, 3, b"two\nthree\nfour\n").unwrap();
    let all = vec![
        (1, 1, b"one\n".to_vec()),
        (2, 3, b"two\nthree\nfour\n".to_vec()),
    ];
    assert_eq!(chunks(&mut journal), all, "what was appended is read");

    for wrong in [1, 4, 6] {
        let error = append(&mut journal, wrong, 1, b"no\n").unwrap_err();
        let AppendError::WrongPosition { stands, given } = error else {
            panic!("{error}")
        };
        assert_eq!((stands, given), (Position(5), Position(wrong)));
    }
    let large = vec![b'x'; MOST_CHUNK_BYTES + 1];
    let error = append(&mut journal, 5, 1, &large).unwrap_err();
    assert!(matches!(error, AppendError::TooLarge { .. }), "{error}");
    append(&mut journal, 5, 1, b"five\n").unwrap();
    drop(journal);

    let mut journal = fixture.open();
    assert!(journal.found().cut.is_empty());
    let mut all = all;
    all.push((5, 1, b"five\n".to_vec()));
    assert_eq!(
        chunks(&mut journal),
        all,
        "an opening finds what was appended"
    );
    let mut seen = 0;
    let stop = &mut |_: Chunk<'_>| {
        seen += 1;
        if seen == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    journal.replay(stop).unwrap();
    assert_eq!(seen, 2, "a visit can stop the reading");
    for n in 6..40 {
        append(&mut journal, n, 1, format!("{n}\n").as_bytes()).unwrap();
    }
    drop(journal);
    let mut journal = fixture.open();
    assert_eq!(chunks(&mut journal).len(), 37);
    append(&mut journal, 40, 1, b"40\n").unwrap();
}

#[test]
fn the_journal_in_memory_conforms() {
    conforms(Memory(MemoryJournal::new()));
}

#[test]
fn the_journal_in_a_directory_conforms() {
    conforms(Files::new(64 * 1024 * 1024));
}

#[test]
fn a_journal_of_many_segments_conforms() {
    conforms(Files::new(100));
}

#[test]
fn a_failed_journal_takes_nothing_any_more() {
    let journal = MemoryJournal::new();
    let mut writer = journal.clone();
    journal.fail_sync(2);
    append(&mut writer, 1, 1, b"one\n").unwrap();
    for _ in 0..2 {
        let error = append(&mut writer, 2, 1, b"two\n").unwrap_err();
        assert!(matches!(error, AppendError::Failed(_)), "{error}");
    }
    assert_eq!(chunks(&mut journal.without_power(0).unwrap()).len(), 1);
}

#[test]
fn a_second_journal_on_a_directory_is_refused_and_names_the_first() {
    let mut files = Files::new(1000);
    let first = files.open();
    let error = FileJournal::open(files.0.path()).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    assert!(text.contains(&*files.0.path().to_string_lossy()), "{text}");
    drop(first);
    files.open();
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
