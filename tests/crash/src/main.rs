//! Kills a real server at random moments under load, and holds its log against what it said.
//!
//! | file | what |
//! |---|---|
//! | `options` | the command line |
//! | `chance` | the seed, and what follows from it |
//! | `wire` | requests by hand: their IDs, tries and positions are the test's own |
//! | `writer` | a caller that sends, repeats, gives up and settles |
//! | `killer` | kills the server and starts it again |
//! | `audit` | the log against all that was said |
//! | `say` | the one place that prints |

mod audit;
mod chance;
mod killer;
mod options;
mod say;
mod wire;
mod writer;

use std::process::ExitCode;

use clap::Parser as _;

use crate::options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(killer::run(&options)),
        Err(error) => Err(format!("the runtime does not start: {error}")),
    };
    match ended {
        Ok(report) => {
            say::report(&report, options.json);
            if report.wrong.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(why) => {
            say::line(&format!("error: {why}"));
            ExitCode::FAILURE
        }
    }
}
