//! The event has no field with the name of the cursor.

use riff_link::{After, Page, riff_link, riff_route};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Message {
    pub number: u64,
}

#[riff_link("event_without_cursor.toml")]
pub trait Demo {
    #[riff_route]
    fn history(thread: String, query: After) -> Page<Message>;

    #[riff_route]
    fn tail(thread: String) -> Message;
}

fn main() {}
