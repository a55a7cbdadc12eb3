//! The attribute stands on something else than a trait.

use riff_link::riff_link;

#[riff_link("attribute_on_struct.toml")]
pub struct Demo;

fn main() {}
