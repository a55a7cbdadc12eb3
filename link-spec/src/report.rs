//! All that is wrong with a file, with its places, and the one way to draw a place in plain text.

use std::{
    error,
    fmt::{self, Write as _},
};

use crate::{
    rule_id::RuleId,
    source::{Place, Source},
};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What it breaks.
    pub rule: RuleId,
    /// Where it stands.
    pub place: Place,
    /// What is wrong, in one line.
    pub message: String,
    /// What would be right, in one line.
    pub help: Option<String>,
}

/// Why a file is refused: everything that is wrong with it, in the order of the file.
///
/// Its text is a frame for each problem, with the line of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    source: Source,
    problems: Vec<Problem>,
}

impl Report {
    /// The file that it speaks of.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Everything that is wrong, in the order of the file. At least one.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The text of one problem: its place, its frame, and what would be right.
    pub fn render(&self, problem: &Problem) -> String {
        let Problem {
            rule,
            place,
            message,
            help,
        } = problem;
        let at = location(&self.source, *place);
        let lines = lines(&self.source, *place, "");
        let mut text = format!("{at}: error[{rule}]: {message}\n{lines}");
        if let Some(help) = help {
            let gutter = gutter(&self.source, *place);
            let _ = write!(text, "\n{gutter} = help: {help}");
        }
        text
    }
}

impl error::Error for Report {}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            f.write_str(&self.render(problem))?;
        }
        Ok(())
    }
}

/// Draws a place: file, line and column, the line of the source, and what is said of it.
///
/// A place of several lines is drawn to the end of its first one. There is no line break at the
/// end.
pub fn frame(source: &Source, place: Place, label: &str) -> String {
    let gutter = gutter(source, place);
    let arrow_gutter = gutter.get(1..).unwrap_or("");
    format!(
        "{arrow_gutter}--> {}\n{}",
        location(source, place),
        lines(source, place, label)
    )
}

/// A word of the file as it stands in a message: on one line, and cut where it is long.
pub(crate) fn shown(word: &str) -> String {
    const MOST: usize = 60;
    let escape = |letter: char| -> String {
        if letter.is_control() {
            letter.escape_debug().collect()
        } else {
            letter.to_string()
        }
    };
    let start: String = word.chars().take(MOST).map(escape).collect();
    let cut = if word.chars().nth(MOST).is_some() {
        "…"
    } else {
        ""
    };
    format!("`{start}{cut}`")
}

fn location(source: &Source, place: Place) -> String {
    format!(
        "{}:{}:{}",
        source.name,
        source.line(place.start),
        source.column(place.start)
    )
}

/// As wide as the line number, and one space more.
fn gutter(source: &Source, place: Place) -> String {
    " ".repeat(source.line(place.start).to_string().len() + 1)
}

fn lines(source: &Source, place: Place, label: &str) -> String {
    let line = source.line(place.start);
    let text = source.line_text(line);
    let before = usize::try_from(source.column(place.start))
        .unwrap_or(1)
        .saturating_sub(1);
    // A tab stays a tab, so that the marks stand below what they mark at every tab width.
    let pad: String = text
        .chars()
        .take(before)
        .map(|letter| if letter == '\t' { '\t' } else { ' ' })
        .collect();
    let marked = source.slice(place).lines().next().unwrap_or("");
    let marks = "^".repeat(marked.chars().count().max(1));
    let gutter = gutter(source, place);
    let shown = format!("{line} | {text}");
    let below = format!("{gutter}| {pad}{marks} {label}");
    format!("{gutter}|\n{}\n{}", shown.trim_end(), below.trim_end())
}

/// Collects problems while a file is read and checked.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    all: Vec<Problem>,
}

impl Problems {
    /// Adds a problem without a help.
    pub(crate) fn add(&mut self, rule: RuleId, place: Place, message: impl Into<String>) {
        self.all.push(Problem {
            rule,
            place,
            message: message.into(),
            help: None,
        });
    }

    /// Adds a problem with what would be right.
    pub(crate) fn add_with_help(
        &mut self,
        rule: RuleId,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (message, help) = (message.into(), Some(help.into()));
        self.all.push(Problem {
            rule,
            place,
            message,
            help,
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The report of a source, in the order of the file.
    ///
    /// When the file is not TOML, what follows from the part that was not read is left out.
    pub(crate) fn into_report(mut self, source: Source) -> Report {
        let unread: Vec<u32> = self
            .all
            .iter()
            .filter(|problem| problem.rule == RuleId::Syntax)
            .map(|problem| source.line(problem.place.start))
            .collect();
        if !unread.is_empty() {
            self.all.retain(|problem| {
                problem.rule == RuleId::Syntax
                    || !problem.rule.concludes_from_absence()
                        && !unread.contains(&source.line(problem.place.start))
            });
        }
        self.all
            .sort_by_key(|problem| (problem.place, problem.rule));
        self.all.dedup();
        Report {
            source,
            problems: self.all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source {
            name: "link.toml".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_frame_marks_the_place_below_its_line() {
        let source = source("[link]\n\tname = \"Riff\"\n");
        let place = source.place(15..21);
        assert_eq!(
            frame(&source, place, "not a name"),
            " --> link.toml:2:9\n  |\n2 | \tname = \"Riff\"\n  | \t       ^^^^^^ not a name"
        );
    }

    #[test]
    fn a_place_of_several_lines_is_marked_to_the_end_of_the_first() {
        let source = source("a = [\n  1,\n]\n");
        assert_eq!(
            frame(&source, source.place(4..12), ""),
            " --> link.toml:1:5\n  |\n1 | a = [\n  |     ^"
        );
    }

    #[test]
    fn an_empty_place_gets_one_mark() {
        let source = source("");
        assert_eq!(
            frame(&source, source.place(0..0), "x"),
            " --> link.toml:1:1\n  |\n1 |\n  | ^ x"
        );
    }
}
