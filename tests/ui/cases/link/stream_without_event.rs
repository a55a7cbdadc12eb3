//! A stream does not say what its events are.

use riff_link::{riff_link, riff_route};

#[riff_link("stream_without_event.toml")]
pub trait Demo {
    #[riff_route]
    fn bare();
}

fn main() {}
