//! All that the journal does to files and directories, one method each: apart, so that a test can
//! lose power between any two of them.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// What changes a disk. What it wrote is durable after a sync only: the bytes of a file after one
/// of the file, a new or a removed name after one of its directory.
pub(super) trait Disk: fmt::Debug + Send + Sync {
    /// Makes one directory; one that is there already will do.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes a file that must not be there yet.
    fn create(&self, path: &Path) -> io::Result<OpenFile>;
    fn open(&self, path: &Path) -> io::Result<OpenFile>;
    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn set_len(&self, file: &OpenFile, len: u64) -> io::Result<()>;
    /// Makes the bytes of a file durable.
    fn sync_data(&self, file: &OpenFile) -> io::Result<()>;
    /// Makes the bytes of a file durable, and what the system notes about it.
    fn sync_file(&self, file: &OpenFile) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name of the same directory, in place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// A file that is open for writing.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

/// The disk of this machine.
#[derive(Debug)]
pub(super) struct Machine;

impl Disk for Machine {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        match fs::create_dir(dir) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
            made => made,
        }
    }

    fn create(&self, path: &Path) -> io::Result<OpenFile> {
        // What people say to each other is not for every user of the machine.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        let path = path.into();
        Ok(OpenFile { path, file })
    }

    fn open(&self, path: &Path) -> io::Result<OpenFile> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let path = path.into();
        Ok(OpenFile { path, file })
    }

    fn write_at(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.file.write_all_at(bytes, offset)
    }

    fn set_len(&self, file: &OpenFile, len: u64) -> io::Result<()> {
        file.file.set_len(len)
    }

    fn sync_data(&self, file: &OpenFile) -> io::Result<()> {
        file.file.sync_data()
    }

    fn sync_file(&self, file: &OpenFile) -> io::Result<()> {
        file.file.sync_all()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// Makes a directory, and each one above it that is missing.
pub(super) fn create_dirs(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.is_dir())
        .collect();
    missing
        .into_iter()
        .rev()
        .try_for_each(|dir| disk.create_dir(dir))
}

/// Makes the name of a directory durable; with `far`, those of the directories above it too.
///
/// Whether this process made them is not asked: one that was killed may have, and synced nothing.
pub(super) fn sync_above(disk: &dyn Disk, dir: &Path, far: bool) -> io::Result<()> {
    let dir = dir.canonicalize()?;
    let above = dir.ancestors().skip(1);
    for above in above.take(if far { usize::MAX } else { 1 }) {
        match disk.sync_dir(above) {
            // Where nobody lets us in, or nothing can be made, or no directory can be synced,
            // there is nothing that we could do better.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied
                        | ErrorKind::ReadOnlyFilesystem
                        | ErrorKind::InvalidInput
                        | ErrorKind::Unsupported
                ) => {}
            done => done?,
        }
    }
    Ok(())
}
