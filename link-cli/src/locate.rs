//! Which link.toml is meant, and reading it.

use std::{
    env,
    path::{Path, PathBuf},
};

use link_spec::{ReadError, Report, Spec};

use crate::failure::Failure;

/// The named file, or the link.toml of the working directory or the nearest one above it.
///
/// A found one is given as a person would write it: `link.toml`, `../link.toml`.
pub(crate) fn locate(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let from = env::current_dir().map_err(|source| Failure::Read {
        path: PathBuf::from("."),
        source,
    })?;
    let mut shown = PathBuf::new();
    for dir in from.ancestors() {
        if dir.join("link.toml").is_file() {
            return Ok(shown.join("link.toml"));
        }
        shown.push("..");
    }
    Err(Failure::NotFound { from })
}

/// Reads a link.toml: the spec, or what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Result<Spec, Report>, Failure> {
    match link_spec::read(path) {
        Ok(spec) => Ok(Ok(spec)),
        Err(ReadError::Refused(report)) => Ok(Err(report)),
        Err(ReadError::Io { path, source }) => Err(Failure::Read { path, source }),
    }
}
