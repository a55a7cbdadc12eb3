//! Three faults of one file come in one run.

use riff_link::{riff_link, riff_route};

#[riff_link("several_faults.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
