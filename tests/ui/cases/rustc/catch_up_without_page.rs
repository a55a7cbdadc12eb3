//! The query to catch up with gives no page of events.

use riff_link::{After, Page, riff_link, riff_route};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Message {
    pub seq: u64,
}

#[riff_link("catch_up_without_page.toml")]
pub trait Demo {
    #[riff_route]
    fn history(thread: String, query: After) -> Vec<Message>;

    #[riff_route]
    fn tail(thread: String) -> Message;
}

fn main() {}
