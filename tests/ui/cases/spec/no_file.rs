//! There is no such file.

use riff_link::{riff_link, riff_route};

#[riff_link("no_such_file.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
