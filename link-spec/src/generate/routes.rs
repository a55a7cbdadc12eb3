//! `routes.md`: all routes in one table, for a person who reviews a change.

use std::fmt::Write as _;

use crate::{
    duration,
    model::{Budget, Kind, Route, Spec, Within},
};

use super::hash::fingerprint;

/// The table of all routes, and of the budgets that they name.
pub(super) fn markdown(spec: &Spec, command: &str) -> String {
    let mut text = head(spec, command);
    let _ = writeln!(
        text,
        "# The routes of {}, line {}\n",
        *spec.link.name, *spec.link.line
    );
    text.push_str("| route | kind | method and path | budget | a retry | line |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for route in &spec.routes {
        let budget = spec
            .budget_of(route)
            .map_or("none", |budget| budget.name.as_str());
        let _ = writeln!(
            text,
            "| {}{} | {} | `{} {}` | {budget} | {} | {} |",
            *route.name,
            marks(route),
            route.kind,
            route.method,
            route.path.text,
            retry(route),
            spec.line_of(route),
        );
    }
    if !spec.budgets.is_empty() {
        text.push_str("\n## Budgets\n\n| budget | from the first try to the end | tries |\n");
        text.push_str("|---|---|---|\n");
        for budget in &spec.budgets {
            let tries = budget
                .tries
                .map_or_else(|| "as fit".to_owned(), |most| most.to_string());
            let _ = writeln!(
                text,
                "| {} | {} | {tries} |",
                *budget.name,
                within(spec, budget)
            );
        }
    }
    text
}

fn head(spec: &Spec, command: &str) -> String {
    format!(
        "<!-- Do not edit: made by riff-link {} of {}, fingerprint {}.\n     Make it again with: \
         {command} -->\n\n",
        env!("CARGO_PKG_VERSION"),
        spec.source.name,
        fingerprint(&spec.source.text),
    )
}

fn marks(route: &Route) -> String {
    let since = route.since.as_ref().map(|line| format!("since {line}"));
    let deprecated = route
        .deprecated
        .as_ref()
        .map(|text| format!("deprecated: {}", cell(text)));
    let marks: Vec<String> = since.into_iter().chain(deprecated).collect();
    if marks.is_empty() {
        String::new()
    } else {
        format!(" ({})", marks.join("; "))
    }
}

/// A text of the file in a cell: it ends neither the cell nor the row.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn retry(route: &Route) -> String {
    match route.kind {
        Kind::Query => "reads again; changes nothing".to_owned(),
        Kind::Signal => "says it again; the newest wins".to_owned(),
        Kind::Command => "same call ID, so it runs once".to_owned(),
        Kind::Stream => match (&route.cursor, &route.catch_up) {
            (Some(cursor), Some(catch_up)) => {
                format!(
                    "opened for ever; resumes after `{}` with `{}`",
                    **cursor, **catch_up
                )
            }
            _ => "opened for ever; what came meanwhile is lost".to_owned(),
        },
    }
}

fn within(spec: &Spec, budget: &Budget) -> String {
    let time = duration::text(spec.within(budget));
    match budget.within {
        Within::Time(_) => time,
        Within::Period => format!("the period of the sign of life, {time}"),
    }
}
