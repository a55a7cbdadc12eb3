//! The program as a person and a gate run it: arguments, output and exit code.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot start its program has failed"
)]

mod check;
mod generate;
mod routes;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const RIGHT: &str = "\
[link]
name = \"riff\"
line = \"1.0\"

[budgets]
short = \"60s\"
tick = \"period\"

[routes.who]
kind = \"query\"
path = \"GET /v1/who\"
budget = \"short\"

[routes.claim]
kind = \"command\"
path = \"POST /v1/items/{item}/claim\"
budget = \"short\"
outbox = \"10m\"

[routes.alive]
kind = \"signal\"
path = \"POST /v1/alive\"
budget = \"tick\"

[routes.tail]
kind = \"stream\"
path = \"GET /v1/tail\"
";

const WRONG: &str = "\
[link]
name = \"riff\"
line = \"1.0\"

[budgets]
short = \"60 s\"

[routes.who]
kind = \"qeury\"
path = \"GET /v1/who\"
budget = \"short\"
";

/// A directory with a link.toml.
fn dir_with(link: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("link.toml"), link).unwrap();
    dir
}

/// Runs the program in a directory, without what the environment says of color.
fn riff_link(dir: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_riff-link"))
        .args(arguments)
        .current_dir(dir)
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    Ran::from(output)
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[test]
fn wrong_arguments_exit_with_two() {
    let dir = dir_with(RIGHT);
    for arguments in [
        &["chek"][..],
        &[],
        &["check", "--format", "xml"],
        &["check", "a.toml", "b.toml"],
        &["generate", "--out", "generated"],
    ] {
        let ran = riff_link(dir.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("--help"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn each_command_shows_an_example_and_its_exit_codes() {
    let dir = dir_with(RIGHT);
    for command in ["check", "routes", "generate"] {
        let ran = riff_link(dir.path(), &[command, "--help"]);
        assert_eq!(ran.code, Some(0));
        let example = format!("Example:\n  riff-link {command}");
        assert!(ran.stdout.contains(&example), "{}", ran.stdout);
        assert!(ran.stdout.contains("Exit codes: 0"), "{}", ran.stdout);
        assert!(ran.stdout.contains("100"), "{}", ran.stdout);
    }
}

#[test]
fn the_version_is_told() {
    let ran = riff_link(Path::new("."), &["--version"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stdout,
        format!("riff-link {}\n", env!("CARGO_PKG_VERSION"))
    );
}
