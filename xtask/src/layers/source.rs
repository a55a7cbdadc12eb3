//! Names that only one module of a crate may speak: the doors to HTTP and to the file system.

use std::{fs, io, path::Path};

/// A name, and the modules that may speak it.
pub(super) struct Door {
    pub(super) krate: &'static str,
    /// The modules: `NAME.rs` and `NAME/` of each.
    pub(super) inside: &'static [&'static str],
    pub(super) name: &'static str,
}

pub(super) const DOORS: &[Door] = &[
    Door {
        krate: "link-runtime",
        inside: &["transport"],
        name: "reqwest",
    },
    Door {
        krate: "server-runtime",
        inside: &["http"],
        name: "axum",
    },
    Door {
        krate: "server-runtime",
        inside: &["journal", "tls"],
        name: "fs",
    },
];

/// The places of a crate that speak the name outside of its module.
pub(super) fn check(root: &Path, door: &Door) -> io::Result<Vec<String>> {
    let sources = root.join(door.krate).join("src");
    let mut found = Vec::new();
    visit(&sources, &mut |path, text| {
        let inside = path.strip_prefix(&sources).unwrap_or(path);
        let first = inside
            .iter()
            .next()
            .map(|part| part.to_string_lossy().into_owned());
        let module = first.unwrap_or_default();
        if door.inside.contains(&module.trim_end_matches(".rs")) {
            return;
        }
        for line in lines_that_speak(text, door.name) {
            let file = path.strip_prefix(root).unwrap_or(path).display();
            found.push(format!(
                "{file}:{line}: `{}` is for {}/src/{} only",
                door.name,
                door.krate,
                door.inside.join("|")
            ));
        }
    })?;
    Ok(found)
}

fn visit(folder: &Path, see: &mut dyn FnMut(&Path, &str)) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, see)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            see(&path, &fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// The numbers of the lines with the name as a word of code. Comments may speak of anything.
fn lines_that_speak(text: &str, name: &str) -> Vec<usize> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let speaks = |line: &str| {
        let code = line.split(" //").next().unwrap_or(line);
        code.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == name)
    };
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| is_code(line) && speaks(line))
        .map(|(number, _)| number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word_of_code_only() {
        let text = "//! axum is elsewhere\nuse axum::Router;\nlet my_axum = 1; // axum\nfn f() -> axum::Body {}\n";
        assert_eq!(lines_that_speak(text, "axum"), [2, 4]);
        assert_eq!(lines_that_speak("use std::{fs, io};\noffs", "fs"), [1]);
    }
}
