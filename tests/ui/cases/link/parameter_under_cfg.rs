//! A parameter is there on some platforms only.

use riff_link::{riff_link, riff_route};

#[riff_link("parameter_under_cfg.toml")]
pub trait Demo {
    #[riff_route]
    fn who(#[cfg(unix)] query: String) -> String;
}

fn main() {}
