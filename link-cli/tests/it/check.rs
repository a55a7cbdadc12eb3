//! `riff-link check`.

use std::fs;

use serde_json::Value;

use crate::{RIGHT, WRONG, dir_with, riff_link};

#[test]
fn a_right_file_gives_one_line_on_stderr() {
    let dir = dir_with(RIGHT);
    let ran = riff_link(dir.path(), &["check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_eq!(
        ran.stderr,
        "link.toml: riff 1.0, 4 routes, nothing is wrong\n"
    );
}

#[test]
fn all_findings_come_in_one_run_with_their_lines() {
    let dir = dir_with(WRONG);
    let ran = riff_link(dir.path(), &["check"]);
    assert_eq!(ran.code, Some(100));
    assert_eq!(
        ran.stdout,
        "\
error[bad-duration]: `60 s` is not a duration
 --> link.toml:6:9
  |
6 | short = \"60 s\"
  |         ^^^^^^
  |
  = help: write \"60s\": a whole number and one unit, ms, s, m or h

error[unknown-kind]: `qeury` is not a kind
 --> link.toml:9:8
  |
9 | kind = \"qeury\"
  |        ^^^^^^^
  |
  = help: did you mean \"query\"?

"
    );
    assert_eq!(ran.stderr, "link.toml: 2 problems\n");
}

#[test]
fn the_file_is_found_above_the_working_directory() {
    let dir = dir_with(WRONG);
    let below = dir.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let ran = riff_link(&below, &["check"]);
    assert_eq!(ran.code, Some(100));
    assert!(
        ran.stdout.contains("--> ../../link.toml:6:9"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_named_file_is_read() {
    let dir = dir_with(WRONG);
    fs::write(dir.path().join("other.toml"), RIGHT).unwrap();
    let ran = riff_link(dir.path(), &["check", "other.toml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(
        ran.stderr.starts_with("other.toml: riff 1.0"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_that_is_not_there_is_a_failure() {
    let dir = dir_with(RIGHT);
    let ran = riff_link(dir.path(), &["check", "no.toml"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.starts_with("error: cannot read no.toml: "),
        "{}",
        ran.stderr
    );
}

#[test]
fn json_gives_rules_and_places() {
    let dir = dir_with(WRONG);
    let ran = riff_link(dir.path(), &["check", "--format", "json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(100), ""));
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["file"], "link.toml");
    let problems = found["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2);
    let kind = &problems[1];
    assert_eq!(kind["rule"], "unknown-kind");
    assert_eq!(kind["help"], "did you mean \"query\"?");
    assert_eq!(
        (&kind["line"], &kind["column"]),
        (&Value::from(9), &Value::from(8))
    );
    assert_eq!(
        (&kind["end_line"], &kind["end_column"]),
        (&Value::from(9), &Value::from(15))
    );
    let place = |key: &str| usize::try_from(kind[key].as_u64().unwrap()).unwrap();
    assert_eq!(&WRONG[place("start")..place("end")], "\"qeury\"");
}

#[test]
fn json_of_a_right_file_has_no_problems() {
    let dir = dir_with(RIGHT);
    let ran = riff_link(dir.path(), &["check", "--format", "json"]);
    assert_eq!(ran.code, Some(0));
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["problems"], Value::Array(Vec::new()));
}

#[test]
fn color_comes_only_when_it_is_asked_for_or_on_a_terminal() {
    let dir = dir_with(WRONG);
    let escape = '\u{1b}';
    assert!(
        !riff_link(dir.path(), &["check"]).stdout.contains(escape),
        "stdout is a pipe"
    );
    assert!(
        !riff_link(dir.path(), &["check", "--color", "never"])
            .stdout
            .contains(escape)
    );
    let colored = riff_link(dir.path(), &["check", "--color", "always"]);
    assert!(colored.stdout.contains(escape));
    assert_eq!(colored.code, Some(100));
}
