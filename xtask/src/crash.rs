//! Builds what the crash test needs and becomes it.

use std::process::Command;

use crate::{Stop, demo::become_program, say, shell};

/// Builds quietly, but for the first time, and runs the crash test.
pub(crate) fn run(words: &[String]) -> Result<(), Stop> {
    let crash = shell::built("crash");
    let mut build = shell::cargo("build -p riff -p crash");
    if crash.exists() {
        build.arg("--quiet");
    } else {
        say::note("building riff-server and the crash test, once");
    }
    shell::run(&mut build)?;
    let why = become_program(Command::new(crash).args(words));
    Err(Stop::Failed(format!("the crash test cannot be run: {why}")))
}
