//! `riff-server log`: what a log says, and whether it is whole.
//!
//! | module | what |
//! |---|---|
//! | `show` | each record, as a line or as JSON; also those that come |
//! | `check` | each problem of the files, and what a start does with it |
//! | `text` | one record as a line, and as JSON |

mod check;
mod show;
mod text;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::stop::Stop;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: Option<show::Wanted>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows each record of the log, also while the server runs.
    Show(show::Wanted),
    /// Looks for damage, and says what a start would do with it. Changes nothing.
    ///
    /// Each problem is a line on stdout: the file, the offset, the position, what is wrong, what a
    /// start does. Exit code 100 when there is one. Run it while no server writes the log: the
    /// end of a log in use may be half there.
    Check {
        /// The directory of the server.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
        /// One JSON object a problem.
        #[arg(long)]
        json: bool,
    },
    /// Writes all records to stdout, one JSON object a line.
    Export {
        /// The directory of the server.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
    },
}

pub(super) fn run(options: Options) -> Result<(), Stop> {
    match (options.command, options.show) {
        (Some(Command::Show(show)), _) | (None, Some(show)) => show::show(&show),
        (Some(Command::Check { dir, json }), _) => check::check(&dir, json),
        (Some(Command::Export { dir }), _) => show::export(&dir),
        (None, None) => Err(Stop::Usage("say what to do: show, check or export".into())),
    }
}
