//! Logs that are copied while a server writes, and put back; and logs of older versions.

use std::{
    fs,
    ops::ControlFlow,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use link_wire::Position;
use server_runtime::{
    FileJournal, Journal, JournalError,
    journal::{
        Chunk,
        file::{self, FileOptions, ProblemKind},
    },
    log,
};

const SMALL: FileOptions = FileOptions {
    segment_bytes: 600,
    fill_bytes: 100,
};

fn text(n: u64) -> String {
    format!("record {n} {}\n", "x".repeat((n % 60) as usize))
}

/// Appends the records from `first` to `last`, each in a chunk of its own.
fn append(journal: &FileJournal, first: u64, last: u64) {
    let epoch = journal.acquire().unwrap().epoch;
    for n in first..=last {
        let text = text(n);
        let chunk = Chunk {
            first: Position(n),
            records: 1,
            bytes: text.as_bytes(),
        };
        journal.append(epoch, chunk).unwrap();
    }
}

/// The position of the last record; each is compared with what was written.
fn last(journal: &FileJournal) -> u64 {
    let mut next = journal.first().0;
    let read = journal.read(journal.first(), &mut |chunk| {
        assert_eq!(chunk.first, Position(next));
        assert_eq!(str::from_utf8(chunk.bytes).unwrap(), text(next));
        next += 1;
        ControlFlow::Continue(())
    });
    read.unwrap();
    next - 1
}

/// A log of so many records.
fn log_of(dir: &Path, records: u64) {
    let journal = FileJournal::open_with(dir, SMALL).unwrap();
    append(&journal, 1, records);
}

/// Writes, and drops what is old, until told to stop.
fn write_on(dir: &Path, prunes: bool, told: &AtomicU64, stop: &AtomicBool) {
    let journal = FileJournal::open_with(dir, SMALL).unwrap();
    let mut n = 0;
    while !stop.load(Ordering::Acquire) {
        n += 1;
        append(&journal, n, n);
        told.store(n, Ordering::Release);
        if prunes && n % 20 == 0 {
            journal.put_checkpoint(Position(n), b"sum").unwrap();
            for old in journal.checkpoints().unwrap().into_iter().skip(2) {
                journal.remove_checkpoint(old).unwrap();
            }
            journal
                .truncate_before(Position(n.saturating_sub(20).max(1)))
                .unwrap();
        }
    }
}

fn copies_while_it_is_written(prunes: bool) {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("log");
    let (told, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_on(&dir, prunes, &told, &stop));
        while told.load(Ordering::Acquire) < 100 {
            assert!(!writer.is_finished(), "the writer stopped");
            std::thread::yield_now();
        }
        for n in 0..10 {
            let before = told.load(Ordering::Acquire);
            let to = root.path().join(format!("copy{n}"));
            let copied = file::backup(&dir, &to).unwrap();
            assert!(copied.last.0 >= before, "{copied:?}, {before} were told");
            assert_eq!(file::check(&to).unwrap().problems, []);
            let copy = FileJournal::open_with(&to, SMALL).unwrap();
            assert_eq!(last(&copy), copied.last.0);
            assert_eq!(copy.first(), copied.first);
            assert_eq!(copy.first() > Position(1), prunes);
            let found = copy.found();
            assert!(found.restored, "it knows that it is a copy");
            assert!(found.cut.is_empty(), "whole chunks only: {:?}", found.cut);
        }
        stop.store(true, Ordering::Release);
        writer.join().unwrap();
    });
}

#[test]
fn a_copy_holds_all_that_was_acknowledged_before_it_was_begun() {
    copies_while_it_is_written(false);
}

#[test]
fn a_copy_of_a_log_whose_beginning_goes_meanwhile_is_whole() {
    copies_while_it_is_written(true);
}

#[test]
fn a_log_is_read_by_others_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (told, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let journal = FileJournal::open_with(dir.path(), FileOptions::default()).unwrap();
    let epoch = journal.acquire().unwrap().epoch;
    std::thread::scope(|scope| {
        let write = || {
            for n in 1.. {
                if stop.load(Ordering::Acquire) {
                    break;
                }
                let more = "x".repeat((n * 37 % 9000) as usize);
                let line = format!("{{\"position\":{n},\"at\":1,\"more\":\"{more}\"}}\n");
                let chunk = Chunk {
                    first: Position(n),
                    records: 1,
                    bytes: line.as_bytes(),
                };
                journal.append(epoch, chunk).unwrap();
                told.store(n, Ordering::Release);
            }
        };
        let writer = scope.spawn(write);
        for _ in 0..100 {
            let before = told.load(Ordering::Acquire);
            let read = log::read(dir.path()).unwrap().map(Result::unwrap).count();
            assert!(read as u64 >= before, "{read} of {before}");
        }
        stop.store(true, Ordering::Release);
        writer.join().unwrap();
    });
}

