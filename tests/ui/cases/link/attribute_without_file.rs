//! The attribute names no file.

use riff_link::{riff_link, riff_route};

#[riff_link]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
