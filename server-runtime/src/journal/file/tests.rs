//! Power, process and device fail at each operation on the disk: what was acknowledged, or was
//! shown by a start, is there afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::ErrorKind,
    path::PathBuf,
};

use self::recorder::{Fault, Luck, Recorder};
use super::{disk::OpenFile, *};

mod full;
mod old;
mod recorder;
mod restored;

/// Two or three frames a segment.
const OPTIONS: FileOptions = FileOptions {
    segment_bytes: 110,
    fill_bytes: 0,
};
/// As many, into space that was filled ahead.
const FILLED: FileOptions = FileOptions {
    segment_bytes: 110,
    fill_bytes: 40,
};

/// One log and its disk, from start to start.
struct Life {
    _root: tempfile::TempDir,
    dir: PathBuf,
    disk: Recorder,
    options: FileOptions,
    /// The text of each record that was acknowledged, or that a start has shown.
    told: BTreeMap<u64, String>,
    /// What had no room: it was said that it is not there.
    refused: BTreeSet<String>,
    /// Whether checkpoints are put, and old ones and the log before them go.
    prunes: bool,
    /// Checkpoints that are there, and others that are not.
    checkpoints: BTreeSet<u64>,
    removed: BTreeSet<u64>,
    /// The log does not begin before this.
    first: u64,
    /// The log of so many records came from a backup.
    backup: Option<u64>,
    starts: usize,
    /// What happens to it, for a person.
    name: String,
}

impl Life {
    fn new(name: &str, options: FileOptions) -> Self {
        // In memory where the system has such a place: nothing here asks for a real sync.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let root = root.unwrap();
        let path = root.path().canonicalize().unwrap();
        Self {
            disk: Recorder::new(&path),
            dir: path.join("a/b"),
            _root: root,
            options,
            told: BTreeMap::new(),
            refused: BTreeSet::new(),
            prunes: false,
            checkpoints: BTreeSet::new(),
            removed: BTreeSet::new(),
            first: 1,
            backup: None,
            starts: 0,
            name: format!("{name}, {options:?}"),
        }
    }

    fn open(&self) -> Result<FileJournal, JournalError> {
        FileJournal::open_on(Box::new(self.disk.clone()), &self.dir, self.options)
    }

    /// The position of the last record that was told.
    fn last(&self) -> u64 {
        self.told.keys().next_back().copied().unwrap_or(0)
    }

    /// Starts, checks what is there, and appends; until the fault.
    fn start(&mut self, fault: Fault, appends: u64) {
        self.starts += 1;
        self.disk.arm(fault);
        let journal = match self.open() {
            Ok(journal) => journal,
            Err(error) => {
                let by_the_fault = fault != Fault::None && matches!(error, JournalError::Io { .. });
                assert!(by_the_fault, "{}: {error:?}", self.name);
                return;
            }
        };
        self.check(&journal);
        let Ok(Writer { epoch, .. }) = journal.acquire() else {
            panic!("{}: no right to write", self.name)
        };
        for n in 0..appends {
            if !self.append(&journal, epoch, fault) {
                return;
            }
            if self.prunes && n % 2 == 1 {
                self.prune(&journal, fault);
            }
        }
    }

