//! Where an outbox is, when nobody says it.

use std::{env, path::PathBuf};

use super::OutboxError;

/// Below the directory in which programs keep their state.
const BELOW: &str = "riff-link/outbox";

pub(super) fn of_user() -> Result<PathBuf, OutboxError> {
    let dir = |name: &str| env::var_os(name).map(PathBuf::from);
    // By the XDG base directories, a path that is not absolute counts as none.
    let absolute = |path: &PathBuf| path.is_absolute();
    if let Some(state) = dir("XDG_STATE_HOME").filter(absolute) {
        return Ok(state.join(BELOW));
    }
    if let Some(local) = dir("LOCALAPPDATA").filter(|path| cfg!(windows) && absolute(path)) {
        return Ok(local.join(BELOW));
    }
    let home = dir("HOME").filter(absolute).ok_or(OutboxError::NoPlace)?;
    Ok(home.join(".local/state").join(BELOW))
}
