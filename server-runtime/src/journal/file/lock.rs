//! The lock on a directory: one writer for one log, for the life of its process.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
};

use super::{JournalError, failed};

/// The file that names the process with the lock. It is a hint for people: who has the lock is
/// known by the directory alone, so nobody can take it away by removing a file.
const HOLDER: &str = "lock";

/// Held as long as it lives; the system frees it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _dir: File,
}

impl Lock {
    /// Takes the lock of the directory, and notes this process in it.
    pub(super) fn take(dir: &Path) -> Result<Self, JournalError> {
        let handle = File::open(dir).map_err(|source| failed("opening", dir, source))?;
        let holder = dir.join(HOLDER);
        match handle.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let noted = fs::read_to_string(&holder).unwrap_or_default();
                let holder = match noted.trim() {
                    pid if !pid.is_empty() && pid.len() <= 32 => format!("process {pid}"),
                    _ => "another process".into(),
                };
                return Err(JournalError::Locked {
                    place: dir.display().to_string(),
                    holder,
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed("locking", dir, source)),
        }
        // A full disk must not stop a start that works without the hint.
        let _noted = fs::write(&holder, format!("{}\n", std::process::id()));
        Ok(Self { _dir: handle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_keeps_nobody_from_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", dir.path().join(HOLDER)).unwrap();
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_lock_cannot_be_removed_under_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::take(dir.path()).unwrap();
        fs::remove_file(dir.path().join(HOLDER)).unwrap();
        let error = Lock::take(dir.path()).unwrap_err();
        assert!(matches!(error, JournalError::Locked { .. }), "{error}");
        drop(held);
        Lock::take(dir.path()).unwrap();
    }
}
