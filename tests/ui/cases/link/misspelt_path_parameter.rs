//! A parameter of the path is a letter away.

use riff_link::{riff_link, riff_route};

#[riff_link("misspelt_path_parameter.toml")]
pub trait Demo {
    #[riff_route]
    fn claim(itm: String, body: String) -> bool;
}

fn main() {}
