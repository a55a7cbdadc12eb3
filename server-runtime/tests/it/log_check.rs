//! What `check` says of damaged files: it agrees with the start, and tells more.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use link_wire::Position;
use server_runtime::{
    FileJournal, Journal, JournalError,
    journal::{
        Chunk,
        file::{FileOptions, Outcome, ProblemKind, Report, check},
    },
};

const CHUNKS: [&str; 4] = ["one\n", "two is longer\n", "three\n", "four\n"];
/// The header of a segment, and that of a frame.
const SEGMENT: usize = 32;
const FRAME: usize = 16;

/// Writes the chunks, two in a segment or all in one.
fn write(dir: &Path, segment_bytes: u64) {
    let options = FileOptions {
        segment_bytes,
        ..FileOptions::default()
    };
    let journal = FileJournal::open_with(dir, options).unwrap();
    let epoch = journal.acquire().unwrap().epoch;
    for (n, text) in (1..).zip(CHUNKS) {
        let chunk = Chunk {
            first: Position(n),
            records: 1,
            bytes: text.as_bytes(),
        };
        journal.append(epoch, chunk).unwrap();
    }
}

fn segment(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}.log"))
}

/// Opens and reads all.
fn start(dir: &Path) -> Result<u64, JournalError> {
    let journal = FileJournal::open(dir)?;
    let mut chunks = 0;
    journal.read(journal.first(), &mut |_| {
        chunks += 1;
        ControlFlow::Continue(())
    })?;
    Ok(chunks)
}

/// Checks, and then starts: they must agree.
fn agree(dir: &Path, what: &str) -> Report {
    let report = check(dir).unwrap();
    let again = check(dir).unwrap();
    assert_eq!(report, again, "{what}: it changed something");
    match start(dir) {
        Ok(chunks) => {
            assert!(report.starts(), "{what}: {report:?}");
            assert_eq!(report.chunks, chunks, "{what}: {report:?}");
        }
        Err(error) => assert!(!report.starts(), "{what}: {error}, {report:?}"),
    }
    report
}

#[test]
fn a_whole_log_has_no_problem() {
    let dir = tempfile::tempdir().unwrap();
    for segment_bytes in [100, 1 << 20] {
        write(dir.path(), segment_bytes);
        let report = agree(dir.path(), "whole");
        assert_eq!(report.problems, []);
        assert_eq!((report.chunks, report.records), (4, 4));
        assert_eq!(
            (report.first, report.last),
            (Some(Position(1)), Some(Position(4)))
        );
        for entry in fs::read_dir(dir.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    let empty = check(dir.path()).unwrap();
    assert_eq!((empty.first, empty.last), (None, Some(Position(0))));
    check(dir.path().join("none")).unwrap_err();
}

#[test]
fn the_check_agrees_with_the_start_on_each_flipped_bit_cut_and_zeros() {
    for segment_bytes in [100, 1 << 20] {
        // In memory where the system has such a place: thousands of starts sync here.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let dir = dir.unwrap();
        write(dir.path(), segment_bytes);
        let segments: Vec<_> = [1, 2, 3, 4]
            .into_iter()
            .map(|first| segment(dir.path(), first))
            .filter(|path| path.exists())
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect();
        let again = || {
            for (path, whole) in &segments {
                fs::write(path, whole).unwrap();
            }
        };
        for (path, whole) in &segments {
            for bit in 0..whole.len() * 8 {
                again();
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(path, bytes).unwrap();
                let report = agree(dir.path(), &format!("{}, bit {bit}", path.display()));
                assert!(!report.problems.is_empty(), "bit {bit}");
            }
            for at in 0..whole.len() {
                again();
                fs::write(path, &whole[..at]).unwrap();
                agree(dir.path(), &format!("{}, cut at {at}", path.display()));
                again();
                let mut bytes = whole.clone();
                bytes[at..].fill(0);
                fs::write(path, bytes).unwrap();
                agree(dir.path(), &format!("{}, zeros from {at}", path.display()));
            }
            again();
            fs::remove_file(path).unwrap();
            agree(dir.path(), &format!("{} is gone", path.display()));
        }
    }
}

#[test]
fn damage_in_the_middle_is_told_with_what_is_whole_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let second = SEGMENT + FRAME + CHUNKS[0].len();
    let mut bytes = fs::read(&path).unwrap();
    bytes[second + FRAME] ^= 1;
    fs::write(&path, bytes).unwrap();
    let report = agree(dir.path(), "the second chunk");
    let [problem] = &report.problems[..] else {
        panic!("{report:?}")
    };
    assert_eq!(problem.file, path.display().to_string());
    assert_eq!(problem.offset, second as u64);
    assert_eq!(problem.position, Some(Position(2)));
    assert_eq!(problem.kind, ProblemKind::Chunk);
    assert_eq!(problem.whole_after, 2);
    assert_eq!(problem.outcome, Outcome::StopsTheStart);
    assert!(problem.what.contains("checksum"), "{}", problem.what);
    assert_eq!(report.chunks, 3);
}

#[test]
fn every_problem_of_a_log_is_told_and_not_the_first_only() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(dir.path(), 40);
    write(other.path(), 40);
    let mut bytes = fs::read(segment(dir.path(), 1)).unwrap();
    bytes[SEGMENT + FRAME] ^= 1;
    fs::write(segment(dir.path(), 1), bytes).unwrap();
    fs::copy(segment(other.path(), 2), segment(dir.path(), 2)).unwrap();
    fs::write(segment(dir.path(), 3), "a text, and no segment of a log").unwrap();
    let last = fs::read(segment(dir.path(), 4)).unwrap();
    fs::write(segment(dir.path(), 4), &last[..last.len() - 1]).unwrap();
    let report = agree(dir.path(), "much");
    let told: Vec<_> = report
        .problems
        .iter()
        .map(|problem| (problem.kind, problem.outcome, problem.position.unwrap().0))
        .collect();
    let stops = Outcome::StopsTheStart;
    assert_eq!(
        told,
        [
            (ProblemKind::Chunk, stops, 1),
            (ProblemKind::OtherLog, stops, 2),
            (ProblemKind::NotOurs, stops, 3),
            (ProblemKind::TornEnd, Outcome::CutsItAway, 4),
        ]
    );
}

