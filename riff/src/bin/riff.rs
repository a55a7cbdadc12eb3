//! The program `riff`.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    riff::command::run(riff::command::Options::parse())
}
