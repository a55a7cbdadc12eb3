//! The cursor is no number.

use riff_link::{After, Page, riff_link, riff_route};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Message {
    pub seq: String,
}

#[riff_link("cursor_of_another_type.toml")]
pub trait Demo {
    #[riff_route]
    fn history(thread: String, query: After) -> Page<Message>;

    #[riff_route]
    fn tail(thread: String) -> Message;
}

fn main() {}
