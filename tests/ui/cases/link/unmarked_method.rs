//! A method has no mark.

use riff_link::{riff_link, riff_route};

#[riff_link("unmarked_method.toml")]
pub trait Demo {
    fn who(query: String) -> String;
}

fn main() {}
