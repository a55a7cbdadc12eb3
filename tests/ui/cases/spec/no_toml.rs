//! The text is no TOML.

use riff_link::{riff_link, riff_route};

#[riff_link("no_toml.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
