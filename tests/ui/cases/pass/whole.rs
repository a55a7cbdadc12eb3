//! All four kinds, with and without path, input and cursor, in a module that is not the root.

mod api {
    use riff_link::{After, Page, riff_link, riff_route};

    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct Message {
        pub seq: u64,
    }

    #[riff_link("whole.toml")]
    pub trait Demo {
        /// Who is there.
        #[riff_route]
        fn who(query: String) -> String;

        #[riff_route]
        fn claim(item: u32, body: String);

        #[riff_route]
        fn history(thread: String, query: After) -> Page<Message>;

        #[riff_route]
        fn tail(thread: String) -> Message;

        #[riff_route]
        fn alive(body: String) -> bool;

        #[riff_route]
        fn bare() -> u64;
    }
}

mod server {
    use riff_link::{
        After, Page, riff_handlers, riff_route,
        server::{Accepted, Cx, Events, Record, Refusal, State},
    };

    use crate::api::{DemoHandlers, Message};

    #[derive(Clone)]
    pub struct Board;

    impl State for Board {
        type Change = u32;

        fn apply(&mut self, _record: &Record<u32>) {}
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
            item: u32,
            _body: String,
        ) -> Result<Accepted<u32, ()>, Refusal> {
            Ok(Accepted::new(item, ()))
        }

        #[riff_route]
        fn history(
            &self,
            _cx: &Cx<'_>,
            _thread: String,
            query: After,
        ) -> Result<Page<Message>, Refusal> {
            Ok(Page { items: vec![Message { seq: query.after }], lost: 0, more: false })
        }

        #[riff_route]
        fn tail(&self, _cx: &Cx<'_>, _thread: String) -> Result<Events<u32, Message>, Refusal> {
            Ok(Events::new(|record| Some(Message { seq: u64::from(record.change) })))
        }

        #[riff_route]
        fn alive(&self, _cx: &Cx<'_>, body: String) -> Result<bool, Refusal> {
            Ok(body.is_empty())
        }

        #[riff_route]
        fn bare(&self, _cx: &Cx<'_>) -> Result<Events<u32, u64>, Refusal> {
            Ok(Events::new(|record| Some(u64::from(record.change))))
        }
    }
}

use api::{DemoApi, DemoCalls, DemoServer};
use riff_link::{client::Credentials, server::Engine};

/// Code that is generic over its client can hold it as an object.
fn generic(calls: &dyn DemoCalls) {
    let _ = calls.claim(&7, &"now".into());
}

fn main() {
    let api = DemoApi::open("http://127.0.0.1:1", Credentials).unwrap();
    generic(&api);
    let _ = api.tail(&"general".into());
    let _: fn(Engine<server::Board>) -> _ = DemoServer::new::<server::Board>;
}
