//! `riff-link generate`: writes the files that are made for a review, or tells which are stale.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use clap::Args;
use link_spec::Generated;

use crate::{Outcome, difference::unified, failure::Failure, locate, terminal::Terminal};

/// More lines of a difference help nobody: it is mended by a command.
const MOST_LINES: usize = 200;

const HELP: &str = "\
Example:
  riff-link generate --trait riff-api/src/lib.rs --out generated
  riff-link generate --trait riff-api/src/lib.rs --out generated --check

The same files give the same bytes, so --check can stand in a gate. It writes nothing, and needs no
build and no network. Other files in DIR are left alone.

Exit codes: 0 all files are fresh, 100 a file is stale or missing, or link.toml or the trait is
wrong, 1 the program failed, 2 the arguments are wrong.";

/// Writes the files that are made of link.toml and its trait.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The file of the `#[riff_link]` trait.
    #[arg(long = "trait", value_name = "FILE")]
    declared: PathBuf,
    /// The directory of the files.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write nothing; tell what is stale or missing.
    #[arg(long)]
    check: bool,
    /// The link.toml; else that of this directory or the nearest above it.
    file: Option<PathBuf>,
}

/// What stands where a file should.
enum Found {
    Fresh,
    Missing,
    Stale(String),
}

pub(crate) fn run(arguments: &Arguments, terminal: &mut Terminal) -> Result<Outcome, Failure> {
    let path = locate::locate(arguments.file.as_deref())?;
    let mut spec = match locate::read(&path)? {
        Ok(spec) => spec,
        Err(report) => {
            terminal.report(&report)?;
            return Ok(Outcome::Findings);
        }
    };
    // What is made must not depend on where the program was started.
    let base = path.parent().unwrap_or(Path::new(""));
    spec.source.name = seen_from(base, &path);
    let declared = read(&arguments.declared)?;
    let made = match link_spec::generate(&spec, &declared, &seen_from(base, &arguments.declared)) {
        Ok(made) => made,
        Err(error) => {
            terminal.say(&format!("error: {error}"));
            return Ok(Outcome::Findings);
        }
    };
    if arguments.check {
        check(arguments, &made, terminal)
    } else {
        write(arguments, &made, terminal)
    }
}

fn write(
    arguments: &Arguments,
    made: &[Generated],
    terminal: &mut Terminal,
) -> Result<Outcome, Failure> {
    for file in made {
        let path = arguments.out.join(&file.path);
        if let Found::Fresh = found(&path, &file.text)? {
            terminal.say(&format!("{}: fresh", path.display()));
            continue;
        }
        let failed = |source| Failure::Write {
            path: path.clone(),
            source,
        };
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(failed)?;
        }
        fs::write(&path, &file.text).map_err(failed)?;
        terminal.say(&format!("{}: written", path.display()));
    }
    Ok(Outcome::Fine)
}

fn check(
    arguments: &Arguments,
    made: &[Generated],
    terminal: &mut Terminal,
) -> Result<Outcome, Failure> {
    let mut findings = 0;
    for file in made {
        let path = arguments.out.join(&file.path);
        let shown = path.display();
        match found(&path, &file.text)? {
            Found::Fresh => continue,
            Found::Missing => terminal.give(&format!("{shown}: missing\n"))?,
            Found::Stale(old) => {
                terminal.give(&format!("{shown}: stale\n"))?;
                let mut lines = vec![format!("--- {shown}"), format!("+++ {shown} (made anew)")];
                lines.extend(unified(&old, &file.text));
                let cut = lines.len().saturating_sub(MOST_LINES);
                lines.truncate(MOST_LINES);
                if cut > 0 {
                    lines.push(format!(" … and {cut} lines more"));
                }
                terminal.difference(&lines)?;
            }
        }
        findings += 1;
    }
    if findings == 0 {
        terminal.say(&format!("{}: fresh", arguments.out.display()));
        return Ok(Outcome::Fine);
    }
    terminal.say(&format!("run: {}", mending(arguments)));
    Ok(Outcome::Findings)
}

fn found(path: &Path, text: &str) -> Result<Found, Failure> {
    match fs::read(path) {
        Ok(bytes) => {
            let old = String::from_utf8_lossy(&bytes).into_owned();
            // A checkout may change the line ends.
            let fresh = old.replace("\r\n", "\n") == text;
            Ok(if fresh {
                Found::Fresh
            } else {
                Found::Stale(old)
            })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Missing),
        Err(source) => Err(Failure::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::Read {
        path: path.to_owned(),
        source,
    })
}

/// The command that mends what `--check` found.
fn mending(arguments: &Arguments) -> String {
    let mut command = format!(
        "riff-link generate --trait {} --out {}",
        arguments.declared.display(),
        arguments.out.display()
    );
    if let Some(file) = &arguments.file {
        command.push(' ');
        command.push_str(&file.display().to_string());
    }
    command
}

/// A path as it is seen from the directory of link.toml, with `/`; as given when it lies elsewhere.
fn seen_from(base: &Path, path: &Path) -> String {
    let base = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let real = base.canonicalize().ok().zip(path.canonicalize().ok());
    let below = real.and_then(|(base, path)| path.strip_prefix(base).ok().map(Path::to_owned));
    let path = below.unwrap_or_else(|| path.to_owned());
    let parts: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    parts.join("/")
}
