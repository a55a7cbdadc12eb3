//! The files that are made for a review, and never written by hand.

mod hash;
mod routes;

use crate::model::Spec;

/// A file that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Its path below the directory of generated files, with `/`.
    pub path: &'static str,
    /// All of its text.
    pub text: String,
}

/// Why the files cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The trait's file is not Rust.
    #[error("{file}:{line}:{column}: this is not Rust: {message}")]
    NotRust {
        /// The file, as it was named.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser said.
        message: String,
    },
}

/// Makes all files of a link. The same spec and trait give the same bytes.
///
/// `trait_file` is the name of the trait's file as it is shown to a person.
///
/// # Errors
///
/// When the trait's file is not Rust.
pub fn generate(
    spec: &Spec,
    trait_source: &str,
    trait_file: &str,
) -> Result<Vec<Generated>, GenerateError> {
    syn::parse_file(trait_source).map_err(|error| {
        let start = error.span().start();
        GenerateError::NotRust {
            file: trait_file.to_owned(),
            line: start.line,
            column: start.column + 1,
            message: error.to_string(),
        }
    })?;
    let command = format!(
        "riff-link generate --trait {trait_file} --out generated {}",
        spec.source.name
    );
    Ok(vec![Generated {
        path: "routes.md",
        text: routes::markdown(spec, &command),
    }])
}
