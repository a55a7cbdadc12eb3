//! The attribute stands on an inherent impl.

mod board {
    use riff_link::server::{Record, State};

    #[derive(Clone)]
    pub struct Board;

    impl State for Board {
        type Change = String;

        fn apply(&mut self, _record: &Record<String>) {}
    }
}

use board::Board;
use riff_link::{
    riff_handlers, riff_link, riff_route,
    server::{Accepted, Cx, Refusal},
};

#[riff_link("handlers_without_trait.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;

    #[riff_route]
    fn claim(item: String, body: String) -> bool;
}

#[riff_handlers]
impl Board {
    fn own(&self) {}
}

fn main() {}
