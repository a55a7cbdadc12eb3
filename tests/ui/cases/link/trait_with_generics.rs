//! The trait has a parameter.

use riff_link::{riff_link, riff_route};

#[riff_link("trait_with_generics.toml")]
pub trait Demo<T> {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
