//! `riff-server`: one directory, one port.
//!
//! | module | what |
//! |---|---|
//! | `serve` | opens the log and answers until it is told to stop |
//! | `stop` | how a command ends when it does not succeed |
//! | `token` | makes a token for a caller |
//! | `tokens` | the file of tokens, read again when it changes |
//! | `log` | shows what a log says |

mod log;
mod serve;
mod stop;
mod token;
mod tokens;

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use riff_link::Caller;

use self::stop::Stop;
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
  riff-server token ann --dir ./riff-data     make a token for ann, and print it
  riff-server serve --dir ./riff-data         answer on 127.0.0.1:7433
  riff-server log --dir ./riff-data           show each record of the log

Exit codes: 0 ok, 1 failure, 2 usage."
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
    /// time. Plain HTTP: put a front end with TLS before it where the network is not yours.
    Serve {
        /// The directory of the log and the tokens; made when it is missing.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
        /// The address and port; port 0 takes a free one.
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7433")]
        listen: SocketAddr,
    },
    /// Makes a new token for a caller and prints it, alone, on stdout.
    ///
    /// The directory keeps only its SHA-256, a line in the file `tokens`. A running server takes it
    /// at once. Each token of a caller stands for the same caller. To revoke a token, remove its
    /// line: the next request with it is refused, and streams that are open go on until they end,
    /// which is within an hour. While the file has a line that is none, the tokens stay as they
    /// were, and the server says so.
    Token {
        /// The name of the caller: 1 to 128 visible ASCII characters.
        caller: Caller,
        /// The directory of the server.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
    },
    /// Shows each record of the log, also while the server runs.
    Log {
        /// The directory of the server.
        #[arg(long, value_name = "DIR", env = "RIFF_DIR")]
        dir: PathBuf,
        /// One JSON object a record.
        #[arg(long)]
        json: bool,
    },
}

/// Runs `riff-server`.
pub fn run(options: Options) -> ExitCode {
    let done = match options.command {
        Command::Serve { dir, listen } => serve::serve(&dir, listen),
        Command::Token { caller, dir } => token::token(&caller, &dir),
        Command::Log { dir, json } => log::show(&dir, json),
    };
    match done {
        Ok(()) | Err(Stop::Enough) => ExitCode::SUCCESS,
        Err(Stop::Failed(text)) => {
            output::talk(format_args!("riff-server: {text}"));
            ExitCode::FAILURE
        }
    }
}
