//! `riff-link routes`.

use serde_json::{Value, json};

use crate::{RIGHT, WRONG, dir_with, riff_link};

#[test]
fn the_table_has_a_row_for_each_route() {
    let dir = dir_with(RIGHT);
    let ran = riff_link(dir.path(), &["routes"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        ran.stdout,
        "\
NAME   KIND     METHOD  PATH                    BUDGET     LINE
who    query    GET     /v1/who                 short 60s  9
claim  command  POST    /v1/items/{item}/claim  short 60s  14
alive  signal   POST    /v1/alive               tick 60s   20
tail   stream   GET     /v1/tail                -          25
"
    );
}

#[test]
fn json_has_what_a_program_needs() {
    let dir = dir_with(RIGHT);
    let ran = riff_link(dir.path(), &["routes", "--json"]);
    assert_eq!(ran.code, Some(0));
    let routes: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        routes[1],
        json!({
            "name": "claim",
            "kind": "command",
            "method": "POST",
            "path": "/v1/items/{item}/claim",
            "budget": { "name": "short", "within_ms": 60_000, "tries": null },
            "outbox_ms": 600_000,
            "cursor": null,
            "catch_up": null,
            "since": null,
            "deprecated": null,
            "line": 14,
        })
    );
    assert_eq!(routes[2]["budget"]["tries"], 1);
    assert_eq!(routes[3]["budget"], Value::Null);
}

#[test]
fn a_wrong_file_gives_its_problems_and_no_table() {
    let dir = dir_with(WRONG);
    for arguments in [&["routes"][..], &["routes", "--json"]] {
        let ran = riff_link(dir.path(), arguments);
        assert_eq!(ran.code, Some(100));
        assert!(ran.stdout.contains("error[unknown-kind]"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("METHOD"), "{}", ran.stdout);
    }
}
