//! A method is async.

use riff_link::{riff_link, riff_route};

#[riff_link("async_method.toml")]
pub trait Demo {
    #[riff_route]
    async fn who(query: String) -> String;
}

fn main() {}
