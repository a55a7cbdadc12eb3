//! From the text of link.toml to a [`Spec`], or to everything that is wrong with it.
//!
//! A file goes through three steps: TOML, which reads on after a fault; a draft, in which each
//! value has its type; and the rules. All of them add to one report.

mod path;
mod reader;
mod tables;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use toml::de::DeTable;

use crate::{
    check::check,
    model::Spec,
    report::{Problems, Report, shown},
    rule_id::RuleId,
    source::{Place, Source},
};

use self::reader::Reader;

/// Why there is no spec.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read, or is not UTF-8.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was read, and is wrong.
    #[error("{0}")]
    Refused(Report),
}

/// Reads and checks a text. `file` is its name, as a person knows it.
///
/// # Errors
///
/// With everything that is wrong, also when the text is not TOML.
pub fn parse(source: &str, file: &str) -> Result<Spec, Report> {
    let source = Source {
        name: file.to_owned(),
        text: source.to_owned(),
    };
    let mut reader = Reader {
        source: &source,
        problems: Problems::default(),
    };
    let (root, faults) = DeTable::parse_recoverable(&source.text);
    tell_faults(&mut reader, &faults);
    let draft = tables::draft(&mut reader, root.get_ref());
    let mut problems = reader.problems;
    check(&draft, &mut problems);
    if problems.is_empty()
        && let Some(spec) = draft.into_spec()
    {
        return Ok(spec);
    }
    Err(problems.into_report(source))
}

/// Reads and checks a file. Its name in a report is the path as given.
///
/// # Errors
///
/// When the file cannot be read, or with everything that is wrong with it.
pub fn read(path: &Path) -> Result<Spec, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| ReadError::Io {
        path: path.to_owned(),
        source,
    })?;
    parse(&text, &path.display().to_string()).map_err(ReadError::Refused)
}

fn tell_faults(reader: &mut Reader<'_>, faults: &[toml::de::Error]) {
    let source = reader.source;
    // All keys of a table that stands twice would be told too: up to here they follow from it.
    let mut told = 0;
    for fault in faults {
        let end = source.text.len();
        let place = source.place(fault.span().unwrap_or(end..end));
        // The parser has no kinds of errors; the golden reports tell when its words change.
        if fault.message() != "duplicate key" {
            let message = format!("this is not TOML: {}", fault.message());
            reader.problems.add(RuleId::Syntax, place, message);
        } else if place.start >= told {
            let is_header = source
                .line_text(source.line(place.start))
                .trim_start()
                .starts_with('[');
            let what = if is_header { "table" } else { "key" };
            if is_header {
                told = next_header(source, place);
            }
            reader.problems.add_with_help(
                RuleId::DuplicateKey,
                place,
                format!("the {what} {} stands twice", shown(source.slice(place))),
                "remove one of the two, or give it another name",
            );
        }
    }
}

/// Where the next table begins, or where the text ends.
fn next_header(source: &Source, place: Place) -> usize {
    let behind = source.line_end(place.start);
    let rest = source.text.get(behind..).unwrap_or("");
    rest.find("\n[")
        .map_or(source.text.len(), |found| behind + found + 1)
}
