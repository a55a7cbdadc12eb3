//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Kills a real `riff-server` (SIGKILL) at random moments while callers send commands to it, and
/// then holds its log against each reply that it gave.
///
/// Each caller sends a command until it has a reply, sends old ones again and compares the bytes,
/// hangs up in the middle, and settles what it gave up. The server makes checkpoints all the
/// time, so that each start is from another one.
///
/// Exit codes: 0 all that was said is true, 1 something is not or failed, 2 usage.
#[derive(Debug, Clone, Parser)]
#[command(name = "crash", version)]
pub(crate) struct Options {
    /// Decides who sends what and when the server dies; printed at the start [default: another
    /// one each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// How often the server is killed
    #[arg(long, value_name = "N", default_value_t = 24,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) kills: u64,

    /// How many callers send at the same time
    #[arg(long, value_name = "N", default_value_t = 6,
          value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) callers: u64,

    /// Prints one JSON object to the standard output
    #[arg(long)]
    pub(crate) json: bool,

    /// The server to run [default: the `riff-server` beside this program]
    #[arg(long, value_name = "PATH")]
    pub(crate) server: Option<PathBuf>,

    /// Forgets a call ID now and then: each of these is sent again under another one, so that
    /// the audit must find commands that ran twice
    #[arg(long, hide_short_help = true)]
    pub(crate) sabotage: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_options_fit_together() {
        Options::command().debug_assert();
    }
}
