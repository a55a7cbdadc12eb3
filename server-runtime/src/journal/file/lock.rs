//! The lock on a directory: one writer for one log, for the life of its process.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use super::{JournalError, failed};

/// Held as long as it lives; the system frees it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the directory, and notes this process in it.
    pub(super) fn take(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| failed("opening", &path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The text is a hint only: it may be missing, or not written yet.
                let read = (&file).take(32).read_to_string(&mut holder);
                let holder = match (read, holder.trim()) {
                    (Ok(_), pid) if !pid.is_empty() => format!("process {pid}"),
                    _ => "another process".into(),
                };
                return Err(JournalError::Locked {
                    place: dir.display().to_string(),
                    holder,
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed("locking", &path, source)),
        }
        let note = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        note.map_err(|source| failed("writing", &path, source))?;
        Ok(Self { _file: file })
    }
}
