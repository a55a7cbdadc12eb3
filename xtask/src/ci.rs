//! The gate: its steps in their order, and how they are run.
//!
//! The steps share what they build: none of them sets `RUSTFLAGS`, and the bins are built with
//! the same packages and features as the tests.

use std::{path::PathBuf, process::Command};

use crate::{Stop, clock::Stopwatch, layers, promises, say, shell, tools, tutorial};

/// One step of the gate.
struct Step {
    name: &'static str,
    /// What it makes sure of.
    about: &'static str,
    run: fn(&Gate) -> Result<(), Stop>,
}

/// What is built: all crates, without TLS. The stub of the facade has the file name of the facade
/// itself, so it is built and linted only as a dependency of the tests that need it.
const ALL: &str = "--workspace --exclude riff-link-stub --no-default-features";

/// All steps, the quick ones first. To add one, add a line here.
const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        about: "the code is formatted",
        run: fmt,
    },
    Step {
        name: "clippy",
        about: "the lints are kept, in tests too",
        run: clippy,
    },
    Step {
        name: "layers",
        about: "nobody imports whom they may not",
        run: |_| layers::run(),
    },
    Step {
        name: "promises",
        about: "each promise in the documentation names tests that exist",
        run: |_| promises::run(),
    },
    Step {
        name: "generated",
        about: "what is generated is fresh",
        run: generated,
    },
    Step {
        name: "build",
        about: "all targets build",
        run: build,
    },
    Step {
        name: "tests",
        about: "the tests pass",
        run: tests,
    },
    Step {
        name: "doctests",
        about: "the examples in the documentation run",
        run: doctests,
    },
    Step {
        name: "rustdoc",
        about: "the documentation has no dead link",
        run: rustdoc,
    },
    Step {
        name: "features",
        about: "each optional feature builds alone",
        run: features,
    },
    Step {
        name: "deny",
        about: "licences, bans and sources are kept",
        run: deny,
    },
    Step {
        name: "tutorial",
        about: "the tutorial of the README works, and what is forgotten is told",
        run: |_| tutorial::run(),
    },
    Step {
        name: "demo",
        about: "the demo loses nothing and runs nothing twice",
        run: demo,
    },
    Step {
        name: "crash",
        about: "a server that is killed at random moments keeps what it said",
        run: crash,
    },
];

/// What the steps need to know.
struct Gate {
    /// The search path, with the tools in it.
    path: std::ffi::OsString,
}

impl Gate {
    /// A cargo that finds the tools.
    fn cargo(&self, words: &str) -> Command {
        let mut command = shell::cargo(words);
        command.env("PATH", &self.path);
        command
    }

    fn run(&self, words: &str) -> Result<(), Stop> {
        shell::run(&mut self.cargo(words))
    }
}

/// What was asked of the gate.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    keep_going: bool,
    list: bool,
    /// All of them when none is named.
    names: Vec<&'a str>,
}

/// Runs the steps that are named, or all.
pub(crate) fn run(words: &[String]) -> Result<(), Stop> {
    let asked = Asked::read(words)?;
    if asked.list {
        for step in STEPS {
            say::out(&format!("{:<10} {}", step.name, step.about));
        }
        return Ok(());
    }
    let steps = asked.steps();
    let needs_tools = steps
        .iter()
        .any(|step| matches!(step.name, "tests" | "deny"));
    let programs: Vec<PathBuf> = if needs_tools {
        tools::all()?
    } else {
        Vec::new()
    };
    let gate = Gate {
        path: shell::path_with(&programs),
    };
    let mut lines = Vec::new();
    let mut failed: Vec<&str> = Vec::new();
    for step in &steps {
        say::out(&format!("==> {}: {}", step.name, step.about));
        let stopwatch = Stopwatch::start();
        let ended = (step.run)(&gate);
        let seconds = stopwatch.read().as_secs_f64();
        let word = if ended.is_ok() { "ok" } else { "FAILED" };
        lines.push(format!("{:<10} {word:<6} {seconds:7.1} s", step.name));
        if let Err(Stop::Failed(text) | Stop::Usage(text)) = ended {
            say::note(&format!("error: {text}"));
            failed.push(step.name);
            if !asked.keep_going {
                break;
            }
        }
    }
    say::out("");
    for line in &lines {
        say::out(line);
    }
    say::out(&format!(
        "steps: {} passed, {} failed",
        lines.len() - failed.len(),
        failed.len()
    ));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed(format!(
            "the gate does not pass: {}",
            failed.join(", ")
        )))
    }
}

