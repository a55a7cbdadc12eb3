//! The tutorial of the README, done as a reader would: built, run, and each step forgotten once.
//!
//! The blocks of the page are found by the comments `<!-- tutorial: … -->` before them.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{self, Command, Output},
};

use crate::{Stop, shell};

/// The steps of "Add a route", each of which is forgotten once.
const STEPS: [&str; 3] = ["link.toml", "trait Tally", "impl TallyHandlers"];

/// Does the tutorial.
pub(crate) fn run() -> Result<(), Stop> {
    let page = read(&shell::root().join("README.md"))?;
    let package = Package::fresh()?;
    package.write("Cargo.toml", &block(&page, "Cargo.toml")?)?;
    let begun = Sources {
        link: block(&page, "link.toml")?,
        main: block(&page, "src/main.rs")?,
    };
    package.lay(&begun)?;
    let told = block(&page, "output")?;
    let wanted: Vec<&str> = told.lines().filter(|line| !line.starts_with('$')).collect();
    for line in &wanted {
        let output = package.cargo("run --quiet")?;
        let given = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || given.trim_end() != *line {
            return Err(failed("the program", line, &output));
        }
    }
    let forgotten = table(&page, "forgotten")?;
    let mut whole = begun.clone();
    for step in STEPS {
        whole.add(step, &block(&page, &format!("+ {step}"))?)?;
    }
    for left_out in STEPS {
        let mut sources = begun.clone();
        for step in STEPS.into_iter().filter(|step| *step != left_out) {
            sources.add(step, &block(&page, &format!("+ {step}"))?)?;
        }
        package.lay(&sources)?;
        package.misses(left_out, &forgotten)?;
    }
    package.lay(&whole)?;
    let output = package.cargo("check --quiet")?;
    if !output.status.success() {
        return Err(failed("the route with all its steps", "no error", &output));
    }
    // Nothing but link.toml changes here, so it is the edit that must compile the crate again.
    package.write("link.toml", &begun.link)?;
    package.misses("link.toml", &forgotten)
}

fn failed(what: &str, wanted: &str, output: &Output) -> Stop {
    Stop::Failed(format!(
        "README.md: {what} should give `{wanted}`, and gives\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

#[derive(Clone)]
struct Sources {
    link: String,
    main: String,
}

impl Sources {
    /// Adds the lines of a step where the page says: at the end of link.toml, of the trait, of the
    /// impl.
    fn add(&mut self, step: &str, lines: &str) -> Result<(), Stop> {
        if step == "link.toml" {
            self.link.extend(["\n", lines]);
            return Ok(());
        }
        let end = self
            .main
            .find(step)
            .and_then(|item| self.main[item..].find("\n}\n").map(|end| item + end + 1))
            .ok_or_else(|| Stop::Failed(format!("README.md: there is no `{step}` to add to")))?;
        self.main.insert_str(end, &format!("\n{lines}"));
        Ok(())
    }
}

/// The reader's folder, with the clone beside it. It goes when the value does.
struct Package {
    /// The folder that both lie in.
    around: PathBuf,
    folder: PathBuf,
}

impl Package {
    /// In the system's folder for temporary files, since a folder below the workspace would be
    /// taken for a part of it, which the reader's is not.
    fn fresh() -> Result<Self, Stop> {
        let around = env::temp_dir().join(format!("riff-tutorial-{}", process::id()));
        let package = Self {
            folder: around.join("tally"),
            around,
        };
        let source = package.folder.join("src");
        fs::create_dir_all(&source).map_err(|why| at(&source, &why))?;
        let clone = package.around.join("riff-link");
        symlink(shell::root(), &clone).map_err(|why| at(&clone, &why))?;
        Ok(package)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Stop> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|why| at(&path, &why))
    }

    fn lay(&self, sources: &Sources) -> Result<(), Stop> {
        self.write("link.toml", &sources.link)?;
        self.write("src/main.rs", &sources.main)
    }

    /// Holds that a step is missing, and that the one error is the one of the page.
    fn misses(&self, step: &str, forgotten: &[(String, String)]) -> Result<(), Stop> {
        let word = step.split(' ').next().unwrap_or(step);
        let error = forgotten
            .iter()
            .find(|(name, _)| name == word)
            .map(|(_, error)| error.as_str())
            .ok_or_else(|| Stop::Failed(format!("README.md: the table has no row `{word}`")))?;
        let output = self.cargo("check --quiet")?;
        let given = String::from_utf8_lossy(&output.stderr);
        let one = given.contains("due to 1 previous error");
        if output.status.success() || !one || !given.contains(error) {
            return Err(failed(
                &format!("the route without its {word}"),
                error,
                &output,
            ));
        }
        Ok(())
    }

    /// It takes the lock file of the workspace, so that it builds what the rest of the gate was
    /// tested with, and keeps what it built for the next run of the gate.
    fn cargo(&self, words: &str) -> Result<Output, Stop> {
        let lock = shell::root().join("Cargo.lock");
        let own = self.folder.join("Cargo.lock");
        if !own.exists() {
            fs::copy(&lock, &own).map_err(|why| at(&lock, &why))?;
        }
        let mut command: Command = shell::cargo(words);
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", shell::target().join("tutorial"))
            .output()
            .map_err(|why| Stop::Failed(format!("cargo cannot be run: {why}")))
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        // It lies among temporary files: what cannot be removed now, the system removes.
        let _ = fs::remove_dir_all(&self.around);
    }
}

fn read(path: &Path) -> Result<String, Stop> {
    fs::read_to_string(path).map_err(|why| at(path, &why))
}

fn at(path: &Path, why: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {why}", path.display()))
}

/// What follows a comment of the page.
fn after<'a>(page: &'a str, name: &str) -> Result<&'a str, Stop> {
    let comment = format!("<!-- tutorial: {name} -->\n");
    page.split_once(&comment)
        .map(|(_, rest)| rest)
        .ok_or_else(|| Stop::Failed(format!("README.md has no `{}`", comment.trim_end())))
}

