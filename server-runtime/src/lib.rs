//! The server side of a riff link: commands that run once, a log, streams, and their HTTP.
//!
//! ```text
//! http ──► engine ──► journal ──► a directory, or memory
//!   │        │
//!   └────────┴──► handler: what the application wrote, pure
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`state`], [`refusal`] | what an application gives: its state, its changes, its yes and no |
//! | [`handler`], [`cx`] | the table of handlers, and what a handler may know |
//! | [`presence`] | who is here and what they said last, in memory only |
//! | [`auth`] | from a bearer token to a caller |
//! | [`engine`] | decides once, writes, and only then lets anybody see it |
//! | [`journal`] | the log as the engine writes it: in a directory, or in memory for tests |
//! | [`log`] | the log as people and tests read it |
//! | `tls` | with the feature `rustls`: certificates, and who shows one |
//! | [`http`] | the server: order of a request, replies, streams, start and stop |
//!
//! Only `http` names axum, hyper and http types; only `journal` and `tls` name the file system;
//! only `clock` reads the time of day.
//!
//! Calls are remembered within limits, and what was forgotten never runs again; the log grows,
//! unless an option says that what checkpoints cover is dropped.

pub mod auth;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench;
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
#[cfg(feature = "rustls")]
pub mod tls;

pub use self::{
    auth::{Authenticate, Tokens},
    cx::Cx,
    engine::{
        CallLimits, CallStats, CheckpointError, Engine, EngineFailed, EngineOptions, EngineStats,
        OpenError, Opened,
    },
    handler::{
        Decision, Handler, Heard, Input, No, Projection, Reply, decision, heard, projection, reply,
    },
    http::{ServeError, Server},
    journal::{FileJournal, Journal, JournalError, MemoryJournal},
    presence::{Presence, Present},
    refusal::{Refusal, RefusalKind},
    state::{Accepted, Events, Record, State},
};

/// The stages of a command, for the proof that a reply is made of nothing but a written one.
#[doc(hidden)]
pub use self::engine::stage;
