//! Builds the benchmark, which is a workspace of its own, and becomes it.

use std::process::Command;

use crate::{Stop, demo::become_program, shell};

/// Builds it optimized and runs it.
pub(crate) fn run(words: &[String]) -> Result<(), Stop> {
    let dir = shell::root().join("bench");
    let mut build = shell::cargo("build --release --quiet");
    shell::run(build.current_dir(&dir))?;
    let program = dir.join("target/release/bench");
    let why = become_program(Command::new(program).args(words));
    Err(Stop::Failed(format!("the benchmark cannot be run: {why}")))
}
