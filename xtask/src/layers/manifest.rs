//! The few facts of a Cargo.toml that the layers need, read without a TOML parser.

/// The name of a package and what it imports.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) package: String,
    pub(super) imports: Vec<(Section, String)>,
}

/// Where a dependency stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Code,
    Tests,
    Build,
}

impl Manifest {
    /// Reads the tables of dependencies, also those of one target, in each way to write them that
    /// cargo's own documentation shows on one line.
    pub(super) fn parse(text: &str) -> Self {
        let mut manifest = Self::default();
        let mut place = Place::Elsewhere;
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                place = Place::of(header.trim_end_matches(']').trim());
                if let Place::Dependency(section, name) = &place {
                    manifest.imports.push((*section, name.clone()));
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            match &place {
                Place::Package if key == "name" => {
                    unquoted(value).clone_into(&mut manifest.package);
                }
                Place::Dependencies(section) => {
                    let name = key.split('.').next().unwrap_or(key);
                    let name = renamed(value).unwrap_or(unquoted(name));
                    manifest.imports.push((*section, name.to_owned()));
                }
                Place::Dependency(..) if key == "package" => {
                    if let Some((_, name)) = manifest.imports.last_mut() {
                        unquoted(value).clone_into(name);
                    }
                }
                _ => {}
            }
        }
        manifest
    }
}

enum Place {
    Package,
    /// `[dependencies]`
    Dependencies(Section),
    /// `[dependencies.NAME]`
    Dependency(Section, String),
    Elsewhere,
}

impl Place {
    fn of(header: &str) -> Self {
        if header == "package" {
            return Self::Package;
        }
        for (word, section) in [
            ("dev-dependencies", Section::Tests),
            ("build-dependencies", Section::Build),
            ("dependencies", Section::Code),
        ] {
            // `[target.'cfg(…)'.dependencies]` ends like the others; the workspace's own table
            // imports nothing.
            if header == word || (header.starts_with("target.") && header.ends_with(word)) {
                return Self::Dependencies(section);
            }
            if let Some((before, name)) = header.rsplit_once('.')
                && (before == word || (before.starts_with("target.") && before.ends_with(word)))
            {
                return Self::Dependency(section, unquoted(name).to_owned());
            }
        }
        Self::Elsewhere
    }
}

/// The members that the manifest of a workspace lists, one or more to a line.
pub(super) fn members(workspace: &str) -> Vec<String> {
    let list = workspace
        .split_once("members = [")
        .map_or("", |(_, rest)| rest);
    let list = list.split(']').next().unwrap_or_default();
    list.split(',')
        .map(|item| unquoted(item.trim()))
        .filter(|i| !i.is_empty())
        .map(Into::into)
        .collect()
}

/// The true name in `{ package = "NAME", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package = \"")?;
    rest.split('"').next()
}

fn unquoted(text: &str) -> &str {
    text.split('#')
        .next()
        .unwrap_or(text)
        .trim()
        .trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_name_a_dependency_is_read() {
        let manifest = Manifest::parse(
            "[package]\nname = \"a\" # ours\n[dependencies]\nb.workspace = true\nc = \"1\"\n\
             # d = \"1\"\ne = { package = \"real\", version = \"1\" }\n[dependencies.f]\n\
             package = \"other\"\n[build-dependencies]\ng = { path = \"g\" }\n\
             [target.'cfg(unix)'.dev-dependencies]\nh = \"1\"\n[features]\ni = []\n",
        );
        assert_eq!(manifest.package, "a");
        let imports: Vec<(Section, &str)> = manifest
            .imports
            .iter()
            .map(|(section, name)| (*section, name.as_str()))
            .collect();
        assert_eq!(
            imports,
            [
                (Section::Code, "b"),
                (Section::Code, "c"),
                (Section::Code, "real"),
                (Section::Code, "other"),
                (Section::Build, "g"),
                (Section::Tests, "h"),
            ]
        );
    }

    #[test]
    fn members_are_listed() {
        let text = "[workspace]\nmembers = [\n    \"a\",\n    \"b/c\",\n]\n[x]\ny = [\"z\"]\n";
        assert_eq!(members(text), ["a", "b/c"]);
    }
}
