//! Damage to the files of a log: a torn end is cut and reported, all else stops the start.

use std::{
    collections::BTreeMap,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use link_wire::Position;
use server_runtime::{
    FileJournal, Journal, JournalError,
    journal::{Chunk, file::FileOptions},
    log,
};

const CHUNKS: [&str; 4] = ["one\n", "two is longer\n", "three\n", "four\n"];
/// The header of a segment, and that of a frame.
const SEGMENT: usize = 32;
const FRAME: usize = 16;

fn write(dir: &Path, segment_bytes: u64) {
    let options = FileOptions {
        segment_bytes,
        ..FileOptions::default()
    };
    let journal = FileJournal::open_with(dir, options).unwrap();
    for (n, text) in (1..).zip(CHUNKS) {
        append(&journal, n, text);
    }
}

/// Appends a record, as a new writer.
fn append(journal: &FileJournal, first: u64, text: &str) {
    let epoch = journal.acquire().unwrap().epoch;
    let chunk = Chunk {
        first: Position(first),
        records: 1,
        bytes: text.as_bytes(),
    };
    journal.append(epoch, chunk).unwrap();
}

fn read(journal: &FileJournal) -> Result<Vec<String>, JournalError> {
    let mut all = Vec::new();
    journal.read(Position(0), &mut |chunk| {
        all.push(String::from_utf8(chunk.bytes.to_vec()).unwrap());
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// Opens and reads: the chunks, and how many bytes were cut.
fn start(dir: &Path) -> Result<(Vec<String>, u64), JournalError> {
    let journal = FileJournal::open(dir)?;
    let cut = journal.found().cut.iter().map(|cut| cut.bytes).sum();
    Ok((read(&journal)?, cut))
}

fn segment(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}.log"))
}

/// Where the frames of [`CHUNKS`] begin in one segment, and where the last one ends.
fn frames() -> Vec<usize> {
    let mut at = vec![SEGMENT];
    for text in CHUNKS {
        at.push(at.last().unwrap() + FRAME + text.len());
    }
    at
}

#[test]
fn a_log_cut_at_any_byte_opens_with_its_whole_chunks_and_says_what_was_cut() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len(), *frames().last().unwrap());
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let (found, bytes) = start(dir.path()).unwrap();
        let kept = frames()
            .iter()
            .filter(|end| **end <= cut)
            .count()
            .saturating_sub(1);
        assert_eq!(found, CHUNKS[..kept], "cut at {cut}");
        let torn = if cut < SEGMENT {
            cut
        } else {
            cut - frames()[kept]
        };
        assert_eq!(bytes, torn as u64, "cut at {cut}");
        let journal = FileJournal::open(dir.path()).unwrap();
        append(&journal, kept as u64 + 1, "next\n");
        drop(journal);
        let mut wanted = CHUNKS[..kept].to_vec();
        wanted.push("next\n");
        assert_eq!(
            start(dir.path()).unwrap(),
            (wanted.iter().map(ToString::to_string).collect(), 0)
        );
    }
}

