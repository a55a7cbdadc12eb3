//! A method has a body.

use riff_link::{riff_link, riff_route};

#[riff_link("method_with_body.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String {
        query
    }
}

fn main() {}