impl<'a> Asked<'a> {
    fn read(words: &'a [String]) -> Result<Self, Stop> {
        let mut asked = Asked {
            keep_going: false,
            list: false,
            names: Vec::new(),
        };
        for word in words {
            match word.as_str() {
                "--keep-going" => asked.keep_going = true,
                "--list" => asked.list = true,
                name if STEPS.iter().any(|step| step.name == name) => asked.names.push(name),
                other => {
                    return Err(Stop::Usage(format!(
                        "the gate has no step `{other}`: `cargo ci --list` names them"
                    )));
                }
            }
        }
        Ok(asked)
    }

    fn steps(&self) -> Vec<&'static Step> {
        let named = |step: &&Step| self.names.is_empty() || self.names.contains(&step.name);
        STEPS.iter().filter(named).collect()
    }
}

fn fmt(gate: &Gate) -> Result<(), Stop> {
    gate.run("fmt --all --check")
}

fn clippy(gate: &Gate) -> Result<(), Stop> {
    gate.run(&format!("clippy {ALL} --all-targets -- -D warnings"))
}

fn generated(gate: &Gate) -> Result<(), Stop> {
    gate.run(&format!("{GENERATE} --check"))
}

const GENERATE: &str =
    "run --quiet -p link-cli -- generate --trait riff-api/src/lib.rs --out generated";

/// Writes what is generated anew.
pub(crate) fn generate() -> Result<(), Stop> {
    shell::run(&mut shell::cargo(GENERATE))
}

fn build(gate: &Gate) -> Result<(), Stop> {
    gate.run(&format!("build {ALL} --all-targets"))
}

fn tests(gate: &Gate) -> Result<(), Stop> {
    gate.run(&format!("nextest run {ALL}"))
}

fn doctests(gate: &Gate) -> Result<(), Stop> {
    gate.run(&format!("test --doc {ALL}"))
}

fn rustdoc(gate: &Gate) -> Result<(), Stop> {
    // The program `riff-link` and the library `riff_link` would be documented to one file.
    for packages in [&format!("{ALL} --exclude link-cli"), "-p link-cli"] {
        let mut doc = gate.cargo(&format!("doc --no-deps {packages}"));
        shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

fn features(gate: &Gate) -> Result<(), Stop> {
    for package in ["riff-link", "riff-api"] {
        for features in ["", "--features client", "--features server"] {
            let what = format!("-p {package} --no-default-features {features}");
            gate.run(&format!("clippy {what} -- -D warnings"))?;
        }
    }
    Ok(())
}

fn deny(gate: &Gate) -> Result<(), Stop> {
    gate.run("deny --all-features check bans licenses sources")
}

fn demo(gate: &Gate) -> Result<(), Stop> {
    build(gate)?;
    let mut demo = Command::new(shell::built("demo"));
    shell::run(demo.arg("--json").current_dir(shell::root()))
}

fn crash(gate: &Gate) -> Result<(), Stop> {
    build(gate)?;
    let mut crash = Command::new(shell::built("crash"));
    shell::run(
        crash
            .args(["--kills", "40", "--json"])
            .current_dir(shell::root()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn all_steps_run_when_none_is_named() {
        let none = words("");
        assert_eq!(Asked::read(&none).unwrap().steps().len(), STEPS.len());
        let two = words("deny fmt --keep-going");
        let asked = Asked::read(&two).unwrap();
        assert!(asked.keep_going);
        let names: Vec<&str> = asked.steps().iter().map(|step| step.name).collect();
        assert_eq!(names, ["fmt", "deny"]);
    }

    #[test]
    fn an_unknown_step_is_a_mistake() {
        assert!(matches!(Asked::read(&words("clipy")), Err(Stop::Usage(_))));
    }

    #[test]
    fn each_step_has_a_name_of_its_own() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