/// The code block behind a comment.
fn block(page: &str, name: &str) -> Result<String, Stop> {
    let rest = after(page, name)?;
    rest.strip_prefix("```")
        .and_then(|rest| rest.split_once('\n'))
        .and_then(|(_, rest)| rest.split_once("```\n"))
        .map(|(code, _)| code.to_owned())
        .ok_or_else(|| Stop::Failed(format!("README.md: no code block follows `{name}`")))
}

/// The rows of the table behind a comment: the first cell, and the second without its backticks.
fn table(page: &str, name: &str) -> Result<Vec<(String, String)>, Stop> {
    let rows = after(page, name)?
        .lines()
        .take_while(|line| line.starts_with('|'))
        .skip(2);
    Ok(rows
        .filter_map(|row| {
            let mut cells = row.split('|').skip(1).map(str::trim);
            let (name, error) = (cells.next()?, cells.next()?);
            let error = error.trim_start_matches("``").trim_end_matches("``").trim();
            Some((name.to_owned(), error.to_owned()))
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
text
<!-- tutorial: a -->
```toml
x = 1
```
<!-- tutorial: t -->
| forgotten | error |
|---|---|
| impl | ``the `a` `` |

more
";

    #[test]
    fn the_blocks_of_a_page_are_found_by_their_names() {
        assert_eq!(block(PAGE, "a"), Ok("x = 1\n".to_owned()));
        assert!(block(PAGE, "b").is_err());
        let rows = vec![("impl".to_owned(), "the `a`".to_owned())];
        assert_eq!(table(PAGE, "t"), Ok(rows));
    }

    #[test]
    fn a_step_goes_to_the_end_of_its_item() {
        let mut sources = Sources {
            link: String::new(),
            main: "trait Tally {\n    a\n}\n\nimpl TallyHandlers {\n    b\n}\n".to_owned(),
        };
        sources.add("trait Tally", "    c\n").unwrap();
        assert_eq!(
            sources.main,
            "trait Tally {\n    a\n\n    c\n}\n\nimpl TallyHandlers {\n    b\n}\n"
        );
    }
}
