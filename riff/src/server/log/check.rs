//! `riff-server log check`: each problem of the files, and what a start does with it.

use std::path::Path;

use riff_link::{
    Position,
    server::{
        journal::file::{self, Outcome, Problem, ProblemKind, Report},
        log::{self, LogError},
    },
};
use serde_json::{Value, json};

use crate::{
    output,
    server::{place, stop, stop::Stop},
};

pub(super) fn check(dir: &Path, json: bool) -> Result<(), Stop> {
    place::there(dir)?;
    let report = file::check(dir).map_err(|error| Stop::of(&error))?;
    let mut found: Vec<Finding> = report.problems.iter().map(Finding::from).collect();
    // Damage of the files is told already, and what the records say is looked at up to it.
    found.extend(unreadable(dir));
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
    offset: Option<u64>,
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
            offset: Some(problem.offset),
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
        let offset = self.offset.map(|offset| format!(" at {offset}"));
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

/// The first record that is whole and makes no sense.
fn unreadable(dir: &Path) -> Option<Finding> {
    let error = log::read(dir).ok()?.find_map(Result::err)?;
    let LogError::Record { position, .. } = error else {
        return None;
    };
    Some(Finding {
        file: dir.display().to_string(),
        offset: None,
        position: Some(position),
        kind: "record",
        what: stop::text(&error),
        whole_after: 0,
        start: "changes nothing and stops, unless a checkpoint is behind it",
    })
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
        ProblemKind::Unfinished => "unfinished",
        _ => "other",
    }
}
