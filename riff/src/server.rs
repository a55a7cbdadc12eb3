//! `riff-server`: one directory, one port.
//!
//! | module | what |
//! |---|---|
//! | `serve` | opens the log and answers until it is told to stop |
//! | `token` | makes, lists, rotates and revokes tokens |
//! | `tokens` | the file of tokens, read again when it changes |
//! | `log` | shows what a log says, and whether it is whole |
//! | `calls` | what became of calls |
//! | `backup` | copies what a directory has, and puts it back |
//! | `checkpoint` | makes the next start faster |
//! | `amount` | spans of time and sizes as they are typed |
//! | `place` | the directory, before anything is done with it |
//! | `stop` | how a command ends when it does not succeed |

mod amount;
mod backup;
mod calls;
mod checkpoint;
mod log;
mod place;
mod serve;
mod stop;
mod token;
mod tokens;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output;

/// A small coordination server for people and coding agents.
///
/// Everything that it keeps lies in one directory. It runs each command once, however often it
/// is sent, and answers only what is on the disk.
#[derive(Debug, Parser)]
#[command(
    name = "riff-server",
    version,
    after_help = "\
Examples:
  riff-server token add ann --dir ./riff-data     make a token for ann, and print it
  riff-server serve --dir ./riff-data             answer on 127.0.0.1:7433
  riff-server log show --dir ./riff-data          show each record of the log

Data is on stdout, talk on stderr.

Exit codes: 0 ok, 1 failure, 2 usage, 3 refused by the server, 4 outcome unknown (it may have run),
5 not reachable, 100 a check found something."
)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answers until SIGTERM or Ctrl-C, then writes what is queued and ends.
    ///
    /// The first line on stdout is `listening on ADDRESS`. A directory serves one process at a
    /// time.
    Serve(Box<serve::Options>),
    /// Makes, lists, rotates and revokes the tokens of callers.
    ///
    /// The directory keeps only their SHA-256, a line each in the file `tokens`. A running server
    /// takes a change at once. While the file has a line that is none, the tokens stay as they
    /// were, and the server says so.
    ///
    /// `riff-server token NAME` is short for `riff-server token add NAME`.
    Token(token::Options),
    /// Shows, checks and exports the log.
    ///
    /// `riff-server log --dir DIR` is short for `riff-server log show --dir DIR`.
    Log(log::Options),
    /// Tells what became of calls.
    #[command(subcommand)]
    Calls(calls::Command),
    /// Makes a checkpoint and prints its position, so that the next start is faster.
    ///
    /// No server may run on the directory: one that runs makes a checkpoint on SIGUSR1, and says
    /// its position on stderr.
    Checkpoint(checkpoint::Checkpoint),
    /// Copies log, checkpoints and tokens to another directory, also while the server runs.
    ///
    /// The copy has all that was acknowledged before it began, and is checked before the command
    /// ends.
    Backup(backup::Backup),
    /// Puts a backup back into a directory that has no log.
    ///
    /// What was acknowledged after the backup is lost. A client that has seen more than the backup
    /// has is told so, and nothing runs twice.
    Restore(backup::Restore),
}

/// Runs `riff-server`.
pub fn run(options: Options) -> ExitCode {
    let done = match options.command {
        Command::Serve(options) => serve::serve(&options),
        Command::Token(options) => token::run(options),
        Command::Log(options) => log::run(options),
        Command::Calls(command) => calls::run(command),
        Command::Checkpoint(options) => checkpoint::checkpoint(&options),
        Command::Backup(options) => backup::backup(&options),
        Command::Restore(options) => backup::restore(&options),
    };
    let Err(stop) = done else {
        return ExitCode::SUCCESS;
    };
    if let Some(text) = stop.text() {
        output::talk(format_args!("riff-server: {text}"));
    }
    ExitCode::from(stop.code())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_of_each_command_fit_together() {
        Options::command().debug_assert();
    }
}
