//! A method is there on some platforms only.

use riff_link::{riff_link, riff_route};

#[riff_link("method_under_cfg.toml")]
pub trait Demo {
    #[cfg(unix)]
    #[riff_route]
    fn who(query: String) -> String;
}

fn main() {}
