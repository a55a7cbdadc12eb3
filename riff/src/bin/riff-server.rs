//! The program `riff-server`.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    riff::server::run(riff::server::Options::parse())
}
