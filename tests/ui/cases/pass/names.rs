//! Names of the user that could meet those of the generated code.

#![deny(warnings, missing_docs, unreachable_pub)]
#![allow(dead_code, reason = "the types are there for their names")]

/// The wire.
pub mod wire {
    use serde::{Deserialize, Serialize};

    /// As the generic of a server would be named.
    #[derive(Serialize, Deserialize)]
    pub struct S;

    /// As that of the prelude.
    #[derive(Serialize, Deserialize)]
    pub struct Result;

    /// As that of the prelude.
    #[derive(Serialize, Deserialize)]
    pub struct Option;

    /// As that of the prelude.
    #[derive(Serialize, Deserialize)]
    pub struct Vec;
}

/// The link, deeper than the root of its crate.
pub mod api {
    use riff_link::{riff_link, riff_route};

    use super::wire::{Option, Result, S};

    /// Names that are also those of others.
    #[riff_link("names.toml")]
    pub trait r#Demo {
        /// A type by a path that begins above.
        #[riff_route]
        fn who(query: super::wire::Vec) -> S;

        /// A parameter with the name of a part.
        #[riff_route]
        fn claim(reply: u32, body: Option) -> Result;
    }
}

fn main() {}
