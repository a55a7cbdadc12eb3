//! The one place that prints.

use std::io::Write as _;

use crate::killer::Report;

/// How many faults are shown.
const SHOWN: usize = 10;

/// A line for a person.
pub(crate) fn line(text: &str) {
    // Whoever closed the pipe has read enough.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What a run came to.
pub(crate) fn report(report: &Report, json: bool) {
    let counts = &report.counts;
    line(&format!(
        "{} commands came to an end in {} tries ({} sent again and compared); {} kills; {} wrong",
        counts.told,
        report.tries,
        report.repeats,
        report.kills,
        report.wrong.len()
    ));
    for wrong in report.wrong.iter().take(SHOWN) {
        line(&format!("wrong: {wrong}"));
    }
    if json {
        let object = serde_json::json!({
            "seed": report.seed,
            "kills": report.kills,
            "tries": report.tries,
            "repeats": report.repeats,
            "forgotten": report.forgotten,
            "told": counts.told,
            "acknowledged": counts.acknowledged,
            "refused": counts.refused,
            "cancelled": counts.cancelled,
            "runs": counts.runs,
            "wrong": report.wrong,
        });
        let _ = writeln!(std::io::stdout(), "{object}");
    }
}
