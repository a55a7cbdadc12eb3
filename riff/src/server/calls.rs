//! `riff-server calls`: what became of calls.
//!
//! | module | what |
//! |---|---|
//! | `list` | the newest calls of each caller, from the log, without a server |
//! | `ask` | what the running server knows of one call, and the settling of it |

mod ask;
mod list;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use riff_link::{CallId, Caller};

use super::stop::Stop;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lists the newest calls of each caller, the newest first, from the log in the directory.
    ///
    /// It needs no server, and harms none that runs.
    List {
        /// The directory of the server.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
        /// Only those of this caller.
        #[arg(long, value_name = "CALLER")]
        caller: Option<Caller>,
        /// The most calls of each caller.
        #[arg(long, value_name = "COUNT", default_value_t = 20)]
        most: usize,
        /// One JSON object a call.
        #[arg(long)]
        json: bool,
    },
    /// Asks the server what became of a call of the caller whose token is in `RIFF_TOKEN`.
    ///
    /// `unknown` says that it has not run, and still runs when it arrives; `forgotten`, that it
    /// may have run, and never runs any more.
    Show {
        /// The call ID.
        call: CallId,
        #[command(flatten)]
        at: At,
    },
    /// Settles a call of the caller whose token is in `RIFF_TOKEN`: one that the server does not
    /// know is written as cancelled, so that no late try of it can run.
    ///
    /// A call that ran or was refused stays as it is, and is told.
    Settle {
        /// The call ID.
        call: CallId,
        #[command(flatten)]
        at: At,
    },
}

#[derive(Debug, Args)]
pub(super) struct At {
    /// The URL of the server.
    #[arg(
        long,
        value_name = "URL",
        env = "RIFF_SERVER",
        default_value = "http://127.0.0.1:7433"
    )]
    server: String,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: Command) -> Result<(), Stop> {
    match command {
        Command::List {
            dir,
            caller,
            most,
            json,
        } => list::list(&dir, caller.as_ref(), most, json),
        Command::Show { call, at } => ask::show(&at, call),
        Command::Settle { call, at } => ask::settle(&at, call),
    }
}
