//! The chores of this workspace: the gate, the demo, and the tools that they need.

mod bench;
mod ci;
mod clock;
mod crash;
mod demo;
mod layers;
mod promises;
mod say;
mod shell;
mod tools;
mod tutorial;

use std::{env, process::ExitCode};

const USAGE: &str = "\
The chores of this workspace.

usage: cargo xtask <chore>

  ci [--keep-going] [STEP…]  the gate, or these steps of it; also `cargo ci`
  ci --list                  the steps of the gate
  bench server [OPTIONS]     measures the server; `--json`, `--quick`, `--only CASE`
  crash [OPTIONS]            kills a server at random moments; `--kills 1000` for a night
  demo [OPTIONS]             builds and runs the demo; also `cargo demo`, `cargo demo --help`
  generate                   writes what is generated anew
  layers                     who imports whom
  tutorial                   does the tutorial of the README
  tools                      installs cargo-deny and cargo-nextest where they are missing

exit codes: 0 ok, 1 failure, 2 usage; those of a program that is run are its own";

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let chore = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let done = match (chore.as_str(), rest.as_slice()) {
        ("bench", rest) => bench::run(rest),
        ("ci", rest) => ci::run(rest),
        ("crash", rest) => crash::run(rest),
        ("demo", rest) => demo::run(rest),
        ("layers", []) => layers::run(),
        ("generate", []) => ci::generate(),
        ("tutorial", []) => tutorial::run(),
        ("tools", []) => tools::all().map(|_| ()),
        ("help" | "--help" | "-h", []) => {
            say::out(USAGE);
            Ok(())
        }
        _ => Err(Stop::Usage(USAGE.to_owned())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Usage(text)) => {
            say::note(&text);
            ExitCode::from(2)
        }
        Err(Stop::Failed(text)) => {
            say::note(&format!("error: {text}"));
            ExitCode::FAILURE
        }
    }
}

/// Why a chore did not end well.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was not said right; the text says how it would be.
    Usage(String),
    /// It failed; the text says at what.
    Failed(String),
}
