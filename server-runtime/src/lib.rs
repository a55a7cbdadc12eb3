//! The server side of a riff link: commands that run once, a log, streams, and their HTTP.

pub mod auth;
mod clock;
pub mod cx;
pub mod engine;
pub mod handler;
pub mod http;
pub mod journal;
pub mod log;
pub mod presence;
pub mod refusal;
pub mod state;

pub use self::{
    auth::{Authenticate, Tokens},
    cx::Cx,
    engine::{Engine, EngineFailed, OpenError, Opened},
    handler::{
        Decision, Handler, Heard, Input, No, Projection, Reply, decision, heard, projection, reply,
    },
    http::{ServeError, Server},
    journal::{FileJournal, Journal, JournalError, MemoryJournal},
    presence::{Presence, Present},
    refusal::{Refusal, RefusalKind},
    state::{Accepted, Events, Record, State},
};
