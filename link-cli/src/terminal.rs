//! The one place that prints: what a command gives goes to stdout, what it says of itself to
//! stderr.

use std::{
    env,
    error::Error as _,
    io::{self, IsTerminal as _, Write as _},
};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use clap::ValueEnum;
use link_spec::Report;

use crate::failure::Failure;

/// When output has color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that is not `dumb`, and when `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where a command prints.
#[derive(Debug)]
pub(crate) struct Terminal {
    out: io::Stdout,
    err: io::Stderr,
    color: bool,
}

impl Terminal {
    pub(crate) fn new(color: Color) -> Self {
        let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
        let out = io::stdout();
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
                !is_set("NO_COLOR") && !dumb && out.is_terminal()
            }
        };
        Self {
            out,
            err: io::stderr(),
            color,
        }
    }

    /// What was asked for. `text` ends its last line.
    pub(crate) fn give(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }

    /// One line for the person who waits.
    pub(crate) fn say(&mut self, line: &str) {
        // Nobody can be told that stderr is closed.
        let _ = writeln!(self.err, "{line}");
    }

    /// Why the program failed, with its causes.
    pub(crate) fn failure(&mut self, failure: &Failure) {
        let mut text = format!("error: {failure}");
        let mut cause = failure.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        self.say(&text);
    }

    /// All that is wrong with a link.toml, each with its line.
    pub(crate) fn report(&mut self, report: &Report) -> Result<(), Failure> {
        let renderer = if self.color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let source = report.source();
        let mut text = String::new();
        for problem in report.problems() {
            let place = problem.place;
            let mark = AnnotationKind::Primary.span(place.start..place.end);
            let snippet = Snippet::source(&source.text)
                .path(&source.name)
                .annotation(mark);
            let mut group = Level::ERROR
                .primary_title(&problem.message)
                .id(problem.rule.as_str())
                .element(snippet);
            if let Some(help) = &problem.help {
                group = group.element(Level::HELP.message(help));
            }
            text.push_str(&renderer.render(&[group]));
            text.push_str("\n\n");
        }
        self.give(&text)?;
        let count = report.problems().len();
        self.say(&format!("{}: {}", source.name, problems(count)));
        Ok(())
    }

    /// A line of a difference, colored by its sign.
    pub(crate) fn difference(&mut self, lines: &[String]) -> Result<(), Failure> {
        let mut text = String::new();
        for line in lines {
            let color = match line.as_bytes().first() {
                Some(b'+') => "\u{1b}[32m",
                Some(b'-') => "\u{1b}[31m",
                Some(b'@') => "\u{1b}[36m",
                _ => "",
            };
            if self.color && !color.is_empty() {
                text.push_str(color);
                text.push_str(line);
                text.push_str("\u{1b}[0m\n");
            } else {
                text.push_str(line);
                text.push('\n');
            }
        }
        self.give(&text)
    }
}

fn problems(count: usize) -> String {
    if count == 1 {
        "1 problem".to_owned()
    } else {
        format!("{count} problems")
    }
}
