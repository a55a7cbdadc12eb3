//! The directory of a server, before anything is done with it.

use std::{fs, io, path::Path};

/// That the directory is there. Where it is not, what was typed is wrong, and nothing is made.
pub(super) fn there(dir: &Path) -> Result<(), String> {
    if exists(dir)? {
        Ok(())
    } else {
        Err(format!("there is no directory {}", dir.display()))
    }
}

/// That the directory is there or can be made: there is nothing else in its place.
pub(super) fn free(dir: &Path) -> Result<(), String> {
    exists(dir).map(drop)
}

fn exists(dir: &Path) -> Result<bool, String> {
    match fs::metadata(dir) {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(_) => Err(format!("{} is no directory", dir.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(format!("cannot read {}: {error}", dir.display())),
    }
}
