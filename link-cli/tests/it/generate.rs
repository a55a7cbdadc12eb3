//! `riff-link generate`.

use std::{fs, path::Path};

use crate::{RIGHT, Ran, WRONG, dir_with, riff_link};

const TRAIT: &str = "\
#[riff_link(\"link.toml\")]
pub trait Riff {
    #[riff_route]
    fn who(query: Who) -> WhoReply;

    #[riff_route]
    fn claim(item: ItemId, body: Claim) -> Claimed;

    #[riff_route]
    fn alive(body: Alive) -> Asks;

    #[riff_route]
    fn tail() -> Message;
}
";

fn project(link: &str) -> tempfile::TempDir {
    let dir = dir_with(link);
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/lib.rs"), TRAIT).unwrap();
    dir
}

fn generate(dir: &Path, more: &[&str]) -> Ran {
    let arguments = ["generate", "--trait", "src/lib.rs", "--out", "generated"];
    riff_link(dir, &[&arguments[..], more].concat())
}

#[test]
fn what_is_written_is_fresh() {
    let dir = project(RIGHT);
    let ran = generate(dir.path(), &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("routes.md: written"), "{}", ran.stderr);
    let routes = fs::read_to_string(dir.path().join("generated/routes.md")).unwrap();
    assert!(
        routes.starts_with("<!-- Do not edit: made by riff-link "),
        "{routes}"
    );
    assert!(
        routes.contains("riff-link generate --trait src/lib.rs --out generated"),
        "{routes}"
    );
    let row = "| claim | command | `POST /v1/items/{item}/claim` | short | \
               same call ID, so it runs once | 14 |";
    assert!(routes.contains(row), "{routes}");
    let ran = generate(dir.path(), &["--check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(
        generate(dir.path(), &[])
            .stderr
            .contains("routes.md: fresh")
    );
}

#[test]
fn what_is_made_does_not_depend_on_the_working_directory() {
    let dir = project(RIGHT);
    assert_eq!(generate(dir.path(), &[]).code, Some(0));
    let arguments = [
        "generate",
        "--trait",
        "lib.rs",
        "--out",
        "../generated",
        "--check",
    ];
    let ran = riff_link(&dir.path().join("src"), &arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_missing_file_is_told_and_not_written() {
    let dir = project(RIGHT);
    let ran = generate(dir.path(), &["--check"]);
    assert_eq!(ran.code, Some(100));
    assert!(
        ran.stdout.contains("generated/routes.md: missing\n"),
        "{}",
        ran.stdout
    );
    let command = "run: riff-link generate --trait src/lib.rs --out generated\n";
    assert_eq!(ran.stderr, command);
    assert!(!dir.path().join("generated").exists());
}

#[test]
fn a_stale_file_is_shown_with_its_difference() {
    let dir = project(RIGHT);
    assert_eq!(generate(dir.path(), &[]).code, Some(0));
    let link = RIGHT.replace("/v1/who", "/v1/people");
    fs::write(dir.path().join("link.toml"), link).unwrap();
    let ran = generate(dir.path(), &["--check"]);
    assert_eq!(ran.code, Some(100));
    assert!(
        ran.stdout.contains("generated/routes.md: stale\n--- "),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("\n-| who | query | `GET /v1/who`"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("\n+| who | query | `GET /v1/people`"),
        "{}",
        ran.stdout
    );
    assert_eq!(generate(dir.path(), &[]).code, Some(0));
    assert_eq!(generate(dir.path(), &["--check"]).code, Some(0));
}

#[test]
fn other_line_ends_are_not_stale() {
    let dir = project(RIGHT);
    assert_eq!(generate(dir.path(), &[]).code, Some(0));
    let path = dir.path().join("generated/routes.md");
    let text = fs::read_to_string(&path).unwrap().replace('\n', "\r\n");
    fs::write(&path, text).unwrap();
    assert_eq!(generate(dir.path(), &["--check"]).code, Some(0));
}

#[test]
fn a_wrong_link_toml_writes_nothing() {
    let dir = project(WRONG);
    let ran = generate(dir.path(), &[]);
    assert_eq!(ran.code, Some(100));
    assert!(ran.stdout.contains("error[unknown-kind]"), "{}", ran.stdout);
    assert!(!dir.path().join("generated").exists());
}

#[test]
fn a_trait_that_is_not_rust_is_told_with_its_place() {
    let dir = project(RIGHT);
    fs::write(
        dir.path().join("src/lib.rs"),
        "pub trait Riff {\n    fn who() - ;\n}\n",
    )
    .unwrap();
    let ran = generate(dir.path(), &[]);
    assert_eq!(ran.code, Some(100), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("error: src/lib.rs:2:"),
        "{}",
        ran.stderr
    );
    assert!(!dir.path().join("generated").exists());
}

#[test]
fn a_trait_that_does_not_fit_is_told_and_nothing_is_written() {
    let dir = project(RIGHT);
    let misfit = TRAIT.replace("fn claim(item", "fn claim(thing");
    fs::write(dir.path().join("src/lib.rs"), misfit).unwrap();
    let ran = generate(dir.path(), &[]);
    assert_eq!(ran.code, Some(100), "{}", ran.stderr);
    assert!(ran.stderr.contains("`claim`"), "{}", ran.stderr);
    assert!(!dir.path().join("generated").exists());
}

#[test]
fn a_trait_that_is_not_there_is_a_failure() {
    let dir = dir_with(RIGHT);
    let ran = generate(dir.path(), &[]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.starts_with("error: cannot read src/lib.rs: "),
        "{}",
        ran.stderr
    );
}
