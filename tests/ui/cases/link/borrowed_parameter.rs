//! A parameter is a reference.

use riff_link::{riff_link, riff_route};

#[riff_link("borrowed_parameter.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: &str) -> String;
}

fn main() {}
