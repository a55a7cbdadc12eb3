//! Runs other programs from the root of the repository.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::Stop;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// A program that cargo has built.
pub(crate) fn built(name: &str) -> PathBuf {
    target()
        .join("debug")
        .join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// The cargo that runs this, with these words.
pub(crate) fn cargo(words: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.split_whitespace()).current_dir(root());
    command
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), Stop> {
    let shown = shown(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Stop::Failed(format!("`{shown}` failed ({status})"))),
        Err(why) => Err(Stop::Failed(format!("`{shown}` cannot be run: {why}"))),
    }
}

/// The first line that a command prints, if it can be run and does not fail.
pub(crate) fn first_line(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .next()
        .map(str::to_owned)
}

/// A search path with these folders before all others.
pub(crate) fn path_with(first: &[PathBuf]) -> OsString {
    let old = env::var_os("PATH").unwrap_or_default();
    let folders = first.iter().cloned().chain(env::split_paths(&old));
    env::join_paths(folders).unwrap_or(old)
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_stem()
        .unwrap_or_default();
    let words = command.get_args().map(|word| word.to_string_lossy());
    std::iter::once(program.to_string_lossy())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}
