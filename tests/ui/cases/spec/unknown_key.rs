//! A route has a key that nobody reads.

use riff_link::{riff_link, riff_route};

#[riff_link("unknown_key.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