#[test]
fn a_checkpoint_that_is_damaged_or_ahead_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 40);
    let journal = FileJournal::open(dir.path()).unwrap();
    for at in [2, 3, 4] {
        journal.put_checkpoint(Position(at), b"sum").unwrap();
    }
    drop(journal);
    let damaged = dir.path().join(format!("checkpoint-{:020}", 3));
    let whole = fs::read(&damaged).unwrap();
    for byte in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[byte] ^= 1 << (byte % 8);
        fs::write(&damaged, bytes).unwrap();
        let report = agree(dir.path(), "a damaged checkpoint");
        assert_eq!(
            report.checkpoints,
            [Position(4), Position(2)],
            "byte {byte}"
        );
        let [problem] = &report.problems[..] else {
            panic!("{report:?}")
        };
        assert_eq!(problem.kind, ProblemKind::Checkpoint);
        assert_eq!(problem.outcome, Outcome::PassesItOver);
        fs::write(&damaged, &whole[..byte]).unwrap();
        let cut = check(dir.path()).unwrap();
        assert_eq!(cut.checkpoints, [Position(4), Position(2)], "cut at {byte}");
    }
    fs::write(&damaged, whole).unwrap();
    // The log lost its end.
    fs::remove_file(segment(dir.path(), 4)).unwrap();
    let report = check(dir.path()).unwrap();
    let [problem] = &report.problems[..] else {
        panic!("{report:?}")
    };
    assert_eq!(problem.kind, ProblemKind::CheckpointAhead);
    assert_eq!(problem.position, Some(Position(4)));
    assert!(problem.what.contains("ends at 3"), "{}", problem.what);
    assert!(!report.starts());
}

#[test]
fn a_log_without_its_beginning_needs_a_checkpoint_that_stands_for_it() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 40);
    let journal = FileJournal::open(dir.path()).unwrap();
    journal.put_checkpoint(Position(2), b"sum").unwrap();
    journal.truncate_before(Position(2)).unwrap();
    drop(journal);
    let report = agree(dir.path(), "truncated");
    assert_eq!((report.first, report.problems), (Some(Position(2)), vec![]));
    // One more than the checkpoint stands for.
    let second = fs::read(segment(dir.path(), 2)).unwrap();
    fs::remove_file(segment(dir.path(), 2)).unwrap();
    let report = agree(dir.path(), "cut too far");
    assert_eq!(report.problems[0].kind, ProblemKind::NoBeginning);
    fs::write(segment(dir.path(), 2), second).unwrap();
    fs::remove_file(dir.path().join(format!("checkpoint-{:020}", 2))).unwrap();
    let report = agree(dir.path(), "no checkpoint");
    assert_eq!(report.problems[0].kind, ProblemKind::NoBeginning);
}
