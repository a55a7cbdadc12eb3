//! `riff-link`: checks link.toml, lists its routes, and writes what is made of it.
//!
//! One file a subcommand; each gives what it found, and only `terminal` prints.

mod check;
mod difference;
mod failure;
mod generate;
mod locate;
mod routes;
mod terminal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::{
    failure::Failure,
    terminal::{Color, Terminal},
};

const CODES: &str = "Exit codes: 0 nothing is wrong, 100 something is (it was told), 1 the program \
                     failed, 2 the arguments are wrong.";

/// Checks link.toml, lists its routes, and writes what is made of it.
#[derive(Debug, Parser)]
#[command(name = "riff-link", version, after_help = CODES, propagate_version = true)]
struct Arguments {
    /// When to color: auto is on a terminal, and not when `NO_COLOR` is set.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Routes(routes::Arguments),
    Generate(generate::Arguments),
}

/// How a command ended that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Fine,
    Findings,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut terminal = Terminal::new(arguments.color);
    let done = match arguments.command {
        Command::Check(own) => check::run(&own, &mut terminal),
        Command::Routes(own) => routes::run(&own, &mut terminal),
        Command::Generate(own) => generate::run(&own, &mut terminal),
    };
    match done {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(100),
        // Whoever read the output has enough of it: `riff-link routes | head -1`.
        Err(Failure::Print(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            terminal.failure(&failure);
            ExitCode::FAILURE
        }
    }
}
