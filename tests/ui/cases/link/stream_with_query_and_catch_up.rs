//! A stream that catches up has a query, which the catch-up would not know.

use riff_link::{After, Page, riff_link, riff_route};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Message {
    pub seq: u64,
}

#[riff_link("stream_with_query_and_catch_up.toml")]
pub trait Demo {
    #[riff_route]
    fn history(thread: String, query: After) -> Page<Message>;

    #[riff_route]
    fn tail(thread: String, query: String) -> Message;
}

fn main() {}
