//! A parameter of the path is not in the signature.

use riff_link::{riff_link, riff_route};

#[riff_link("missing_path_parameter.toml")]
pub trait Demo {
    #[riff_route]
    fn claim(body: String) -> bool;
}

fn main() {}
