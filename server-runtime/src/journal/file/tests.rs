//! Power, process and device fail at each operation on the disk: what was acknowledged, or was
//! shown by a start, is there afterwards.

use std::{fs::File, io::ErrorKind, path::PathBuf};

use self::recorder::{Fault, Luck, Recorder};
use super::{disk::OpenFile, *};

mod recorder;

/// Two or three frames a segment.
const OPTIONS: FileOptions = FileOptions { segment_bytes: 110 };

/// One log and its disk, from start to start.
struct Life {
    _root: tempfile::TempDir,
    dir: PathBuf,
    disk: Recorder,
    /// The last position that was acknowledged, or that a start has shown.
    told: u64,
    starts: usize,
    /// What happens to it, for a person.
    name: String,
}

impl Life {
    fn new(name: String) -> Self {
        // In memory where the system has such a place: nothing here asks for a real sync.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let root = root.unwrap();
        let path = root.path().canonicalize().unwrap();
        Self {
            disk: Recorder::new(&path),
            dir: path.join("a/b"),
            _root: root,
            told: 0,
            starts: 0,
            name,
        }
    }

    /// Starts, checks what is there, and appends; until the fault.
    fn start(&mut self, fault: Fault, appends: u64) {
        let name = &self.name;
        self.starts += 1;
        self.disk.arm(fault);
        let disk = Box::new(self.disk.clone());
        let mut journal = match FileJournal::open_on(disk, &self.dir, OPTIONS) {
            Ok(journal) => journal,
            Err(error) => {
                let by_the_fault = fault != Fault::None && matches!(error, JournalError::Io { .. });
                assert!(by_the_fault, "{name}: {error:?}");
                return;
            }
        };
        let mut there = 0;
        let read = journal.replay(&mut |chunk| {
            there += 1;
            let text = str::from_utf8(chunk.bytes).unwrap();
            assert_eq!(chunk.first, Position(there), "{name}");
            assert!(text.starts_with(&format!("{there} ")), "{name}: {text}");
            ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(there >= self.told, "{name}: {} of {}", there, self.told);
        self.told = there;
        for _ in 0..appends {
            let n = self.told + 1;
            let more = (usize::try_from(n).unwrap() * 5 + self.starts * 3) % 11;
            let bytes = format!("{n} {}\n", "x".repeat(more)).into_bytes();
            let (first, bytes) = (Position(n), &bytes[..]);
            let chunk = Chunk {
                first,
                records: 1,
                bytes,
            };
            match journal.append(chunk) {
                Ok(()) => self.told = n,
                Err(error) => {
                    assert_ne!(fault, Fault::None, "{name}: {error:?}");
                    let error = journal.append(chunk).unwrap_err();
                    let stopped = AppendError::Failed(JournalError::Stopped);
                    assert_eq!(error.to_string(), stopped.to_string(), "{name}");
                    return;
                }
            }
        }
    }
}

/// The operations of a start and five appends.
fn operations() -> usize {
    let mut life = Life::new("without a fault".into());
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
fn lives(first: Fault, between: Option<Luck>, second: Fault, luck: Luck) -> usize {
    let mut life = Life::new(format!("{first:?}, {between:?}, {second:?}, {luck:?}"));
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

#[test]
fn power_that_is_lost_at_any_operation_loses_nothing_that_was_told() {
    for n in 0..=operations() {
        let random = (1..=12).map(|seed| Luck::Random((n * 12 + seed) as u64));
        for luck in random.chain([Luck::Nothing, Luck::Everything]) {
            lives(Fault::Stop(n), Some(luck), Fault::None, luck);
        }
    }
}

#[test]
fn power_that_is_lost_at_any_operation_of_a_repair_loses_nothing_that_was_told() {
    for n in 0..=operations() {
        for between in [None, Some(Luck::Nothing), Some(Luck::Random(n as u64 + 1))] {
            let most = lives(Fault::Stop(n), between, Fault::None, Luck::Nothing);
            for m in 0..=most {
                for luck in lucks(n * 100 + m) {
                    lives(Fault::Stop(n), between, Fault::Stop(m), luck);
                }
            }
        }
    }
}

#[test]
fn an_operation_that_fails_once_loses_nothing_that_was_told() {
    for n in 1..=operations() {
        let most = lives(Fault::Fail(n), None, Fault::None, Luck::Nothing);
        for m in 0..=most {
            for luck in lucks(n * 100 + m) {
                lives(Fault::Fail(n), None, Fault::Stop(m), luck);
            }
            lives(Fault::Fail(n), None, Fault::Fail(m), Luck::Nothing);
        }
    }
}

#[test]
fn a_directory_that_was_copied_here_is_durable_after_a_start() {
    let mut life = Life::new("copied".into());
    life.start(Fault::None, 5);
    life.disk.forget_name(&life.dir);
    life.start(Fault::None, 0);
    life.disk.lose_power(Luck::Nothing);
    life.start(Fault::None, 0);
    assert_eq!(life.told, 5);
}

#[test]
fn a_directory_above_that_we_may_not_open_stops_nothing() {
    let mut life = Life::new("closed".into());
    life.disk.close(life.dir.ancestors().nth(2).unwrap());
    life.start(Fault::None, 2);
    life.disk.close(life.dir.parent().unwrap());
    life.start(Fault::None, 1);
    assert_eq!(life.told, 3);
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
