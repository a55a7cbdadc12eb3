//! One file of an outbox: locked for as long as it is open, and only ever appended to.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use link_wire::{CallId, LogPosition};

use super::{
    OutboxError,
    format::{self, End, Entry, HEAD, Of, Record},
};

/// The end of the name of each file.
const SUFFIX: &str = ".outbox";
/// What stands in the name of the end of a file that was set aside.
const ASIDE: &str = ".damaged-";
/// That of one which is being made.
const BEGUN: &str = "begun";
/// One that is older than this is left from a crash.
const BEGUN_WITHIN: Duration = Duration::from_secs(60);
/// A file that has this many bytes, and twice as many as its entries take, is written anew.
const RENEW_AT: u64 = 1024 * 1024;

/// An entry, and whether it is still sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) entry: Entry,
    /// Why it is not sent any more.
    pub(super) stopped: Option<String>,
}

/// What a file says.
#[derive(Debug, Default, Clone)]
pub(super) struct Contents {
    pub(super) of: Option<Of>,
    /// The oldest first.
    pub(super) kept: Vec<Kept>,
}

impl Contents {
    fn of(records: Vec<Record>) -> Self {
        let mut contents = Self::default();
        for record in records {
            contents.add(record);
        }
        contents
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::Of(of) => self.of = Some(of),
            Record::Put(entry) => self.kept.push(Kept {
                entry,
                stopped: None,
            }),
            Record::Seen { id, seen } => {
                if let Some(kept) = self.get(&id) {
                    kept.entry.seen = Some(seen);
                }
            }
            Record::Stop { id, why } => {
                if let Some(kept) = self.get(&id) {
                    kept.stopped = Some(why);
                }
            }
            Record::End(end) => self.kept.retain(|kept| kept.entry.id != end.id),
            // It stands in a file of its own.
            Record::Caller { .. } | Record::Log { .. } => {}
        }
    }

    fn get(&mut self, id: &CallId) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|kept| kept.entry.id == *id)
    }

    fn records(&self) -> Vec<Record> {
        let of = self.of.clone().map(Record::Of);
        let kept = self.kept.iter().flat_map(|kept| {
            let (id, entry) = (kept.entry.id.clone(), kept.entry.clone());
            let stop = kept.stopped.clone().map(|why| Record::Stop { id, why });
            [Some(Record::Put(entry)), stop]
        });
        of.into_iter().chain(kept.flatten()).collect()
    }
}

/// A file that this process writes.
#[derive(Debug)]
pub(super) struct OutboxFile {
    path: PathBuf,
    file: File,
    contents: Contents,
    bytes: u64,
    kept_bytes: u64,
}

impl OutboxFile {
    /// Makes a new file in a directory, and locks it.
    pub(super) fn new(dir: &Path, of: Of) -> Result<Self, OutboxError> {
        let path = dir.join(format!("{}{SUFFIX}", random_name()?));
        let mut contents = Contents::default();
        contents.add(Record::Of(of));
        Self::write_new(path, contents)
    }

    fn write_new(path: PathBuf, contents: Contents) -> Result<Self, OutboxError> {
        let failed = |source| OutboxError::of("making", &path, source);
        let mut lines = HEAD.as_bytes().to_vec();
        for record in contents.records() {
            format::write(&record, &mut lines).map_err(|error| failed(error.into()))?;
        }
        // Under its name only when it is locked and whole: else another process could take it.
        let begun = path.with_extension(BEGUN);
        let mut file = private().create_new(true).open(&begun).map_err(failed)?;
        file.lock().map_err(failed)?;
        file.write_all(&lines).map_err(failed)?;
        fs::rename(&begun, &path).map_err(failed)?;
        let kept_bytes = contents.kept.iter().map(|kept| kept.entry.bytes()).sum();
        Ok(Self {
            path,
            file,
            contents,
            bytes: lines.len() as u64,
            kept_bytes,
        })
    }

