//! Runs the real crash test: with the protection nothing is wrong, and without it that is found.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a helper of a test may stop at what it did not expect, and shows what it saw"
)]

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

fn crash(words: &[&str]) -> (Output, Value) {
    let crash = Path::new(env!("CARGO_BIN_EXE_crash"));
    let server = crash.with_file_name(format!("riff-server{}", std::env::consts::EXE_SUFFIX));
    assert!(
        server.exists(),
        "there is no {}: run `cargo build -p riff` first, this needs the real server",
        server.display()
    );
    let output = Command::new(crash)
        .args(words)
        .arg("--json")
        .output()
        .unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    // Shown when a test fails: the seed is in it.
    println!("{talk}");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no report ({error}): {talk}"));
    (output, report)
}

#[test]
fn a_server_that_is_killed_at_random_moments_keeps_what_it_said() {
    let (output, report) = crash(&["--kills", "8"]);
    assert!(output.status.success(), "{report}");
    assert_eq!(report["wrong"], Value::Array(Vec::new()));
    for count in ["acknowledged", "repeats", "cancelled"] {
        assert!(report[count].as_u64().unwrap() > 0, "{count}: {report}");
    }
    assert_eq!(report["runs"].as_u64().unwrap(), 9, "each start is a run");
}

#[test]
fn a_command_that_runs_under_two_ids_is_found() {
    let (output, report) = crash(&["--kills", "12", "--sabotage"]);
    assert_eq!(output.status.code(), Some(1), "{report}");
    let wrong = report["wrong"].as_array().unwrap();
    let twice = |wrong: &Value| wrong.as_str().unwrap().contains("twice");
    assert!(wrong.iter().any(twice), "{report}");
}
