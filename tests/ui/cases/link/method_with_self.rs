//! A method takes `self`.

use riff_link::{riff_link, riff_route};

#[riff_link("method_with_self.toml")]
pub trait Demo {
    #[riff_route]
    fn who(&self, query: String) -> String;
}

fn main() {}
