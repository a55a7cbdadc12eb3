//! Where link.toml is.
//!
//! No one place is right for all: an editor and trybuild compile elsewhere than the crate lies, a
//! workspace has the file above its crates, and a build system may have it somewhere of its own.

use std::{
    env, fmt, io,
    path::{Path, PathBuf},
};

/// Finds the file and reads it.
///
/// The places, in their order: `LINK_TOML` (a folder, or a file with the name that is asked for),
/// the folder of the source file, the folder of the crate; from each folder upwards. An absolute
/// name is taken as it is.
pub(crate) fn read(name: &str, source_file: Option<PathBuf>) -> Result<(PathBuf, String), Missing> {
    let mut tried = Vec::new();
    for path in candidates(name, source_file)? {
        match std::fs::read_to_string(&path) {
            Ok(text) => return Ok((path.canonicalize().unwrap_or(path), text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => tried.push(path),
            Err(error) => return Err(Missing::Unreadable { path, error }),
        }
    }
    Err(Missing::Nowhere {
        name: name.into(),
        starts: first_of_each(&tried),
    })
}

fn candidates(name: &str, source_file: Option<PathBuf>) -> Result<Vec<PathBuf>, Missing> {
    if Path::new(name).is_absolute() {
        return Ok(vec![name.into()]);
    }
    let mut found = Vec::new();
    if let Some(chosen) = env::var_os("LINK_TOML").map(PathBuf::from) {
        if chosen.is_dir() {
            found.extend(chosen.ancestors().map(|folder| folder.join(name)));
        } else if !chosen.is_file() {
            return Err(Missing::Chosen { path: chosen });
        } else if chosen.file_name() == Path::new(name).file_name() {
            // A build may have several links: the variable chooses for the name that it has.
            return Ok(vec![chosen]);
        }
    }
    // The compiler names source files by where it was started; only an absolute folder has parents
    // that mean something.
    let folder = source_file
        .and_then(|file| file.canonicalize().ok())
        .and_then(|file| file.parent().map(Path::to_path_buf));
    let crate_folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    for start in [folder, crate_folder].into_iter().flatten() {
        found.extend(start.ancestors().map(|folder| folder.join(name)));
    }
    Ok(found)
}

/// Each search goes from one folder to the root; its first place tells where it began.
fn first_of_each(tried: &[PathBuf]) -> Vec<PathBuf> {
    let mut firsts: Vec<PathBuf> = Vec::new();
    let mut last: Option<&Path> = None;
    for path in tried {
        let folder = path.parent();
        if last.is_none_or(|last| last.parent() != folder)
            && let Some(folder) = folder
        {
            firsts.push(folder.into());
        }
        last = folder;
    }
    firsts
}

/// Why there is no link.toml.
pub(crate) enum Missing {
    /// No place has it.
    Nowhere { name: String, starts: Vec<PathBuf> },
    /// `LINK_TOML` names nothing.
    Chosen { path: PathBuf },
    /// It is there and cannot be read.
    Unreadable { path: PathBuf, error: io::Error },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere { name, starts } => {
                write!(f, "there is no `{name}` in")?;
                for (n, start) in starts.iter().enumerate() {
                    write!(f, "{} {}", if n > 0 { " or" } else { "" }, start.display())?;
                }
                f.write_str(
                    ", nor in a folder above\nput the file there, or set LINK_TOML to its place",
                )
            }
            Self::Chosen { path } => write!(
                f,
                "LINK_TOML is {}, and nothing is there\nset it to the file or to a folder below \
                 it, or unset it",
                path.display()
            ),
            Self::Unreadable { path, error } => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
        }
    }
}