    /// Compares what is there with what was told.
    fn check(&mut self, journal: &FileJournal) {
        let name = &self.name;
        let first = journal.first().0;
        assert!(first >= self.first, "{name}: it begins at {first} again");
        let mut there = first - 1;
        let read = journal.read(Position(first), &mut |chunk| {
            there += 1;
            let text = str::from_utf8(chunk.bytes).unwrap().to_owned();
            assert_eq!(chunk.first, Position(there), "{name}");
            assert!(text.starts_with(&format!("{there} ")), "{name}: {text}");
            assert!(!self.refused.contains(&text), "{name}: {text} had no room");
            let told = self.told.entry(there).or_insert_with(|| text.clone());
            assert_eq!(*told, text, "{name}");
            ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let last = self.told.keys().next_back().copied().unwrap_or(0);
        assert_eq!(there, last, "{name}: not all is there");
        if let Some(records) = self.backup
            && there == records
        {
            let restored = journal.found().restored;
            assert!(restored, "{name}: nothing was appended to the backup");
        }
        self.check_old(journal);
    }

    /// Appends one record. False: nothing more can be.
    fn append(&mut self, journal: &FileJournal, epoch: Epoch, fault: Fault) -> bool {
        let n = self.last() + 1;
        // One that had no room is not tried again: another one takes its place, a short one, that
        // may need no new segment.
        let more = (usize::try_from(n).unwrap() * 5 + self.starts * 3) % 11;
        for more in ["x".repeat(more), "y".into()] {
            let text = format!("{n} {more}\n");
            let chunk = Chunk {
                first: Position(n),
                records: 1,
                bytes: text.as_bytes(),
            };
            let name = &self.name;
            match journal.append(epoch, chunk) {
                Ok(()) => {
                    self.told.insert(n, text);
                    return true;
                }
                Err(AppendError::Full { .. }) => {
                    assert_ne!(fault, Fault::None, "{name}: there was room");
                    self.refused.insert(text);
                }
                Err(error) => {
                    assert_ne!(fault, Fault::None, "{name}: {error:?}");
                    let error = journal.append(epoch, chunk).unwrap_err();
                    let stopped = AppendError::Failed(JournalError::Stopped);
                    assert_eq!(error.to_string(), stopped.to_string(), "{name}");
                    return false;
                }
            }
        }
        panic!("{}: there was no room twice", self.name);
    }
}

/// The operations of a start and five appends.
fn operations(options: FileOptions) -> usize {
    let mut life = Life::new("without a fault", options);
    life.start(Fault::None, 5);
    assert!(life.dir.join(format!("{:020}.log", 4)).exists(), "it rolls");
    life.disk.done()
}

fn lucks(seed: usize) -> [Luck; 3] {
    [
        Luck::Nothing,
        Luck::Everything,
        Luck::Random(seed as u64 + 1),
    ]
}

/// The first life ends by `first`; power is lost with `between`, or the process only ends. The
/// second one ends by `second`, and then power is lost.
fn lives(
    options: FileOptions,
    first: Fault,
    between: Option<Luck>,
    second: Fault,
    luck: Luck,
) -> usize {
    let name = format!("{first:?}, {between:?}, {second:?}, {luck:?}");
    let mut life = Life::new(&name, options);
    life.start(first, 5);
    if let Some(luck) = between {
        life.disk.lose_power(luck);
    }
    life.start(second, 3);
    let done = life.disk.done();
    life.disk.lose_power(luck);
    life.start(Fault::None, 3);
    life.disk.lose_power(luck);
    life.start(Fault::None, 0);
    done
}

fn at_any_operation(options: FileOptions) {
    for n in 0..=operations(options) {
        let random = (1..=12).map(|seed| Luck::Random((n * 12 + seed) as u64));
        for luck in random.chain([Luck::Nothing, Luck::Everything]) {
            lives(options, Fault::Stop(n), Some(luck), Fault::None, luck);
        }
    }
}

fn at_any_operation_of_a_repair(options: FileOptions) {
    for n in 0..=operations(options) {
        let random = Luck::Random(n as u64 + 1);
        for between in [None, Some(Luck::Nothing), Some(random)] {
            let stop = Fault::Stop(n);
            let most = lives(options, stop, between, Fault::None, Luck::Nothing);
            for m in 0..=most {
                for luck in lucks(n * 100 + m) {
                    lives(options, stop, between, Fault::Stop(m), luck);
                }
            }
        }
    }
}

fn at_an_operation_that_fails(options: FileOptions) {
    for n in 1..=operations(options) {
        let fail = Fault::Fail(n);
        let most = lives(options, fail, None, Fault::None, Luck::Nothing);
        for seed in 0..3 {
            let luck = Luck::Random((n * 3 + seed) as u64);
            lives(options, fail, Some(luck), Fault::None, luck);
        }
        for m in 0..=most {
            for luck in lucks(n * 100 + m) {
                lives(options, fail, None, Fault::Stop(m), luck);
            }
            lives(options, fail, None, Fault::Fail(m), Luck::Nothing);
        }
    }
}

#[test]
fn power_that_is_lost_at_any_operation_loses_nothing_that_was_told() {
    at_any_operation(OPTIONS);
}

#[test]
fn power_that_is_lost_at_any_operation_with_zeros_ahead_loses_nothing_that_was_told() {
    at_any_operation(FILLED);
}

#[test]
fn power_that_is_lost_at_any_operation_of_a_repair_loses_nothing_that_was_told() {
    at_any_operation_of_a_repair(OPTIONS);
}

#[test]
fn power_that_is_lost_at_any_operation_of_a_repair_of_zeros_loses_nothing_that_was_told() {
    at_any_operation_of_a_repair(FILLED);
}

#[test]
fn an_operation_that_fails_once_loses_nothing_that_was_told() {
    at_an_operation_that_fails(OPTIONS);
}

#[test]
fn an_operation_that_fails_once_with_zeros_ahead_loses_nothing_that_was_told() {
    at_an_operation_that_fails(FILLED);
}

#[test]
fn a_directory_that_was_copied_here_is_durable_after_a_start() {
    let mut life = Life::new("copied", OPTIONS);
    life.start(Fault::None, 5);
    life.disk.forget_name(&life.dir);
    life.start(Fault::None, 0);
    life.disk.lose_power(Luck::Nothing);
    life.start(Fault::None, 0);
    assert_eq!(life.last(), 5);
}

#[test]
fn a_directory_above_that_we_may_not_open_stops_nothing() {
    let mut life = Life::new("closed", OPTIONS);
    life.disk.close(life.dir.ancestors().nth(2).unwrap());
    life.start(Fault::None, 2);
    life.disk.close(life.dir.parent().unwrap());
    life.start(Fault::None, 1);
    assert_eq!(life.last(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn each_sync_of_the_machine_asks_the_system() {
    // What can be synced tells nothing, so this asks for what the system refuses to sync.
    let path = PathBuf::from("/dev/null");
    let file = File::open(&path).unwrap();
    let null = OpenFile { path, file };
    for asked in [
        Machine.sync_data(&null),
        Machine.sync_file(&null),
        Machine.sync_dir(Path::new("/proc/self")),
    ] {
        assert_eq!(asked.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
