//! `riff-link routes`: the routes of a link.toml, as a table or as JSON.

use std::path::PathBuf;

use clap::Args;
use link_spec::{Outbox, Route, Spec};
use serde_json::{Value, json};

use crate::{Outcome, failure::Failure, locate, terminal::Terminal};

const HELP: &str = "\
Example:
  riff-link routes
  riff-link routes --json | jq -r '.[] | select(.kind == \"command\") | .path'

JSON: [{\"name\", \"kind\", \"method\", \"path\", \"budget\": {\"name\", \"within_ms\", \"tries\"} or null,
\"outbox_ms\", \"cursor\", \"catch_up\", \"since\", \"deprecated\", \"line\"}], in the order of the file.
\"tries\" is null for as many as fit; \"outbox_ms\" is 0 for \"no\", and null where the route does not
say.

Exit codes: 0 the routes were given, 100 the file is wrong, 1 it cannot be read, 2 the arguments are
wrong.";

/// Lists the routes of a link.toml, in the order of the file.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The file; else the link.toml of this directory or the nearest above it.
    file: Option<PathBuf>,
    /// As JSON, for a program.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Failure> {
    let path = locate::locate(arguments.file.as_deref())?;
    let spec = match locate::read(&path)? {
        Ok(spec) => spec,
        Err(report) => {
            terminal.report(&report)?;
            return Ok(Outcome::Findings);
        }
    };
    let text = if arguments.json {
        let routes: Vec<Value> = spec
            .routes
            .iter()
            .map(|route| as_json(&spec, route))
            .collect();
        format!("{:#}\n", Value::Array(routes))
    } else {
        table(&spec)
    };
    terminal.give(&text)?;
    Ok(Outcome::Fine)
}

fn table(spec: &Spec) -> String {
    let head = ["NAME", "KIND", "METHOD", "PATH", "BUDGET", "LINE"].map(str::to_owned);
    let rows: Vec<[String; 6]> = [head]
        .into_iter()
        .chain(spec.routes.iter().map(|route| row(spec, route)))
        .collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn row(spec: &Spec, route: &Route) -> [String; 6] {
    let budget = spec.budget_of(route).map_or_else(
        || "-".to_owned(),
        |budget| format!("{} {:?}", *budget.name, spec.within(budget)),
    );
    [
        route.name.value.clone(),
        route.kind.to_string(),
        route.method.to_string(),
        route.path.text.clone(),
        budget,
        spec.line_of(route).to_string(),
    ]
}

fn as_json(spec: &Spec, route: &Route) -> Value {
    let budget = spec.budget_of(route).map(|budget| {
        json!({
            "name": *budget.name,
            "within_ms": millis(spec.within(budget)),
            "tries": budget.tries,
        })
    });
    let outbox_ms = route.outbox.as_ref().map(|outbox| match outbox.value {
        Outbox::No => 0,
        Outbox::Within(time) => millis(time),
    });
    json!({
        "name": *route.name,
        "kind": route.kind.as_str(),
        "method": route.method.as_str(),
        "path": route.path.text,
        "budget": budget,
        "outbox_ms": outbox_ms,
        "cursor": route.cursor.as_deref(),
        "catch_up": route.catch_up.as_deref(),
        "since": route.since,
        "deprecated": route.deprecated,
        "line": spec.line_of(route),
    })
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
