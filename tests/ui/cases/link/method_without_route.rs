//! A method is not in link.toml.

use riff_link::{riff_link, riff_route};

#[riff_link("method_without_route.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;

    #[riff_route]
    fn release(item: String, body: String) -> bool;
}

fn main() {}
