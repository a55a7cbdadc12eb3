//! The files that are made for a review, and never written by hand.

mod expanded;
mod hash;
mod routes;

use crate::model::Spec;

/// A file that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Its path below the directory of generated files, with `/`.
    pub path: String,
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
    /// The trait's file has no trait of a link.
    #[error("{file}: no trait has `#[riff_link(…)]`; name the file that has it with --trait")]
    NoTrait {
        /// The file, as it was named.
        file: String,
    },
    /// The trait does not fit link.toml.
    #[error("{}", .messages.join("\n"))]
    Trait {
        /// The file, as it was named.
        file: String,
        /// Each fault, with its place.
        messages: Vec<String>,
    },
}

/// Makes all files of a link. The same spec and trait give the same bytes.
///
/// `trait_file` is the name of the trait's file as it is shown to a person.
///
/// # Errors
///
/// When the trait's file is not Rust, has no trait of a link, or the trait does not fit the file.
pub fn generate(
    spec: &Spec,
    trait_source: &str,
    trait_file: &str,
) -> Result<Vec<Generated>, GenerateError> {
    let file = syn::parse_file(trait_source).map_err(|error| {
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
    let name = &spec.link.name.value;
    Ok(vec![
        Generated {
            path: format!("expanded/{}.rs", name.replace('-', "_")),
            text: expanded::code(spec, &file, trait_file, &command)?,
        },
        Generated {
            path: "routes.md".to_owned(),
            text: routes::markdown(spec, &command),
        },
    ])
}