    /// Takes over a file that nobody holds; none when somebody does, or it went.
    ///
    /// What is damaged is set aside in a file of its own, and told.
    pub(super) fn adopt(path: &Path) -> Result<Option<Self>, OutboxError> {
        let failed = |source| OutboxError::of("reading", path, source);
        let opened = OpenOptions::new().read(true).append(true).open(path);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Its owner may have taken it away before it went.
        if !path.exists() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let held = format::read(&bytes);
        if held.whole < bytes.len() {
            set_aside(path, &bytes[held.whole..])?;
            if held.whole == 0 {
                fs::remove_file(path).map_err(failed)?;
                return Ok(None);
            }
            file.set_len(held.whole as u64).map_err(failed)?;
        }
        let contents = Contents::of(held.records);
        let kept_bytes = contents.kept.iter().map(|kept| kept.entry.bytes()).sum();
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            contents,
            bytes: held.whole as u64,
            kept_bytes,
        }))
    }

    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The bytes that its entries take.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// Appends a command. When this returns, a crash of the process does not lose it; one of the
    /// machine may.
    pub(super) fn put(&mut self, entry: Entry) -> Result<(), OutboxError> {
        let bytes = entry.bytes();
        self.append(Record::Put(entry))?;
        self.kept_bytes += bytes;
        Ok(())
    }

    pub(super) fn seen(&mut self, id: &CallId, seen: LogPosition) -> Result<(), OutboxError> {
        let id = id.clone();
        self.append(Record::Seen { id, seen })
    }

    pub(super) fn stop(&mut self, id: &CallId, why: String) -> Result<(), OutboxError> {
        let id = id.clone();
        self.append(Record::Stop { id, why })
    }

    pub(super) fn end(&mut self, end: End) -> Result<(), OutboxError> {
        let kept = self.contents.get(&end.id);
        let bytes = kept.map_or(0, |kept| kept.entry.bytes());
        self.append(Record::End(end))?;
        self.kept_bytes -= bytes;
        if self.bytes > RENEW_AT && self.bytes > 2 * self.kept_bytes {
            self.renew()?;
        }
        Ok(())
    }

    fn append(&mut self, record: Record) -> Result<(), OutboxError> {
        let failed = |source| OutboxError::of("writing", &self.path, source);
        let mut line = Vec::new();
        format::write(&record, &mut line).map_err(|error| failed(error.into()))?;
        if let Err(error) = self.file.write_all(&line) {
            // A part of a line would hide those after it.
            self.file.set_len(self.bytes).map_err(failed)?;
            return Err(failed(error));
        }
        self.bytes += line.len() as u64;
        self.contents.add(record);
        Ok(())
    }

    /// Writes what is kept into a new file, and takes the old one away. After a crash in between
    /// there are both: an entry is then sent twice under one ID, and runs once.
    fn renew(&mut self) -> Result<(), OutboxError> {
        let Some(dir) = self.path.parent() else {
            return Ok(());
        };
        let path = dir.join(format!("{}{SUFFIX}", random_name()?));
        let mut next = Self::write_new(path, self.contents.clone())?;
        std::mem::swap(self, &mut next);
        next.remove()
    }

    /// Takes the file away: nothing in it is owed.
    pub(super) fn remove(self) -> Result<(), OutboxError> {
        fs::remove_file(&self.path)
            .map_err(|source| OutboxError::of("removing", &self.path, source))
    }
}

/// How a file is made that only its owner may read.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The files of an outbox in this directory.
pub(super) fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        // A link is none of ours, whatever it leads to.
        let is_file = entry.file_type()?.is_file();
        if is_file && entry.file_name().to_string_lossy().ends_with(SUFFIX) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes what a crash left in the middle of making a file: nothing in it was sent.
pub(super) fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let made = entry.metadata().and_then(|file| file.modified()).ok();
        let is_old = made
            .and_then(|made| made.elapsed().ok())
            .is_some_and(|age| age > BEGUN_WITHIN);
        if path.extension().is_some_and(|end| end == BEGUN) && is_old {
            // Another process may do the same.
            let _ = fs::remove_file(&path);
        }
    }
}

/// What was set aside in a directory.
pub(super) fn set_aside_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.to_string_lossy().contains(ASIDE) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What a file says, whoever holds it.
pub(super) fn look(path: &Path) -> io::Result<Contents> {
    let bytes = fs::read(path)?;
    Ok(Contents::of(format::read(&bytes).records))
}

/// Whether a process holds the file.
pub(super) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn set_aside(path: &Path, damaged: &[u8]) -> Result<(), OutboxError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("{ASIDE}{}", random_name()?));
    let aside = PathBuf::from(name);
    let failed = |source| OutboxError::of("writing", &aside, source);
    let mut file = private().create_new(true).open(&aside).map_err(failed)?;
    file.write_all(damaged).map_err(failed)?;
    tracing::warn!(
        file = %path.display(),
        bytes = damaged.len(),
        aside = %aside.display(),
        "the end of an outbox is damaged, and is set aside: commands in it are not sent"
    );
    Ok(())
}

/// A name that no other file has.
pub(super) fn random_name() -> Result<String, OutboxError> {
    let random = getrandom::u64().map_err(|error| OutboxError::Random {
        why: error.to_string(),
    })?;
    Ok(format!("{random:016x}"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn of() -> Of {
        Of {
            service: "riff".into(),
            base: "http://a".into(),
            proof: String::new(),
        }
    }

    #[test]
    fn what_a_crash_left_of_a_new_file_goes_and_one_that_is_being_made_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("1.begun"), dir.path().join("2.begun"));
        fs::write(&old, HEAD).unwrap();
        fs::write(&new, HEAD).unwrap();
        let hour = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
        File::options()
            .append(true)
            .open(&old)
            .unwrap()
            .set_modified(hour)
            .unwrap();
        sweep(dir.path());
        assert_eq!((old.exists(), new.exists()), (false, true));
    }

    #[test]
    fn a_file_that_grows_is_written_anew_and_keeps_what_is_owed() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = OutboxFile::new(dir.path(), of()).unwrap();
        let entry = |n: usize| Entry {
            id: format!("call-{n}").parse().unwrap(),
            body: Some("x".repeat(4000)),
            ..format::tests::entry("one")
        };
        file.put(entry(0)).unwrap();
        file.stop(&entry(0).id, "forgotten".into()).unwrap();
        for n in 1..1000 {
            file.put(entry(n)).unwrap();
            let end = End {
                id: entry(n).id,
                route: "post".into(),
                at: link_wire::UnixMillis(1),
                how: super::super::SettledHow::Replied,
            };
            file.end(end).unwrap();
        }
        let paths = list(dir.path()).unwrap();
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert!(fs::metadata(&paths[0]).unwrap().len() < 2 * RENEW_AT);
        assert!(is_held(&paths[0]), "the new one is locked, too");
        let kept = look(&paths[0]).unwrap();
        assert_eq!(kept.of, Some(of()));
        assert_eq!(kept.kept, file.contents().kept);
        assert_eq!(kept.kept.len(), 1);
        assert_eq!(kept.kept[0].stopped.as_deref(), Some("forgotten"));
    }
}
