//! A POST has its input in the URL.

use riff_link::{riff_link, riff_route};

#[riff_link("query_of_post.toml")]
pub trait Demo {
    #[riff_route]
    fn claim(item: String, query: String) -> bool;
}

fn main() {}
