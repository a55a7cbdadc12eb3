//! The query to catch up with does not ask after a cursor.

use riff_link::{Page, riff_link, riff_route};

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Message {
    pub seq: u64,
}

#[riff_link("catch_up_without_query.toml")]
pub trait Demo {
    #[riff_route]
    fn history(thread: String) -> Page<Message>;

    #[riff_route]
    fn tail(thread: String) -> Message;
}

fn main() {}
