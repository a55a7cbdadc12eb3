//! `riff-server backup` and `restore`: the log, the checkpoints and the tokens of a directory,
//! copied away and put back.

use std::path::{Path, PathBuf};

use clap::Args;
use riff_link::server::{
    journal::file::{self, Copied, Outcome},
    log,
};
use serde_json::json;

use super::{
    place,
    stop::Stop,
    tokens::{self, edit},
};
use crate::output;

#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The directory of the server.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
    /// The directory of the backup; made when it is missing, else it must be empty.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// The directory of the backup.
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The directory of the server; it may have tokens, but no log.
    #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
    dir: PathBuf,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(super) fn backup(Backup { dir, to, json }: &Backup) -> Result<(), Stop> {
    place::there(dir)?;
    place::free(to)?;
    let copied = file::backup(dir, to).map_err(|error| Stop::of(&error))?;
    starts(to)?;
    let tokens = copy_tokens(dir, to)?;
    tell("copied", &copied, tokens, *json)
}

pub(super) fn restore(Restore { from, dir, json }: &Restore) -> Result<(), Stop> {
    place::there(from)?;
    place::free(dir)?;
    if file::check(from)
        .map_err(|error| Stop::of(&error))?
        .segments
        == 0
    {
        return Err(Stop::Failed(format!("{} has no log", from.display())));
    }
    starts(from)?;
    let copied = file::restore(from, dir).map_err(|error| Stop::of(&error))?;
    let has = !edit::read(&dir.join(tokens::NAME))?.is_empty();
    let tokens = if has { 0 } else { copy_tokens(from, dir)? };
    if has {
        output::talk("the directory has tokens: those of the backup are left out");
    } else if tokens > 0 {
        output::talk(
            "the tokens are those of the backup: one that was revoked since is taken again; \
             `riff-server token list` shows them",
        );
    }
    tell("put back", &copied, tokens, *json)
}

/// Refuses a backup on which no server would start: it is as its source was.
fn starts(backup: &Path) -> Result<(), Stop> {
    let report = log::check(backup).map_err(|error| Stop::of(&error))?;
    let mut problems = report.problems.iter();
    match problems.find(|problem| problem.outcome == Outcome::StopsTheStart) {
        None => Ok(()),
        Some(problem) => Err(Stop::Failed(format!(
            "the backup is of no use, as no server starts on it: {}: {}; `riff-server log check` \
             tells more",
            problem.file, problem.what
        ))),
    }
}

/// Copies the tokens to a directory that has none; says how many.
fn copy_tokens(from: &Path, to: &Path) -> Result<usize, String> {
    let lines = edit::read(&from.join(tokens::NAME))?;
    let count = lines.len();
    if count > 0 {
        edit::edit(to, |new| {
            *new = lines;
            Ok(())
        })?;
    }
    Ok(count)
}

fn tell(done: &str, copied: &Copied, tokens: usize, json: bool) -> Result<(), Stop> {
    let Copied {
        first,
        last,
        segments,
        checkpoints,
        bytes,
        ..
    } = copied;
    if json {
        return Ok(output::json(&json!({
            "first": first,
            "last": last,
            "segments": segments,
            "checkpoints": checkpoints,
            "bytes": bytes,
            "tokens": tokens,
        }))?);
    }
    Ok(output::data(format_args!(
        "{done}: records {first} to {last}; segments: {segments}, checkpoints: {checkpoints}, \
         tokens: {tokens}, bytes: {bytes}"
    ))?)
}
