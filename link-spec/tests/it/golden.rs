//! One mistake a file in `bad/`, and beside it the exact report. `LINK_BLESS=1` writes them anew.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use link_spec::{Report, RuleId, parse};

fn mistakes() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bad");
    let mut files: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    files
}

fn refused(path: &Path) -> Report {
    let text = fs::read_to_string(path).unwrap();
    match parse(&text, "link.toml") {
        Ok(_) => panic!("{} is accepted", path.display()),
        Err(report) => report,
    }
}

#[test]
fn each_mistake_has_its_exact_report() {
    let bless = env::var_os("LINK_BLESS").is_some();
    let mut differing = Vec::new();
    for path in mistakes() {
        let report = format!("{}\n", refused(&path));
        let expected = path.with_extension("txt");
        if bless {
            fs::write(&expected, &report).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != report {
            differing.push(format!("{}\n{report}", expected.display()));
        }
    }
    assert!(
        differing.is_empty(),
        "{}\n\nread them; if they are right, run again with LINK_BLESS=1",
        differing.join("\n")
    );
}

#[test]
fn each_rule_has_a_mistake() {
    let told: BTreeSet<RuleId> = mistakes()
        .iter()
        .flat_map(|path| {
            refused(path)
                .problems()
                .iter()
                .map(|one| one.rule)
                .collect::<Vec<_>>()
        })
        .collect();
    let without: Vec<&RuleId> = RuleId::ALL
        .iter()
        .filter(|rule| !told.contains(rule))
        .collect();
    assert!(without.is_empty(), "no file in bad/ breaks {without:?}");
}

#[test]
fn each_report_has_a_mistake_and_no_more() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bad");
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            path.with_extension("toml").exists(),
            "{} is left over",
            path.display()
        );
    }
}

#[test]
fn problems_come_in_the_order_of_the_file() {
    for path in mistakes() {
        let report = refused(&path);
        let starts: Vec<usize> = report
            .problems()
            .iter()
            .map(|one| one.place.start)
            .collect();
        assert!(starts.is_sorted(), "{}: {starts:?}", path.display());
    }
}

#[test]
fn each_rule_has_a_name_of_its_own_in_kebab_case() {
    let names: BTreeSet<&str> = RuleId::ALL.iter().map(|rule| rule.as_str()).collect();
    assert_eq!(names.len(), RuleId::ALL.len());
    for name in names {
        assert!(
            name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{name}"
        );
    }
}
