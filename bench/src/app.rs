//! The application that is measured: three short strings in, a flag and a number out.

use std::{collections::BTreeMap, path::Path};

use link_wire::{CallId, Caller, Kind, Route};
use serde::{Deserialize, Serialize};
use server_runtime::{
    Accepted, Cx, Decision, Engine, EngineOptions, FileJournal, Input, No, Record, State, decision,
};

/// The route of the command.
pub(crate) static SAY: Route = Route {
    name: "say",
    kind: Kind::Command,
    method: "POST",
    path: "/v1/say",
    budget: None,
    outbox: link_wire::OutboxRule::Keep,
    line: 1,
};

/// What a command says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) thread: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// How many messages each thread has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Board {
    threads: BTreeMap<String, u64>,
}

impl Board {
    /// What a query reads.
    pub(crate) fn threads(&self) -> u64 {
        self.threads.values().sum()
    }
}

/// What a command is told.
#[derive(Serialize)]
pub(crate) struct Reply {
    first: bool,
    number: u64,
}

impl Reply {
    /// To the message of this number in its thread.
    pub(crate) fn to(number: u64) -> Self {
        Self {
            first: number == 1,
            number,
        }
    }
}

impl State for Board {
    type Change = Said;

    fn apply(&mut self, record: &Record<Said>) {
        let thread = &record.change.thread;
        match self.threads.get_mut(thread) {
            Some(count) => *count += 1,
            None => {
                self.threads.insert(thread.clone(), 1);
            }
        }
    }
}

/// The handler of the command.
pub(crate) fn say(board: &Board, _: &Cx<'_>, input: &Input<'_>) -> Result<Decision<Said>, No> {
    let said: Said = input.body()?;
    let number = board.threads.get(&said.thread).copied().unwrap_or(0) + 1;
    decision(Ok(Accepted::new(said, Reply::to(number))))
}

/// The body of a command: 121 bytes of JSON.
pub(crate) fn body() -> Vec<u8> {
    body_in("general")
}

/// The same in a thread of another name.
pub(crate) fn body_in(thread: &str) -> Vec<u8> {
    let said = Said {
        thread: thread.into(),
        title: "a title of some thirty letters".into(),
        text: "some fifty letters of text, as one writes them now".into(),
    };
    serde_json::to_vec(&said).unwrap_or_default()
}

/// A record of the log as the engine writes it for such a command: what the floor appends.
pub(crate) fn record() -> Vec<u8> {
    let change = String::from_utf8(body()).unwrap_or_default();
    format!(
        "{{\"position\":1000000,\"at\":1796083200000,\"by\":\"caller-7\",\"command\":\"say\",\
         \"call\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"fingerprint\":\"0123456789abcdef0123456789abcdef\",\
         \"attempt\":1,\"change\":{change},\"outcome\":{{\"reply\":{{\"first\":false,\"number\":\
         1000000}}}}}}"
    )
    .into_bytes()
}

/// The engine over a directory.
pub(crate) fn engine(dir: &Path, options: EngineOptions) -> Result<Engine<Board>, String> {
    let journal = FileJournal::open(dir).map_err(|error| error.to_string())?;
    Engine::open_with(journal, Board::default(), options).map_err(|error| error.to_string())
}

/// One of sixteen callers.
pub(crate) fn caller(number: usize) -> Result<Caller, String> {
    format!("caller-{}", number % 16)
        .parse()
        .map_err(|error| format!("{error}"))
}

/// The call ID of this number: each another one.
pub(crate) fn id(number: u64) -> CallId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    // Spread like random ones are.
    bytes[8..].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    CallId::from_bytes(bytes)
}
