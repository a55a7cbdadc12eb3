//! The server of this project, as a program of its own has it.

use std::any::Any;

use link_wire::{Build, Headers, Limits, Service};
use server_runtime::{Engine, EngineOptions, Handler, MemoryJournal, Server, Tokens};

use super::{peer::Up, place};
use crate::app::{self, Board, SAY};

static SERVICE: Service = Service {
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
        line: "1.0",
        version: "0.1.0",
        commit: None,
        time: None,
    },
    limits: Limits::DEFAULT,
    routes: std::slice::from_ref(&SAY),
};

/// Over files, with all limits and checkpoints as they are by default: a reply leaves after the
/// sync (fdatasync) of the chunk that has its record.
pub(crate) async fn durable() -> Result<Up, String> {
    let dir = place::directory()?;
    let engine = app::engine(&dir.path().join("log"), EngineOptions::default())?;
    serve(engine, dir).await
}

/// Over memory: all the same but the disk.
pub(crate) async fn not_durable() -> Result<Up, String> {
    let engine = Engine::open(MemoryJournal::new(), Board::default());
    serve(engine.map_err(|error| error.to_string())?, ()).await
}

async fn serve(engine: Engine<Board>, held: impl Any) -> Result<Up, String> {
    let mut tokens = Tokens::new();
    for number in 0..16 {
        tokens = tokens.with(app::caller(number)?, &format!("token-{number}"));
    }
    let handlers = vec![Handler::command(&SAY, app::say)];
    let server = Server::new(&SERVICE, engine, handlers).authenticate(tokens);
    let (listener, at) = place::listener().await?;
    tokio::spawn(async move {
        if let Err(error) = server.serve(listener, std::future::pending()).await {
            eprintln!("ours ended: {error}");
        }
    });
    Ok(Up {
        at,
        held: Box::new(held),
    })
}
