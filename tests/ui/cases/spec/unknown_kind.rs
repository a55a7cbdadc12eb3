//! A route has a kind that there is none of.

use riff_link::{riff_link, riff_route};

#[riff_link("unknown_kind.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
