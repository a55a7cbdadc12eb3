//! The body comes before the path.

use riff_link::{riff_link, riff_route};

#[riff_link("input_before_path.toml")]
pub trait Demo {
    #[riff_route]
    fn claim(body: String, item: String) -> bool;
}

fn main() {}
