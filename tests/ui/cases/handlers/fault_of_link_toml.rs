//! link.toml has a mistake, and all else is right: one error, at the file's name.

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

#[riff_link("fault_of_link_toml.toml")]
pub trait Demo {
    #[riff_route]
    fn who(query: String) -> String;

    #[riff_route]
    fn claim(item: String, body: String) -> bool;
}

#[riff_handlers]
impl DemoHandlers for Board {
    #[riff_route]
    fn who(&self, _cx: &Cx<'_>, query: String) -> Result<String, Refusal> {
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

/// The rest of the program, which has no mistake.
fn rest(engine: riff_link::server::Engine<Board>, calls: &dyn DemoCalls) {
    let _ = DemoServer::new(engine);
    let _ = calls.who(&String::new());
    if let Ok(api) = DemoApi::open("http://127.0.0.1:1", riff_link::client::Credentials) {
        let _ = api.claim(&String::new(), &String::new());
    }
    let _ = DEMO.limits;
}

fn main() {}
