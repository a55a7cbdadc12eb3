//! Ours beside the floor, in one run on one machine: ratios, with their spread.
//!
//! | file | what |
//! |---|---|
//! | `app` | the application that is measured: a small command |
//! | `load` | so many commands in flight, for a while |
//! | `cases` | what is compared with what |
//! | `http` | ours over HTTP beside other servers that run a command once |
//! | `fresh` | a start in a process of its own: how long it takes, and what it holds |
//! | `row` | one result, for people and as JSON |

mod app;
mod cases;
mod fresh;
mod http;
mod load;
mod row;

use std::process::ExitCode;

const USAGE: &str = "usage: bench server [--json] [--quick] [--only CASE]

cases: command repeat query start memory checkpoint http
A goal that does not hold is said, and is no failure.";

/// What was asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    json: bool,
    /// Short rounds: to see that it runs, not what it gives.
    quick: bool,
    only: Option<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [fresh::CHILD, keeps, dir] = words.as_slice() {
        return fresh::child(keeps, dir.as_ref());
    }
    if let [http::CHILD, name] = words.as_slice() {
        return http::child(name);
    }
    let Some(asked) = asked(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match cases::run(&asked) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn asked(words: &[&str]) -> Option<Asked> {
    let ["server", rest @ ..] = words else {
        return None;
    };
    let mut asked = Asked::default();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--json" => asked.json = true,
            "--quick" => asked.quick = true,
            "--only" => asked.only = Some((*rest.next()?).to_owned()),
            _ => return None,
        }
    }
    let known = |name: &String| cases::NAMES.contains(&name.as_str());
    asked.only.as_ref().is_none_or(known).then_some(asked)
}
