//! `riff-server log check`: each problem of the files, and what a start does with it.

use std::path::Path;

use riff_link::{
    Position,
    server::{
        journal::file::{Outcome, Problem, ProblemKind, Report},
        log,
    },
};
use serde_json::{Value, json};

use crate::{
    output,
    server::{place, stop::Stop},
};

pub(super) fn check(dir: &Path, json: bool) -> Result<(), Stop> {
    place::there(dir)?;
    let report = log::check(dir).map_err(|error| Stop::of(&error))?;
    let found: Vec<Finding> = report.problems.iter().map(Finding::from).collect();
    for finding in &found {
        if json {
            output::json(&finding.object())?;
        } else {
            output::data(output::plain(&finding.line()))?;
        }
    }
    sum_up(&report, found.len());
    if found.is_empty() {
        Ok(())
    } else {
        Err(Stop::Findings)
    }
}

/// Something that is wrong.
struct Finding {
    file: String,
    offset: u64,
    position: Option<Position>,
    kind: &'static str,
    what: String,
    whole_after: u64,
    start: &'static str,
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Self {
        Self {
            file: problem.file.clone(),
            offset: problem.offset,
            position: problem.position,
            kind: kind(problem.kind),
            what: problem.what.clone(),
            whole_after: problem.whole_after,
            start: match problem.outcome {
                Outcome::CutsItAway => "cuts it away and goes on",
                Outcome::PassesItOver => "passes it over",
                Outcome::StopsTheStart => "changes nothing and stops",
                _ => "does what a newer program says",
            },
        }
    }
}

impl Finding {
    fn object(&self) -> Value {
        json!({
            "file": self.file,
            "offset": self.offset,
            "position": self.position,
            "kind": self.kind,
            "what": self.what,
            "whole_chunks_after": self.whole_after,
            "a_start": self.start,
        })
    }

    fn line(&self) -> String {
        // What has no place in a file is told by its position.
        let offset = (self.offset > 0).then(|| format!(" at {}", self.offset));
        let position = self.position.map(|at| format!(", position {at}"));
        let after = match self.whole_after {
            0 => String::new(),
            1 => "; a whole chunk comes after it".into(),
            count => format!("; {count} whole chunks come after it"),
        };
        format!(
            "{}{}{}: {}{after}; a start {}",
            self.file,
            offset.unwrap_or_default(),
            position.unwrap_or_default(),
            self.what,
            self.start
        )
    }
}

fn sum_up(report: &Report, found: usize) {
    let last = match (report.first, report.last) {
        (Some(first), Some(last)) => format!(" ({first} to {last})"),
        _ => String::new(),
    };
    let checkpoints: Vec<String> = report.checkpoints.iter().map(Position::to_string).collect();
    let checkpoints = if checkpoints.is_empty() {
        "no checkpoint".into()
    } else {
        format!("checkpoints at {}", checkpoints.join(", "))
    };
    let restored = if report.restored {
        "; it is a backup, and nothing was appended since"
    } else {
        ""
    };
    let problems = match found {
        0 => "nothing is wrong".into(),
        1 => "1 problem".into(),
        many => format!("{many} problems"),
    };
    output::talk(format_args!(
        "records: {}{last}; segments: {}, bytes: {}; {checkpoints}{restored}; {problems}",
        report.records, report.segments, report.bytes
    ));
}

fn kind(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Unreadable => "unreadable",
        ProblemKind::NotOurs => "not_ours",
        ProblemKind::OtherVersion => "other_version",
        ProblemKind::Header => "header",
        ProblemKind::OtherLog => "other_log",
        ProblemKind::Hole => "hole",
        ProblemKind::NoBeginning => "no_beginning",
        ProblemKind::Chunk => "chunk",
        ProblemKind::TornEnd => "torn_end",
        ProblemKind::Begun => "begun",
        ProblemKind::Checkpoint => "checkpoint",
        ProblemKind::CheckpointAhead => "checkpoint_ahead",
        ProblemKind::OtherCheckpoint => "other_checkpoint",
        ProblemKind::Record => "record",
        ProblemKind::Unfinished => "unfinished",
        _ => "other",
    }
}
