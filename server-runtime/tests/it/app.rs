//! A small application to serve: items that callers claim, and what they say.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    sync::{Condvar, Mutex},
};

use link_wire::{Build, Caller, Cursor, Headers, Kind, Limits, Position, Route, Service};
use serde::{Deserialize, Serialize};
use server_runtime::{
    Accepted, Cx, Engine, Events, FileJournal, Handler, Journal, Record, Refusal, ServeError,
    Server, State, Tokens, decision, heard, projection, reply,
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

const fn route(
    name: &'static str,
    kind: Kind,
    method: &'static str,
    path: &'static str,
    line: u32,
) -> Route {
    Route {
        name,
        kind,
        method,
        path,
        budget: None,
        outbox: link_wire::OutboxRule::Keep,
        line,
    }
}

static ROUTES: [Route; 9] = [
    route("here", Kind::Query, "GET", "/v1/here", 1),
    route("item", Kind::Query, "GET", "/v1/items/{item}", 2),
    route("claim", Kind::Command, "POST", "/v1/items/{item}", 3),
    route("say", Kind::Command, "POST", "/v1/say", 4),
    route("boom", Kind::Command, "POST", "/v1/boom", 5),
    route("alive", Kind::Signal, "POST", "/v1/alive", 6),
    route("tail", Kind::Stream, "GET", "/v1/tail/{by}", 7),
    route("hum", Kind::Stream, "GET", "/v1/hum", 8),
    route("hang", Kind::Query, "GET", "/v1/hang", 9),
];

pub(crate) static SERVICE: Service = Service {
    name: "riff",
    headers: Headers {
        build: "riff-build",
        call: "riff-call",
        caller: "riff-caller",
        attempt: "riff-try",
        sent: "riff-sent",
        repeat: "riff-repeat",
        refused: "riff-refused",
        log: "riff-log",
        ack: "riff-ack",
        budget: "riff-budget",
    },
    build: Build {
        line: "1.1",
        version: "0.1.0",
        commit: None,
        time: None,
    },
    limits: Limits::DEFAULT,
    routes: &ROUTES,
};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Board {
    held: BTreeMap<String, Caller>,
    said: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Held { item: String },
    Said { text: String },
}

#[derive(Debug, Serialize)]
struct Said {
    seq: Position,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Say {
    text: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Alive {
    mood: String,
}

#[derive(Debug, Deserialize)]
struct Here {
    #[serde(default)]
    only: Option<String>,
}

impl State for Board {
    type Change = Change;

    fn apply(&mut self, record: &Record<Change>) {
        match &record.change {
            Change::Held { item } => {
                self.held.insert(item.clone(), record.by.clone());
            }
            Change::Said { .. } => self.said += 1,
        }
    }
}

/// What the handler of `hang` waits at.
pub(crate) static GATE: Gate = Gate {
    state: Mutex::new((false, false)),
    changed: Condvar::new(),
};

/// A place at which a thread stops until a test lets it go on.
pub(crate) struct Gate {
    /// Whether somebody stands here, and whether it is open.
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |(_, open)| !*open).unwrap());
    }

    /// Returns when somebody stands at the gate.
    pub(crate) fn reached(&self) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |(here, _)| !*here).unwrap());
    }

    pub(crate) fn open(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

/// What generated code asks an author to implement.
trait Handlers: State {
    fn here(&self, cx: &Cx<'_>, query: &Here) -> Result<BTreeMap<String, Option<String>>, Refusal>;
    fn item(&self, item: &str) -> Result<Option<Caller>, Refusal>;
    fn claim(&self, cx: &Cx<'_>, item: String) -> Result<Accepted<Self::Change, u64>, Refusal>;
    fn say(&self, say: Say) -> Result<Accepted<Self::Change, u64>, Refusal>;
    fn tail(&self, by: Caller) -> Result<Events<Self::Change, Said>, Refusal>;
    fn hum(&self) -> Result<Events<Self::Change, u64>, Refusal>;
}

impl Handlers for Board {
    fn here(&self, cx: &Cx<'_>, query: &Here) -> Result<BTreeMap<String, Option<String>>, Refusal> {
        let all = cx.presence().callers().map(|present| {
            let mood = present.signal::<Alive>().map(|alive| alive.mood.clone());
            (present.caller().to_string(), mood)
        });
        Ok(all
            .filter(|(name, _)| query.only.as_ref().is_none_or(|only| only == name))
            .collect())
    }

    fn item(&self, item: &str) -> Result<Option<Caller>, Refusal> {
        match item {
            "secret" => Err(Refusal::forbidden("not_yours", "ask ann")),
            item => Ok(self.held.get(item).cloned()),
        }
    }

    fn claim(&self, cx: &Cx<'_>, item: String) -> Result<Accepted<Change, u64>, Refusal> {
        match self.held.get(&item) {
            Some(by) => Err(Refusal::conflict("held", format!("{by} holds it"))),
            None => Ok(Accepted::new(Change::Held { item }, cx.now().0)),
        }
    }

    fn say(&self, say: Say) -> Result<Accepted<Change, u64>, Refusal> {
        Ok(Accepted::new(
            Change::Said { text: say.text },
            self.said + 1,
        ))
    }

    fn tail(&self, by: Caller) -> Result<Events<Change, Said>, Refusal> {
        Ok(Events::from(
            self.said,
            move |record: &Record<Change>| match &record.change {
                Change::Said { text } if record.by == by => Some(Said {
                    seq: record.position,
                    text: text.clone(),
                }),
                _ => None,
            },
        ))
    }

    fn hum(&self) -> Result<Events<Change, u64>, Refusal> {
        Ok(Events::new(|record: &Record<Change>| {
            Some(record.position.0)
        }))
    }
}

pub(crate) fn handlers() -> Vec<Handler<Board>> {
    vec![
        Handler::query(&ROUTES[0], |state, cx, input| {
            let query = input.query::<Here>()?;
            reply(state.here(cx, &query))
        }),
        Handler::query(&ROUTES[1], |state, _, input| {
            let item = input.path::<String>("item")?;
            reply(state.item(&item))
        }),
        Handler::command(&ROUTES[2], |state, cx, input| {
            let item = input.path::<String>("item")?;
            decision(state.claim(cx, item))
        }),
        Handler::command(&ROUTES[3], |state, _, input| {
            let body = input.body::<Say>()?;
            decision(state.say(body))
        }),
        Handler::command(&ROUTES[4], |_, _, _| panic!("a secret of the inside")),
        Handler::signal(&ROUTES[5], |_, _, input| {
            let body = input.body::<Alive>()?;
            heard(Ok(()), body)
        }),
        Handler::stream(&ROUTES[6], |state, _, input| {
            let by = input.path::<Caller>("by")?;
            projection(
                state.tail(by),
                Some(|event: &Said| Cursor::cursor(&event.seq)),
            )
        }),
        Handler::stream(&ROUTES[7], |state, _, _| projection(state.hum(), None)),
        Handler::query(&ROUTES[8], |_, _, _| {
            GATE.pass();
            reply(Ok(()))
        }),
    ]
}

/// A server on a socket.
pub(crate) struct Running {
    pub(crate) at: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), ServeError>>,
}

impl Running {
    /// Tells it to stop, and waits until it has.
    pub(crate) async fn stop(self) -> Result<(), ServeError> {
        self.begin_stop().await.unwrap()
    }

    /// Tells it to stop.
    pub(crate) fn begin_stop(self) -> JoinHandle<Result<(), ServeError>> {
        self.stop.send(()).unwrap();
        self.served
    }
}

pub(crate) fn server(journal: impl Journal) -> Server<Board> {
    let engine = Engine::open(journal, Board::default()).unwrap();
    let tokens = Tokens::new()
        .with("ann".parse().unwrap(), "ann-token")
        .with("ann".parse().unwrap(), "ann-new-token")
        .with("ben".parse().unwrap(), "ben-token");
    Server::new(&SERVICE, engine, handlers()).authenticate(tokens)
}

pub(crate) async fn serve(journal: impl Journal) -> Running {
    run(server(journal)).await
}

pub(crate) async fn run(server: Server<Board>) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        let stop = async { stopped.await.unwrap_or_default() };
        server.serve(listener, stop).await
    });
    Running {
        at,
        stop,
        served: task,
    }
}

pub(crate) async fn serve_dir(dir: &Path) -> Running {
    serve(FileJournal::open(dir).unwrap()).await
}
