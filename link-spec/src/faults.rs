//! The faults of Rust items, collected so that one run of a macro tells all of them.
//!
//! Apart from `report`, which tells the faults of link.toml: those have a place in a text file,
//! these have a span.

use quote::ToTokens;
use syn::Error;

/// Collects faults. It must be asked at the end, by [`Faults::into_error`].
#[derive(Default)]
pub(crate) struct Faults(Option<Error>);

impl Faults {
    /// Adds a fault that stands on these tokens.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Adds a fault that was made elsewhere.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// All faults, if there is one.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }
}
