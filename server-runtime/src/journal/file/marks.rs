//! The two marks of a directory: that its log came from a backup, and that a copy is not whole.

use std::{
    io::{self, ErrorKind},
    path::Path,
};

use super::{
    JournalError,
    disk::{Disk, Machine},
    failed, recover,
};

/// Made by a backup and a restore; removed once something was appended to the log.
const RESTORED: &str = "restored";
/// There while a log is copied to this directory.
const UNFINISHED: &str = "unfinished";

/// Whether the log came from a backup, and nothing was appended since.
pub(super) fn is_restored(dir: &Path) -> Result<bool, JournalError> {
    is_there(dir, RESTORED)
}

pub(super) fn is_unfinished(dir: &Path) -> Result<bool, JournalError> {
    is_there(dir, UNFINISHED)
}

/// Refuses a log of which only a part may be there.
pub(super) fn refuse_unfinished(dir: &Path) -> Result<(), JournalError> {
    if is_unfinished(dir)? {
        let place = dir.display().to_string();
        return Err(JournalError::Unfinished { place });
    }
    Ok(())
}

/// Durably marks a directory into which a log is copied.
pub(super) fn begin_copy(dir: &Path) -> Result<(), JournalError> {
    for name in [UNFINISHED, RESTORED] {
        let path = dir.join(name);
        let make = || match Machine.create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            made => Machine.sync_file(&made?),
        };
        make().map_err(|source| failed("creating", &path, source))?;
    }
    recover::sync_dir(&Machine, dir)
}

/// Durably says that the copy is whole: all of it must be durable.
pub(super) fn end_copy(dir: &Path) -> Result<(), JournalError> {
    // What was copied must have its names before this one goes.
    recover::sync_dir(&Machine, dir)?;
    remove(&Machine, dir, UNFINISHED)
}

/// Durably removes the mark of a backup.
pub(super) fn remove_restored(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    remove(disk, dir, RESTORED)
}

fn remove(disk: &dyn Disk, dir: &Path, name: &str) -> Result<(), JournalError> {
    let path = dir.join(name);
    match disk.remove(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("removing", &path, error)),
        _ => recover::sync_dir(disk, dir),
    }
}

fn is_there(dir: &Path, name: &str) -> Result<bool, JournalError> {
    let path = dir.join(name);
    let there: io::Result<bool> = path.try_exists();
    there.map_err(|source| failed("reading", &path, source))
}
