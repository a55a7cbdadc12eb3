//! The demo: commands through broken connections and a killed server, counted by the log.
//!
//! The server as a process is in the library beside it (`demo::world`), as other tests kill it, too.
//!
//! | file | what |
//! |---|---|
//! | `options` | the command line |
//! | `work` | who does what; decided by the seed |
//! | `load` | the callers at work, and what they were told |
//! | `reader` | the one who reads a stream along |
//! | `run` | one run from start to end |
//! | `audit` | the log against what was told |
//! | `show` | the one place that prints |

mod audit;
mod load;
mod options;
mod reader;
mod run;
mod show;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{options::Options, show::Talk};

/// What a shell gives for a program that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let options = Options::parse();
    let talk = Talk::new();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            talk.line(&format!("error: the runtime does not start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let json = options.json;
    let ended = runtime.block_on(async {
        // Whatever is dropped here ends its processes and takes its directory away.
        tokio::select! {
            ended = run::run(options, talk) => Some(ended),
            _ = tokio::signal::ctrl_c() => None,
        }
    });
    talk.wipe();
    match ended {
        None => {
            talk.line("interrupted");
            ExitCode::from(INTERRUPTED)
        }
        Some(Err(why)) => {
            talk.line(&format!("error: {why}"));
            ExitCode::FAILURE
        }
        Some(Ok(report)) => {
            if let Err(error) = report.print(json) {
                talk.line(&format!("error: the result cannot be written: {error}"));
                return ExitCode::FAILURE;
            }
            for line in &report.wrong {
                talk.wrong(line);
            }
            if report.wrong.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
