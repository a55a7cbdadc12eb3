//! A command is asked for with GET.

use riff_link::{riff_link, riff_route};

#[riff_link("command_with_get.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
