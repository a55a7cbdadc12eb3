//! The mark says the kind, which link.toml says.

use riff_link::{riff_link, riff_route};

#[riff_link("mark_with_arguments.toml")]
pub trait Demo {
    #[riff_route(query)]
    fn who(query: String) -> String;
}

fn main() {}
