//! A path parameter cannot be read from a path.

use riff_link::{riff_link, riff_route};

pub struct Item;

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("item")
    }
}

#[riff_link("path_parameter_without_from_str.toml")]
pub trait Demo {
    #[riff_route]
    fn claim(item: Item, body: String) -> bool;
}

fn main() {}
