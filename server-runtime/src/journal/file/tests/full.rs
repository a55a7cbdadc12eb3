//! No room: what was refused is not there, whatever happens then, and all that was told is.

use super::*;
use crate::journal::conformance::{self, Factory};

/// A log that has no room at each place where it may need some.
fn full(options: FileOptions, before: u64, luck: Luck) {
    let mut life = Life::new(&format!("full after {before}, {luck:?}"), options);
    life.start(Fault::None, before);
    let journal = life.open().unwrap();
    let epoch = journal.acquire().unwrap().epoch;
    life.disk.set_full(true);
    for n in 0..3 {
        let text = format!("{} refused {n}\n", before + 1);
        let chunk = Chunk {
            first: Position(before + 1),
            records: 1,
            bytes: text.as_bytes(),
        };
        let error = journal.append(epoch, chunk).unwrap_err();
        let full = matches!(error, AppendError::Full { .. });
        assert!(full, "{}: {error:?}", life.name);
        life.refused.insert(text);
    }
    life.disk.set_full(false);
    if before.is_multiple_of(2) {
        // One that may fit where the refused ones did not.
        let text = format!("{} \n", before + 1);
        let chunk = Chunk {
            first: Position(before + 1),
            records: 1,
            bytes: text.as_bytes(),
        };
        journal.append(epoch, chunk).unwrap();
        life.told.insert(before + 1, text);
    }
    life.disk.lose_power(luck);
    drop(journal);
    life.start(Fault::None, 2);
    life.disk.lose_power(luck);
    life.start(Fault::None, 0);
}

#[test]
fn what_had_no_room_is_not_there_after_a_loss_of_power() {
    for options in [OPTIONS, FILLED] {
        for before in 0..7 {
            for seed in 1..40 {
                full(options, before, Luck::Random(before * 100 + seed));
            }
            for luck in [Luck::Nothing, Luck::Everything] {
                full(options, before, luck);
            }
        }
    }
}

#[test]
fn a_segment_that_had_no_room_is_not_there_after_a_loss_of_power() {
    // The third record needs a new segment, and the short one that takes its place does not.
    let options = FileOptions {
        segment_bytes: 100,
        fill_bytes: 0,
    };
    let mut life = Life::new("without a fault", options);
    life.start(Fault::None, 3);
    let path = life.dir.join(format!("{:020}.log", 3));
    assert!(path.exists(), "it rolls");
    let mut stayed = 0;
    for n in 1..=life.disk.done() {
        for seed in 0..30 {
            let luck = Luck::Random((n * 30 + seed) as u64);
            let mut life = Life::new(&format!("{n} fails, {luck:?}"), options);
            life.start(Fault::Fail(n), 3);
            stayed += usize::from(life.last() == 3 && !life.refused.is_empty());
            life.disk.lose_power(luck);
            life.start(Fault::None, 2);
        }
    }
    assert!(
        stayed > 0,
        "a short one took the place of one that had no room"
    );
}

#[test]
fn a_log_that_cannot_be_cut_back_takes_nothing_any_more() {
    for options in [OPTIONS, FILLED] {
        let (mut failed, mut refused) = (0, 0);
        for n in 1..6 {
            let mut life = Life::new(&format!("{n} fails"), options);
            life.start(Fault::None, 1);
            let journal = life.open().unwrap();
            let epoch = journal.acquire().unwrap().epoch;
            life.disk.arm(Fault::Fail(n));
            life.disk.set_full(true);
            let chunk = Chunk {
                first: Position(2),
                records: 1,
                bytes: b"2 refused\n",
            };
            match journal.append(epoch, chunk).unwrap_err() {
                AppendError::Failed(_) => {
                    failed += 1;
                    life.disk.set_full(false);
                    let error = journal.append(epoch, chunk).unwrap_err();
                    let stopped = matches!(error, AppendError::Failed(JournalError::Stopped));
                    assert!(stopped, "{n}: {error:?}");
                }
                AppendError::Full { .. } => refused += 1,
                error => panic!("{n}: {error:?}"),
            }
        }
        assert!(failed >= 2 && refused >= 1, "{failed}, {refused}");
    }
}

struct OnRecorder(Life);

impl Factory for OnRecorder {
    type Journal = FileJournal;

    fn open(&mut self) -> Result<FileJournal, JournalError> {
        self.0.open()
    }

    fn set_full(&mut self, _: &FileJournal, full: bool) -> bool {
        self.0.disk.set_full(full);
        true
    }
}

#[test]
fn a_journal_on_a_disk_that_can_be_full_conforms() {
    for (segment_bytes, fill_bytes) in [(100, 0), (100, 40), (1 << 20, 1 << 16)] {
        let options = FileOptions {
            segment_bytes,
            fill_bytes,
        };
        conformance::suite(|| OnRecorder(Life::new("conforms", options)));
    }
}
