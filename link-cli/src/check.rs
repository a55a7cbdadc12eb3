//! `riff-link check`: everything that is wrong with a link.toml.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use link_spec::{Report, Source};
use serde_json::{Value, json};

use crate::{Outcome, failure::Failure, locate, terminal::Terminal};

const HELP: &str = "\
Example:
  riff-link check                      the link.toml here or above
  riff-link check --format json a.toml

JSON: {\"file\", \"problems\": [{\"rule\", \"message\", \"help\", \"line\", \"column\", \"end_line\",
\"end_column\", \"start\", \"end\"}]}. Lines and columns count from 1, columns in characters; start
and end are bytes.

Exit codes: 0 nothing is wrong, 100 something is, 1 the file cannot be read, 2 the arguments are
wrong.";

/// Tells everything that is wrong with a link.toml.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The file; else the link.toml of this directory or the nearest above it.
    file: Option<PathBuf>,
    /// How findings are given.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// With the lines of the file, for a person.
    #[default]
    Text,
    /// One JSON object, for a program.
    Json,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Failure> {
    let path = locate::locate(arguments.file.as_deref())?;
    let checked = locate::read(&path)?;
    let outcome = if checked.is_ok() {
        Outcome::Fine
    } else {
        Outcome::Findings
    };
    match (arguments.format, &checked) {
        (Format::Json, _) => {
            let report = checked.as_ref().err();
            terminal.give(&format!(
                "{:#}\n",
                as_json(&path.display().to_string(), report)
            ))?;
        }
        (Format::Text, Err(report)) => terminal.report(report)?,
        (Format::Text, Ok(spec)) => {
            let (name, line, count) = (&*spec.link.name, &*spec.link.line, spec.routes.len());
            terminal.say(&format!(
                "{}: {name} {line}, {count} routes, nothing is wrong",
                spec.source.name
            ));
        }
    }
    Ok(outcome)
}

fn as_json(file: &str, report: Option<&Report>) -> Value {
    let problems: Vec<Value> = report
        .map(|report| {
            report
                .problems()
                .iter()
                .map(|one| problem(report.source(), one))
                .collect()
        })
        .unwrap_or_default();
    json!({ "file": file, "problems": problems })
}

fn problem(source: &Source, problem: &link_spec::Problem) -> Value {
    let place = problem.place;
    json!({
        "rule": problem.rule.as_str(),
        "message": problem.message,
        "help": problem.help,
        "line": source.line(place.start),
        "column": source.column(place.start),
        "end_line": source.line(place.end),
        "end_column": source.column(place.end),
        "start": place.start,
        "end": place.end,
    })
}
