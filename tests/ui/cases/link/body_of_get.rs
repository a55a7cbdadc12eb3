//! A GET has a body.

use riff_link::{riff_link, riff_route};

#[riff_link("body_of_get.toml")]
pub trait Demo {
    #[riff_route]
    fn who(body: String) -> String;
}

fn main() {}
