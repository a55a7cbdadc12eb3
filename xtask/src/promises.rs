//! Whether `docs/guarantees.md` names tests that exist: a promise without its test is none.

use std::{collections::HashSet, fs, path::Path};

use crate::{Stop, say, shell};

const PAGE: &str = "docs/guarantees.md";
/// The column of the page's tables in which the tests stand.
const COLUMN: &str = "shown by";

/// Looks for each test that the page names.
pub(crate) fn run() -> Result<(), Stop> {
    let root = shell::root();
    let page = fs::read_to_string(root.join(PAGE))
        .map_err(|error| Stop::Failed(format!("{PAGE} cannot be read: {error}")))?;
    let mut known = HashSet::new();
    sources(&root, &mut known)?;
    let rows = rows(&page);
    if rows.is_empty() {
        return Err(Stop::Failed(format!(
            "{PAGE} has no table with a column `{COLUMN}`"
        )));
    }
    let mut wrong = Vec::new();
    for row in &rows {
        if row.tests.is_empty() {
            wrong.push(format!("line {}: no test is named", row.line));
        }
        let missing = row.tests.iter().filter(|test| !known.contains(**test));
        wrong.extend(missing.map(|test| format!("line {}: there is no test `{test}`", row.line)));
    }
    if wrong.is_empty() {
        say::out(&format!("{} promises, each with its tests", rows.len()));
        return Ok(());
    }
    Err(Stop::Failed(format!("{PAGE}:\n  {}", wrong.join("\n  "))))
}

/// One promise and the tests that it names.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    /// From 1.
    line: usize,
    tests: Vec<&'a str>,
}

fn rows(page: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut column = None;
    for (n, line) in page.lines().enumerate() {
        let Some(inside) = line.strip_prefix('|').and_then(|l| l.strip_suffix('|')) else {
            column = None;
            continue;
        };
        let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
        let Some(column) = column else {
            column = cells.iter().position(|cell| *cell == COLUMN);
            continue;
        };
        let cell = cells.get(column).copied().unwrap_or_default();
        if cell.chars().all(|c| c == '-') && !cell.is_empty() {
            continue;
        }
        // What stands between backticks is at the odd places.
        let quoted = cell.split('`').skip(1).step_by(2);
        rows.push(Row {
            line: n + 1,
            tests: quoted.collect(),
        });
    }
    rows
}

/// The names of all functions in the sources, and of the gate's own runs.
fn sources(dir: &Path, known: &mut HashSet<String>) -> Result<(), Stop> {
    let unreadable = |error| Stop::Failed(format!("{} cannot be read: {error}", dir.display()));
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, known)?;
            }
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path)
                .map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))?;
            known.extend(functions(&text).map(str::to_owned));
        }
    }
    Ok(())
}

/// The functions whose attribute says that they are tests, and those that a `proptest!` holds.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            is_test = true;
            return None;
        }
        let line = line.strip_prefix("async ").unwrap_or(line);
        let name = line.strip_prefix("fn ")?;
        let name = name.split(['(', '<']).next();
        std::mem::take(&mut is_test).then_some(name).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_a_promise_are_read() {
        let page =
            "| promise | shown by |\n|---|---|\n| a | `one`, `two` |\n| b | nothing |\n\n| x |\n";
        let of = |line, tests: &[&'static str]| Row {
            line,
            tests: tests.to_vec(),
        };
        assert_eq!(rows(page), [of(3, &["one", "two"]), of(4, &[])]);
    }

    #[test]
    fn only_tests_count_as_tests() {
        let text = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test(start_paused = true)]\n\
                    #[cfg(unix)]\nasync fn three() {}\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), ["one", "three"]);
    }
}
