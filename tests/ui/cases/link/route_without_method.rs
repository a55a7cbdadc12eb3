//! A route of link.toml is not in the trait.

use riff_link::{riff_link, riff_route};

#[riff_link("route_without_method.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
