//! How the program itself can fail, apart from what it finds in files.

use std::{io, path::PathBuf};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No file was named, and none was found.
    #[error("there is no link.toml in {} or above it: name the file", from.display())]
    NotFound {
        /// Where the search began.
        from: PathBuf,
    },
    /// A file or a directory could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or a directory could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output could not be written.
    #[error("cannot print")]
    Print(#[from] io::Error),
}
