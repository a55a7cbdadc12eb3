//! Who may import whom: read off the manifests, and off the sources inside the two runtimes.

mod manifest;
mod source;

use std::{fs, io, path::Path};

use self::{
    manifest::{Manifest, Section},
    source::DOORS,
};
use crate::{Stop, say, shell};

/// What one crate of the workspace may import.
struct Rule {
    package: &'static str,
    /// Crates of the workspace that it may depend on.
    ours: &'static [&'static str],
    /// Crates of others that it must not depend on.
    never: &'static [&'static str],
}

/// HTTP and the runtime under it: not for those who only describe or share.
const NO_WIRE: &[&str] = &[
    "tokio",
    "reqwest",
    "hyper",
    "hyper-util",
    "axum",
    "tower-http",
];
const NO_HTTP: &[&str] = &["reqwest", "hyper", "hyper-util", "axum", "tower-http"];
const NO_SERVER: &[&str] = &["axum", "tower-http"];
const NO_CLIENT: &[&str] = &["reqwest"];

/// The table. A crate that is not in it must not be in the workspace.
const RULES: &[Rule] = &[
    Rule {
        package: "link-wire",
        ours: &[],
        never: NO_WIRE,
    },
    Rule {
        package: "link-spec",
        ours: &[],
        never: NO_WIRE,
    },
    Rule {
        package: "link-macros",
        ours: &["link-spec"],
        never: NO_WIRE,
    },
    Rule {
        package: "link-runtime",
        ours: &["link-wire"],
        never: NO_SERVER,
    },
    Rule {
        package: "server-runtime",
        ours: &["link-wire"],
        never: NO_CLIENT,
    },
    Rule {
        package: "riff-link",
        ours: &["link-wire", "link-macros", "link-runtime", "server-runtime"],
        never: NO_HTTP,
    },
    Rule {
        package: "riff-api",
        ours: &["riff-link"],
        never: NO_HTTP,
    },
    Rule {
        package: "riff",
        ours: &["riff-api", "riff-link"],
        never: NO_HTTP,
    },
    Rule {
        package: "link-cli",
        ours: &["link-spec"],
        never: NO_WIRE,
    },
    Rule {
        package: "faults",
        ours: &[],
        never: NO_HTTP,
    },
    Rule {
        package: "demo",
        ours: &["faults", "riff-api", "riff-link"],
        never: NO_HTTP,
    },
    Rule {
        package: "crash",
        ours: &["demo", "riff-link"],
        never: NO_CLIENT,
    },
    Rule {
        package: "cases",
        ours: &["faults", "riff-api", "riff-link"],
        never: NO_HTTP,
    },
    Rule {
        package: "e2e",
        ours: &["faults", "riff", "riff-api", "riff-link"],
        never: &[],
    },
    Rule {
        package: "riff-link-stub",
        ours: &["link-macros", "link-wire"],
        never: NO_WIRE,
    },
    Rule {
        package: "ui",
        ours: &["riff-link-stub"],
        never: NO_WIRE,
    },
    Rule {
        package: "xtask",
        ours: &[],
        never: NO_WIRE,
    },
];

/// What only tests may add to it: the proxy, and an HTTP client or server of their own.
const OF_TESTS: &[&str] = &["faults"];

/// Checks the whole workspace.
pub(crate) fn run() -> Result<(), Stop> {
    let root = shell::root();
    let found = check(&root).map_err(|why| Stop::Failed(format!("a file: {why}")))?;
    if found.is_empty() {
        say::out(&format!("{} crates import only whom they may", RULES.len()));
        return Ok(());
    }
    for line in &found {
        say::note(line);
    }
    Err(Stop::Failed(format!(
        "{} imports are not allowed",
        found.len()
    )))
}

fn check(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    for member in manifest::members(&workspace) {
        let manifest = Manifest::parse(&fs::read_to_string(root.join(&member).join("Cargo.toml"))?);
        found.extend(edges(&manifest));
    }
    for door in DOORS {
        found.extend(source::check(root, door)?);
    }
    Ok(found)
}

/// The edges of one crate that the table does not allow.
fn edges(manifest: &Manifest) -> Vec<String> {
    let Some(rule) = RULES.iter().find(|rule| rule.package == manifest.package) else {
        return vec![format!(
            "{}: not in the table of xtask/src/layers.rs: say there whom it may import",
            manifest.package
        )];
    };
    let is_ours = |name: &str| RULES.iter().any(|rule| rule.package == name);
    let mut found = Vec::new();
    for (section, name) in &manifest.imports {
        let name = name.as_str();
        let of_tests = *section == Section::Tests && OF_TESTS.contains(&name);
        // Tests may ask for features of their own crate.
        let of_itself = *section == Section::Tests && name == rule.package;
        if is_ours(name) && !rule.ours.contains(&name) && !of_tests && !of_itself {
            found.push(format!(
                "{} → {name}: may import {}",
                rule.package,
                if rule.ours.is_empty() {
                    "no crate of ours".into()
                } else {
                    rule.ours.join(", ")
                }
            ));
        }
        if rule.never.contains(&name) {
            found.push(format!("{} → {name}: never", rule.package));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges_of(manifest: &str) -> Vec<String> {
        edges(&Manifest::parse(manifest))
    }

    #[test]
    fn the_workspace_keeps_its_layers() {
        assert_eq!(check(&shell::root()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_forbidden_edge_is_found() {
        let found = edges_of(
            "[package]\nname = \"link-runtime\"\n[dependencies]\nlink-wire.workspace = true\n\
             server-runtime = { workspace = true }\naxum = \"0.8\"\n",
        );
        assert_eq!(
            found,
            [
                "link-runtime → server-runtime: may import link-wire",
                "link-runtime → axum: never"
            ]
        );
    }

    #[test]
    fn a_forbidden_edge_is_found_under_another_name_and_for_one_target() {
        let found = edges_of(
            "[package]\nname = \"riff-api\"\n[dependencies]\n\
             client = { package = \"link-runtime\", path = \"x\" }\n\
             [target.'cfg(unix)'.dependencies.reqwest]\nversion = \"1\"\n",
        );
        assert_eq!(
            found,
            [
                "riff-api → link-runtime: may import riff-link",
                "riff-api → reqwest: never"
            ]
        );
    }

    #[test]
    fn only_tests_may_break_connections() {
        let of = |section: &str| {
            edges_of(&format!(
                "[package]\nname = \"riff\"\n[{section}]\nfaults.workspace = true\n"
            ))
        };
        assert!(of("dev-dependencies").is_empty());
        assert_eq!(
            of("dependencies"),
            ["riff → faults: may import riff-api, riff-link"]
        );
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        assert!(edges_of("[package]\nname = \"link-new\"\n")[0].contains("not in the table"));
    }

    #[test]
    fn each_rule_is_of_a_crate_that_is_there() {
        let root = fs::read_to_string(shell::root().join("Cargo.toml")).unwrap();
        let there: Vec<String> = manifest::members(&root)
            .into_iter()
            .map(|member| {
                let path = shell::root().join(member).join("Cargo.toml");
                Manifest::parse(&fs::read_to_string(path).unwrap()).package
            })
            .collect();
        for rule in RULES {
            assert!(
                there.iter().any(|name| name == rule.package),
                "{}",
                rule.package
            );
        }
    }

    #[test]
    fn each_door_is_there() {
        for door in DOORS {
            let sources = shell::root().join(door.krate).join("src");
            for inside in door.inside {
                let file = sources.join(format!("{inside}.rs"));
                assert!(file.exists(), "{}", file.display());
            }
        }
    }
}
