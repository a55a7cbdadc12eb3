//! A method is a letter away from its route.

use riff_link::{riff_link, riff_route};

#[riff_link("misspelt_method.toml")]
pub trait Demo {
    #[riff_route]
    fn clam(item: String, body: String) -> bool;
}

fn main() {}
