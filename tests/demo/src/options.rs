//! The command line of the demo.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use faults::Sabotage;

/// Runs commands through connections that break and a server that is killed, and counts, by the
/// server's log, what was lost and what ran twice.
///
/// A real `riff-server` runs on a fresh directory behind a proxy that refuses, cuts, resets and
/// freezes connections, and answers 502 now and then. Some callers post, claim and release at
/// once; another one reads along. The server is killed (SIGKILL) twice. At the end the log, not
/// the client, is asked what ran.
///
/// Exit codes: 0 nothing lost and nothing twice, 1 a number is wrong or something failed, 2 usage.
#[derive(Debug, Clone, Parser)]
#[command(name = "demo", version)]
pub(crate) struct Options {
    /// Decides the faults and who does what; printed at the start [default: another one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// How many commands are sent
    #[arg(long, value_name = "N", default_value_t = 400,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) commands: u64,

    /// How many callers send them, at the same time
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) callers: u64,

    /// Prints one JSON object to the standard output, and the table to the standard error
    #[arg(long)]
    pub(crate) json: bool,

    /// Takes one protection away: the demo must then fail
    ///
    /// It shows that the zeros are counted. `call-id`: each try of a command gets a call ID of its
    /// own, so the server cannot know a repeat, and commands run twice. `reply`: one command is
    /// answered with the reply to another and never reaches the server, so it is lost. `event`:
    /// one message is taken out of the live stream, so the reader never sees it.
    #[arg(long, value_name = "WHAT", hide_short_help = true)]
    pub(crate) sabotage: Option<Protection>,

    /// The server to run [default: the `riff-server` beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,
}

/// What can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protection {
    /// A command keeps its call ID in each of its tries.
    CallId,
    /// A reply is the one to this command.
    Reply,
    /// A stream has each event.
    Event,
}

impl From<Protection> for Sabotage {
    fn from(protection: Protection) -> Self {
        match protection {
            Protection::CallId => Self::OtherCallId,
            Protection::Reply => Self::FakeReply,
            Protection::Event => Self::DropEvent,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_options_fit_together() {
        Options::command().debug_assert();
    }

    #[test]
    fn a_sabotage_stands_in_the_long_help_only() {
        let mut command = Options::command();
        assert!(!command.render_help().to_string().contains("--sabotage"));
        assert!(
            command
                .render_long_help()
                .to_string()
                .contains("--sabotage")
        );
    }
}
