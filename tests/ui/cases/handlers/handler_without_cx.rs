//! A handler has too few parameters.

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

#[riff_link("handler_without_cx.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;

    #[riff_route]
    fn claim(item: String, body: String) -> bool;
}

#[riff_handlers]
impl DemoHandlers for Board {
    #[riff_route]
    fn who(&self, query: String) -> Result<String, Refusal> {
        Ok(query)
    }

    #[riff_route]
    fn claim(
        &self,
        _cx: &Cx<'_>,
        item: String,
        _body: String,
    ) -> Result<Accepted<String, bool>, Refusal> {
        Ok(Accepted::new(item, true))
    }
}

fn main() {}
