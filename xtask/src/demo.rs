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
    become_program(Command::new(demo).args(words))
}

/// The demo gets the terminal, the signals and the exit code as if it had been called itself.
#[cfg(unix)]
fn become_program(command: &mut Command) -> Result<(), Stop> {
    use std::os::unix::process::CommandExt;

    let why = command.exec();
    Err(Stop::Failed(format!("the demo cannot be run: {why}")))
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> Result<(), Stop> {
    let ended = command
        .status()
        .map_err(|why| Stop::Failed(format!("the demo cannot be run: {why}")))?;
    match ended.code().and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Ok(()),
        Some(code) => Err(Stop::Code(code)),
        None => Err(Stop::Failed("the demo was ended".to_owned())),
    }
}
