//! The one place that prints: progress while it runs, the table and the JSON at the end.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use faults::{Counts, Kind};
use riff_link::client::Stats;
use serde_json::{Map, Value, json};

use crate::audit::Findings;

/// All that a run has to tell.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) commands: u64,
    pub(crate) callers: u64,
    pub(crate) link: Stats,
    pub(crate) proxy: Counts,
    pub(crate) kills: u64,
    pub(crate) messages: usize,
    pub(crate) findings: Findings,
    /// A line for each thing that is wrong.
    pub(crate) wrong: Vec<String>,
    pub(crate) took: Duration,
}

/// A line that is redrawn on a terminal; elsewhere, a line for each thing that happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk {
    terminal: bool,
    color: bool,
}

/// Takes the line away that the cursor is in.
const WIPE: &str = "\r\x1b[2K";

impl Talk {
    pub(crate) fn new() -> Self {
        let terminal = io::stderr().is_terminal();
        Self {
            terminal,
            color: terminal && wants_color(),
        }
    }

    /// Something happened.
    pub(crate) fn line(self, text: &str) {
        let wipe = if self.terminal { WIPE } else { "" };
        to_stderr(&format!("{wipe}{text}\n"));
    }

    /// How far it is; nothing where a line cannot be redrawn.
    pub(crate) fn progress(self, text: &str) {
        if self.terminal {
            let (dim, plain) = if self.color {
                ("\x1b[2m", "\x1b[0m")
            } else {
                ("", "")
            };
            to_stderr(&format!("{WIPE}{dim}{text}{plain}"));
        }
    }

    /// The progress is over.
    pub(crate) fn wipe(self) {
        if self.terminal {
            to_stderr(WIPE);
        }
    }

    /// What is wrong.
    pub(crate) fn wrong(self, text: &str) {
        let word = if self.color {
            "\x1b[31;1mwrong\x1b[0m"
        } else {
            "wrong"
        };
        self.line(&format!("{word}: {text}"));
    }
}

impl Report {
    /// Prints what was counted. With `json`, the standard output is for one object alone.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(crate) fn print(&self, json: bool) -> io::Result<()> {
        let color = wants_color();
        if json {
            to_stderr(&self.table(color && io::stderr().is_terminal()));
            writeln!(io::stdout(), "{}", self.json())
        } else {
            let table = self.table(color && io::stdout().is_terminal());
            io::stdout().write_all(table.as_bytes())
        }
    }

    fn table(&self, color: bool) -> String {
        let kinds: Vec<String> = Kind::ALL
            .into_iter()
            .map(|kind| {
                format!(
                    "{} {}",
                    self.proxy.of(kind),
                    kind.as_str().replace('_', " ")
                )
            })
            .collect();
        let (some, others) = kinds.split_at(kinds.len().div_ceil(2));
        let mut lines = vec![
            row(
                "commands",
                self.commands,
                &format!("by {} callers at once", self.callers),
            ),
            row(
                "calls",
                self.link.calls,
                "commands, and queries of a stream that catches up",
            ),
            row("tries", self.link.tries, ""),
            row(
                "faults",
                self.proxy.total(),
                &format!("{},", some.join(", ")),
            ),
            format!("{:40}{}", "", others.join(", ")),
            row(
                "repeats",
                self.proxy.repeats,
                "tries of what had run: the kept reply again",
            ),
            row(
                "server killed",
                self.kills,
                "by SIGKILL, and started again on its log",
            ),
            String::new(),
        ];
        let findings = &self.findings;
        let messages = format!("of {} that the log has", self.messages);
        for (name, cases, note) in [
            (
                "commands that ran twice",
                &findings.twice,
                "by the server's log",
            ),
            (
                "commands lost",
                &findings.lost,
                "acknowledged, and not in the log",
            ),
            ("commands without a reply", &findings.unknown, ""),
            (
                "stream messages lost",
                &findings.stream_lost,
                messages.as_str(),
            ),
            ("stream messages twice", &findings.stream_twice, ""),
        ] {
            let (start, end) = match (color, cases.is_empty()) {
                (false, _) => ("", ""),
                (true, true) => ("\x1b[32m", "\x1b[0m"),
                (true, false) => ("\x1b[31;1m", "\x1b[0m"),
            };
            lines.push(format!(
                "  {name:<28}{start}{:>8}{end}  {note}",
                cases.len()
            ));
        }
        lines.push(String::new());
        lines.push(format!(
            "  {:.1} s, seed {}",
            self.took.as_secs_f64(),
            self.seed
        ));
        lines
            .iter()
            .fold(String::new(), |table, line| table + line.trim_end() + "\n")
    }

    fn json(&self) -> Value {
        let by_kind: Map<String, Value> = Kind::ALL
            .into_iter()
            .map(|kind| (kind.as_str().to_owned(), self.proxy.of(kind).into()))
            .collect();
        let findings = &self.findings;
        json!({
            "seed": self.seed,
            "commands": self.commands,
            "callers": self.callers,
            "calls": self.link.calls,
            "tries": self.link.tries,
            "faults": self.proxy.total(),
            "faults_by_kind": by_kind,
            "repeats": self.proxy.repeats,
            "kills": self.kills,
            "twice": findings.twice.len(),
            "lost": findings.lost.len(),
            "refused": findings.refused.len(),
            "unknown": findings.unknown.len(),
            "not_sent": findings.not_sent.len(),
            "two_holders": findings.clashes.len(),
            "stream_lost": findings.stream_lost.len(),
            "stream_twice": findings.stream_twice.len(),
            "stream_wrong": findings.stream_wrong.len(),
            "wrong": self.wrong.len(),
            "seconds": (self.took.as_secs_f64() * 1000.0).round() / 1000.0,
        })
    }
}

fn row(name: &str, number: u64, note: &str) -> String {
    format!("  {name:<28}{number:>8}  {note}")
}

/// The promise of <https://no-color.org>: any value but an empty one.
fn wants_color() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn to_stderr(text: &str) {
    // Nobody is left to tell when the standard error is gone.
    let _ = io::stderr().write_all(text.as_bytes());
}