#[test]
fn a_log_that_was_put_back_knows_it_until_something_is_appended() {
    let root = tempfile::tempdir().unwrap();
    let [dir, copy, back] = ["log", "copy", "back"].map(|name| root.path().join(name));
    log_of(&dir, 50);
    let copied = file::backup(&dir, &copy).unwrap();
    assert_eq!((copied.first, copied.last), (Position(1), Position(50)));
    assert!(copied.segments > 1);
    fs::create_dir(&back).unwrap();
    fs::write(back.join("tokens"), "kept").unwrap();
    assert_eq!(file::restore(&copy, &back).unwrap(), copied);
    for _ in 0..2 {
        let journal = FileJournal::open_with(&back, SMALL).unwrap();
        assert!(journal.found().restored);
        assert_eq!(last(&journal), 50);
    }
    let journal = FileJournal::open_with(&back, SMALL).unwrap();
    append(&journal, 51, 51);
    assert!(!journal.found().restored);
    drop(journal);
    let journal = FileJournal::open_with(&back, SMALL).unwrap();
    assert!(!journal.found().restored);
    assert_eq!(last(&journal), 51);
    assert_eq!(fs::read(back.join("tokens")).unwrap(), b"kept");
    let from_the_log = FileJournal::open(&dir).unwrap();
    assert!(!from_the_log.found().restored, "the log itself is none");
}

#[test]
fn a_log_is_never_copied_over_something_else() {
    let root = tempfile::tempdir().unwrap();
    let [dir, copy, other] = ["log", "copy", "other"].map(|name| root.path().join(name));
    log_of(&dir, 5);
    log_of(&other, 3);
    file::backup(&dir, &copy).unwrap();
    for (what, done) in [
        ("a backup over a log", file::backup(&dir, &other)),
        ("a backup over a backup", file::backup(&dir, &copy)),
        ("a backup over itself", file::backup(&dir, &dir)),
        ("a restore over a log", file::restore(&copy, &other)),
        ("a restore over itself", file::restore(&copy, &copy)),
    ] {
        let error = done.unwrap_err();
        let occupied = matches!(error, JournalError::Occupied { .. });
        assert!(occupied, "{what}: {error}");
    }
    assert_eq!(last(&FileJournal::open(&other).unwrap()), 3);
    let error = file::backup(root.path(), root.path().join("new")).unwrap_err();
    assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
    let busy = root.path().join("busy");
    fs::create_dir(&busy).unwrap();
    let held = FileJournal::open(&busy).unwrap();
    let error = file::restore(&copy, &busy).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    drop(held);
}

#[test]
fn a_copy_that_did_not_end_is_no_log_and_is_done_again() {
    let root = tempfile::tempdir().unwrap();
    let [dir, back] = ["log", "back"].map(|name| root.path().join(name));
    log_of(&dir, 50);
    file::restore(&dir, &back).unwrap();
    // As a crash leaves it.
    fs::write(back.join("unfinished"), []).unwrap();
    let segments = || {
        fs::read_dir(&back)
            .unwrap()
            .map(|entry| entry.unwrap().path())
    };
    let newest = segments()
        .filter(|path| path.extension().is_some())
        .max()
        .unwrap();
    fs::remove_file(newest).unwrap();
    let error = FileJournal::open(&back).unwrap_err();
    assert!(matches!(error, JournalError::Unfinished { .. }), "{error}");
    let error = file::backup(&back, root.path().join("new")).unwrap_err();
    assert!(matches!(error, JournalError::Unfinished { .. }), "{error}");
    let report = file::check(&back).unwrap();
    assert_eq!(report.problems[0].kind, ProblemKind::Unfinished);
    assert!(!report.starts());
    file::restore(&dir, &back).unwrap();
    assert_eq!(last(&FileJournal::open(&back).unwrap()), 50);
}

#[test]
fn a_damaged_log_gives_no_copy_and_names_its_place() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("log");
    log_of(&dir, 50);
    let paths = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let segments = paths.filter(|path| path.extension().is_some());
    for (n, path) in segments.enumerate() {
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[60] ^= 1;
        fs::write(&path, bytes).unwrap();
        let to = root.path().join(format!("copy{n}"));
        let error = file::backup(&dir, &to).unwrap_err();
        let place = path.display().to_string();
        assert!(error.to_string().contains(&place), "{error}");
        let error = FileJournal::open(&to).unwrap_err();
        assert!(matches!(error, JournalError::Unfinished { .. }), "{error}");
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_torn_end_is_left_out_of_a_copy() {
    let root = tempfile::tempdir().unwrap();
    let [dir, copy] = ["log", "copy"].map(|name| root.path().join(name));
    let journal = FileJournal::open(&dir).unwrap();
    append(&journal, 1, 3);
    drop(journal);
    let path = dir.join(format!("{:020}.log", 1));
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(file::backup(&dir, &copy).unwrap().last, Position(2));
    assert!(FileJournal::open(&copy).unwrap().found().cut.is_empty());
}

#[test]
fn a_log_of_the_first_version_opens_and_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let name = "00000000000000000001.log";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../riff/tests/fixtures/log-1");
    fs::copy(fixture.join(name), dir.path().join(name)).unwrap();
    let before: Vec<_> = log::read(dir.path()).unwrap().map(Result::unwrap).collect();
    assert!(before.len() > 3, "{}", before.len());
    assert_eq!(file::check(dir.path()).unwrap().problems, []);
    let journal = FileJournal::open(dir.path()).unwrap();
    assert!(journal.found().cut.is_empty());
    let writer = journal.acquire().unwrap();
    assert_eq!(writer.tail, before.last().unwrap().position);
    let first = writer.tail.next();
    let bytes = format!("{{\"position\":{first},\"at\":1}}\n");
    let chunk = Chunk {
        first,
        records: 1,
        bytes: bytes.as_bytes(),
    };
    journal.append(writer.epoch, chunk).unwrap();
    let after: Vec<_> = log::read(dir.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 1);
}
