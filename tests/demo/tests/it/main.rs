//! Runs the real demo: with all protections it loses nothing, and without one it says what it lost.

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

/// Runs the demo with `--json`, and gives what it printed and the object of its last line.
fn demo(words: &[&str]) -> (Output, Value) {
    let output = run(&[words, &["--json"]].concat());
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let last = text.lines().last().unwrap_or_default();
    let report = serde_json::from_str(last);
    let talk = String::from_utf8_lossy(&output.stderr);
    let report = report.unwrap_or_else(|error| panic!("no report ({error}): {talk}"));
    // Shown when a test fails: the seed is in it.
    println!("{talk}{report}");
    (output, report)
}

fn run(words: &[&str]) -> Output {
    let demo = Path::new(env!("CARGO_BIN_EXE_demo"));
    let server = demo.with_file_name(format!("riff-server{}", std::env::consts::EXE_SUFFIX));
    assert!(
        server.exists(),
        "there is no {}: run `cargo build -p riff` first, the demo needs the real server",
        server.display()
    );
    Command::new(demo).args(words).output().unwrap()
}

fn number(report: &Value, name: &str) -> u64 {
    report[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name} in {report}"))
}

const ZEROS: [&str; 10] = [
    "twice",
    "lost",
    "refused",
    "unknown",
    "not_sent",
    "two_holders",
    "stream_lost",
    "stream_twice",
    "stream_wrong",
    "wrong",
];

fn not_zero(report: &Value) -> Vec<&'static str> {
    ZEROS
        .into_iter()
        .filter(|name| number(report, name) > 0)
        .collect()
}

#[test]
fn nothing_is_lost_and_nothing_runs_twice() {
    let (output, report) = demo(&[]);
    assert_eq!(not_zero(&report), Vec::<&str>::new());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        (number(&report, "commands"), number(&report, "kills")),
        (400, 2)
    );
    assert!(number(&report, "repeats") > 0);
    assert!(number(&report, "tries") > number(&report, "calls"));
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    let kinds = report["faults_by_kind"].as_object().unwrap();
    assert_eq!(kinds.len(), 7);
    assert!(
        kinds.values().all(|made| made.as_u64().unwrap() > 0),
        "{kinds:?}"
    );
    assert_eq!(
        kinds
            .values()
            .map(|made| made.as_u64().unwrap())
            .sum::<u64>(),
        number(&report, "faults")
    );
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        talk.contains(&format!("seed {}", number(&report, "seed"))),
        "{talk}"
    );
    assert!(
        !talk.contains('\u{1b}'),
        "a redrawn line where there is no terminal: {talk}"
    );
}

#[test]
fn one_command_of_one_caller_is_a_run_too() {
    let (output, report) = demo(&["--commands", "1", "--callers", "1", "--seed", "3"]);
    assert_eq!(not_zero(&report), Vec::<&str>::new());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(number(&report, "seed"), 3);
}

#[test]
fn without_call_ids_commands_run_twice() {
    let (output, report) = demo(&["--sabotage", "call-id"]);
    assert!(number(&report, "twice") > 0);
    assert_eq!(number(&report, "repeats"), 0);
    assert_eq!(output.status.code(), Some(1));
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(talk.contains("wrong: commands that ran twice: "), "{talk}");
}

#[test]
fn a_reply_to_another_command_is_a_lost_command() {
    let (output, report) = demo(&["--sabotage", "reply"]);
    assert!(number(&report, "lost") > 0);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_event_taken_out_of_a_stream_is_a_lost_message() {
    let (output, report) = demo(&["--sabotage", "event"]);
    assert_eq!(not_zero(&report), ["stream_lost", "wrong"]);
    assert_eq!(number(&report, "stream_lost"), 1);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_mistake_on_the_command_line_is_told_as_one() {
    for words in [
        &["--commands", "0"][..],
        &["--commands", "many"],
        &["--callers", "0"],
        &["--sabotage", "everything"],
        &["--sead", "1"],
        &["now"],
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_missing_server_is_named() {
    let output = run(&["--server", "/nowhere/riff-server"]);
    assert_eq!(output.status.code(), Some(1));
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        talk.contains("/nowhere/riff-server") && talk.contains("cargo build -p riff"),
        "{talk}"
    );
}
