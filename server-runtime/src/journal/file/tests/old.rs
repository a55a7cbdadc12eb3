//! Checkpoints and the beginning of the log, while power, process and device fail: a checkpoint is
//! whole or not there, and the log never begins before it, or after what stands for it.

use super::*;

impl Life {
    fn pruned(name: &str, options: FileOptions) -> Self {
        Self {
            prunes: true,
            ..Self::new(name, options)
        }
    }

    /// What a checkpoint says.
    fn sum(at: u64) -> Vec<u8> {
        format!("all up to {at}\n").into_bytes()
    }

    /// Compares the checkpoints that are there with those that were told.
    pub(super) fn check_old(&mut self, journal: &FileJournal) {
        let name = &self.name;
        let listed = journal.checkpoints().unwrap();
        for at in &listed {
            let read = journal.checkpoint(*at);
            let read = read.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(read, Self::sum(at.0), "{name}");
            assert!(!self.removed.contains(&at.0), "{name}: {at} is back");
            assert!(at.0 <= self.last(), "{name}: {at} is newer than the log");
        }
        for at in &self.checkpoints {
            assert!(listed.contains(&Position(*at)), "{name}: {at} is gone");
        }
        let begun = fs::read_dir(&self.dir).unwrap();
        let begun = begun.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().ends_with(".tmp")
        });
        assert_eq!(begun.count(), 0, "{name}: what was begun is removed");
    }

    /// Puts a checkpoint, removes all but two, and drops the log before them.
    pub(super) fn prune(&mut self, journal: &FileJournal, fault: Fault) {
        let at = self.last();
        let by_the_fault = |error: &JournalError| {
            assert_ne!(fault, Fault::None, "{}: {error:?}", self.name);
        };
        match journal.put_checkpoint(Position(at), &Self::sum(at)) {
            Ok(()) => self.checkpoints.insert(at),
            Err(error) => return by_the_fault(&error),
        };
        for old in journal.checkpoints().unwrap().into_iter().skip(2) {
            self.checkpoints.remove(&old.0);
            match journal.remove_checkpoint(old) {
                Ok(()) => self.removed.insert(old.0),
                Err(error) => return by_the_fault(&error),
            };
        }
        let oldest = *self.checkpoints.first().unwrap();
        match journal.truncate_before(Position(oldest)) {
            Ok(()) => self.first = journal.first().0,
            Err(error) => by_the_fault(&error),
        }
    }
}

/// The operations of a start and so many appends, with what is dropped meanwhile.
fn operations(appends: u64) -> usize {
    let mut life = Life::pruned("without a fault", OPTIONS);
    life.start(Fault::None, appends);
    assert!(life.first > 1, "something was dropped");
    assert!(!life.removed.is_empty(), "a checkpoint was removed");
    life.disk.done()
}

fn lives(first: Fault, between: Option<Luck>, second: Fault, luck: Luck) {
    for options in [OPTIONS, FILLED] {
        let name = format!("{first:?}, {between:?}, {second:?}, {luck:?}");
        let mut life = Life::pruned(&name, options);
        life.start(first, 8);
        if let Some(luck) = between {
            life.disk.lose_power(luck);
        }
        life.start(second, 4);
        life.disk.lose_power(luck);
        life.start(Fault::None, 4);
        life.disk.lose_power(luck);
        life.start(Fault::None, 0);
    }
}

#[test]
fn power_that_is_lost_while_old_things_go_loses_nothing_that_was_told() {
    for n in 0..=operations(8) {
        let random = (1..=5).map(|seed| Luck::Random((n * 5 + seed) as u64));
        for luck in random.chain([Luck::Nothing, Luck::Everything]) {
            lives(Fault::Stop(n), Some(luck), Fault::None, luck);
            lives(Fault::Stop(n), None, Fault::None, luck);
        }
    }
}

#[test]
fn an_operation_that_fails_while_old_things_go_loses_nothing_that_was_told() {
    for n in 1..=operations(8) {
        for luck in lucks(n) {
            lives(Fault::Fail(n), Some(luck), Fault::None, luck);
            lives(Fault::Fail(n), None, Fault::None, luck);
        }
        for m in [3, 15, 24, 30] {
            lives(Fault::Fail(n), None, Fault::Fail(m), Luck::Nothing);
            lives(Fault::Fail(n), None, Fault::Stop(m), Luck::Random(m as u64));
        }
    }
}