#[test]
fn a_log_with_zeros_from_any_byte_opens_with_its_whole_chunks() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    for from in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[from..].fill(0);
        fs::write(&path, &bytes).unwrap();
        let (found, cut) = start(dir.path()).unwrap();
        // A header can end with zeros of its own, and a frame cannot.
        let kept = frames()
            .iter()
            .filter(|end| **end <= from)
            .count()
            .saturating_sub(1);
        assert_eq!(found, CHUNKS[..kept], "zeros from {from}");
        // Between two frames they are what was filled ahead.
        let between = frames().contains(&from);
        assert_eq!(cut == 0, between, "zeros from {from}");
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_a_reported_cut_of_the_last_chunk() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    let last = frames()[CHUNKS.len() - 1];
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        match start(dir.path()) {
            Ok((found, cut)) => {
                assert!(bit / 8 >= last, "bit {bit}");
                assert_eq!(found, CHUNKS[..CHUNKS.len() - 1], "bit {bit}");
                assert_eq!(cut, (whole.len() - last) as u64, "bit {bit}");
            }
            Err(error) => {
                assert!(bit / 8 < last, "bit {bit}: {error}");
                assert!(
                    error.to_string().contains(path.to_str().unwrap()),
                    "{error}"
                );
                assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was changed");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_any_segment_but_the_last_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 40);
    for first in 1..=3 {
        let path = segment(dir.path(), first);
        let whole = fs::read(&path).unwrap();
        for byte in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[byte] ^= 1 << (byte % 8);
            fs::write(&path, &bytes).unwrap();
            let error = start(dir.path()).unwrap_err();
            assert!(
                error.to_string().contains(path.to_str().unwrap()),
                "{error}"
            );
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(start(dir.path()).unwrap().0, CHUNKS);
}

#[test]
fn damage_names_the_file_the_byte_and_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[frames()[1] + FRAME] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let text = start(dir.path()).unwrap_err().to_string();
    for part in [
        "00000000000000000001.log, byte 52",
        "wrong checksum",
        "begun at byte 82",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_missing_or_swapped_segment_stops_the_start() {
    let (ours, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(ours.path(), 40);
    write(other.path(), 40);
    let path = segment(ours.path(), 2);
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let text = start(ours.path()).unwrap_err().to_string();
    assert!(text.contains("begins at 3"), "{text}");
    fs::copy(segment(other.path(), 2), &path).unwrap();
    let text = start(ours.path()).unwrap_err().to_string();
    assert!(text.contains("another log"), "{text}");
    fs::write(&path, whole).unwrap();
    fs::remove_file(segment(ours.path(), 1)).unwrap();
    let text = start(ours.path()).unwrap_err().to_string();
    assert!(text.contains("segments before it are missing"), "{text}");
}

#[test]
fn a_segment_that_was_begun_by_a_crash_is_removed_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    for begun in [
        &b""[..],
        &[0; 20],
        &[0; 40],
        b"RIFFL",
        b"RIFFLOG1\x01\0\0\0salt",
    ] {
        fs::write(segment(dir.path(), 5), begun).unwrap();
        let journal = FileJournal::open(dir.path()).unwrap();
        assert_eq!(journal.found().cut.len(), 1);
        assert_eq!(read(&journal).unwrap(), CHUNKS);
        assert!(!segment(dir.path(), 5).exists());
    }
}

#[test]
fn a_flipped_bit_before_a_torn_chunk_is_damage_however_little_of_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    let (third, fourth) = (frames()[2], frames()[3]);
    for cut in fourth + 1..whole.len() {
        for byte in third..fourth {
            let mut bytes = whole[..cut].to_vec();
            bytes[byte] ^= 1 << ((cut + byte) % 8);
            fs::write(&path, &bytes).unwrap();
            let text = start(dir.path()).unwrap_err().to_string();
            let follows = format!("begun at byte {fourth}");
            assert!(text.contains(&follows), "{byte}, {cut}: {text}");
            assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was changed");
            let shown = log::read(dir.path()).unwrap().last().unwrap().unwrap_err();
            assert!(!shown.to_string().is_empty());
        }
    }
}

/// What each file of a directory holds, the lock aside.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let logs = paths.filter(|path| !path.ends_with("lock"));
    logs.map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

fn put(dir: &Path, first: u64, bytes: &[u8]) {
    fs::write(segment(dir, first), bytes).unwrap();
}

#[test]
fn a_log_with_damage_before_its_torn_end_is_not_changed() {
    let (ours, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(other.path(), 40);
    let torn: [fn(&Path); 3] = [
        |dir| {
            let last = fs::read(segment(dir, 4)).unwrap();
            fs::write(segment(dir, 4), &last[..last.len() - 1]).unwrap();
        },
        |dir| fs::write(segment(dir, 5), []).unwrap(),
        |_| {},
    ];
    let damage: [&dyn Fn(&Path); 5] = [
        &|dir| fs::remove_file(segment(dir, 1)).unwrap(),
        &|dir| fs::remove_file(segment(dir, 2)).unwrap(),
        &|dir| put(dir, 2, &fs::read(segment(other.path(), 2)).unwrap()),
        &|dir| put(dir, 4, &fs::read(segment(other.path(), 4)).unwrap()),
        &|dir| {
            let mut bytes = fs::read(segment(dir, 2)).unwrap();
            bytes[SEGMENT + FRAME] ^= 1;
            fs::write(segment(dir, 2), bytes).unwrap();
        },
    ];
    for (d, damage) in damage.iter().enumerate() {
        for (t, tear) in torn.iter().enumerate() {
            for path in files(ours.path()).keys() {
                fs::remove_file(path).unwrap();
            }
            write(ours.path(), 40);
            damage(ours.path());
            tear(ours.path());
            let before = files(ours.path());
            // Where nothing is to be cut, frames of an earlier segment are left to the replay.
            let error = if (d, t) == (4, 2) {
                start(ours.path()).unwrap_err()
            } else {
                FileJournal::open(ours.path()).unwrap_err()
            };
            let damaged = matches!(error, JournalError::Damaged { .. });
            assert!(damaged, "damage {d}, end {t}: {error}");
            assert_eq!(files(ours.path()), before, "damage {d}, end {t}");
        }
    }
}

#[test]
fn a_begun_segment_that_says_another_position_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    // The last chunk is gone at its first byte, and the next segment says that there was one.
    fs::write(&path, &whole[..frames()[3]]).unwrap();
    fs::write(segment(dir.path(), 5), []).unwrap();
    let before = files(dir.path());
    let text = start(dir.path()).unwrap_err().to_string();
    assert!(text.contains("begins at 5"), "{text}");
    assert_eq!(files(dir.path()), before);
}

#[test]
fn a_torn_end_before_a_begun_segment_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let path = segment(dir.path(), 1);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    fs::write(segment(dir.path(), 5), []).unwrap();
    let error = start(dir.path()).unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    assert!(segment(dir.path(), 5).exists(), "nothing was changed");
}

#[test]
fn what_is_not_a_log_of_ours_is_left_alone_and_named() {
    let dir = tempfile::tempdir().unwrap();
    for text in [
        "a text that somebody put here, longer than a header",
        "a short one",
        "RIFFRAFF",
    ] {
        fs::write(segment(dir.path(), 1), text).unwrap();
        let error = start(dir.path()).unwrap_err();
        assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
        assert_eq!(fs::read(segment(dir.path(), 1)).unwrap(), text.as_bytes());
    }
    fs::remove_file(segment(dir.path(), 1)).unwrap();
    fs::create_dir(segment(dir.path(), 1)).unwrap();
    let error = start(dir.path()).unwrap_err();
    assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
    fs::remove_dir(segment(dir.path(), 1)).unwrap();
    fs::write(dir.path().join("notes.log"), "no name of a segment").unwrap();
    assert_eq!(start(dir.path()).unwrap(), (Vec::new(), 0));
}

#[test]
fn a_log_that_is_no_json_is_read_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1 << 20);
    let mut records = log::read(dir.path()).unwrap();
    let error = records.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("the record at 1"), "{error}");
    assert!(records.next().is_none());
}
