//! Builds what the demo needs and becomes the demo.

use std::process::Command;

use crate::{Stop, say, shell};

/// Builds quietly, but for the first time, which takes a while, and runs the demo.
pub(crate) fn run(words: &[String]) -> Result<(), Stop> {
    let demo = shell::built("demo");
    let mut build = shell::cargo("build -p riff -p demo");
    if demo.exists() {
        build.arg("--quiet");
    } else {
        say::note("building riff-server and the demo, once");
    }
    shell::run(&mut build)?;
    let why = become_program(Command::new(demo).args(words));
    Err(Stop::Failed(format!("the demo cannot be run: {why}")))
}

/// The demo gets the terminal, the signals and the exit code as if it had been called itself.
/// Comes back only when it cannot be run.
#[cfg(unix)]
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(ended) => std::process::exit(ended.code().unwrap_or(1)),
        Err(why) => why,
    }
}
