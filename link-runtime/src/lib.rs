//! The client side of a riff link: one link to a server, the rule of tries, streams that resume.
//!
//! Generated code and its users name what is exported here; the modules are private.
//!
//! ```text
//! Api ─ Request ─┬─ Call, CommandCall ── call::run ──┬── outcome, wait, budget   (pure rules)
//!                └─ EventStream ─────── stream task ─┤
//!                                                    └── transport ── the one HTTP client
//!                      Link: state, order of signals, counters, the client and its swaps
//! ```
//!
//! | module | what |
//! |---|---|
//! | `link` | the one link of a server in this process |
//! | `request` | an [`Api`] of one service, and one [`Request`] of it |
//! | `call` | queries, signals and commands: the loop of tries, and the three truths of its end |
//! | `resolve` | what became of a command that may have run |
//! | [`outbox`] | commands that owe a reply, on the disk of this machine |
//! | `outcome` | what was seen of a try → what follows from it; pure |
//! | `wait` | how long until the next try; pure |
//! | `budget` | the deadline of a call |
//! | `stream` | events that resume, with a parser of their text |
//! | `heartbeat` | a signal that is sent again and again |
//! | `program` | the file of this program, for a process that waits for another build |
//! | `state` | what a person is told of the link |
//! | `auth` | who calls |
//! | `clock` | the only reader of the wall clock |
//! | `transport` | bytes to the server and back; the only module that knows the HTTP library |

mod auth;
mod budget;
mod call;
mod clock;
mod heartbeat;
pub mod link;
pub mod outbox;
mod outcome;
mod program;
mod request;
mod resolve;
mod state;
mod stream;
mod transport;
mod wait;

pub use self::{
    auth::{Credentials, TokenError},
    call::{Call, CallError, CommandCall, PendingCall, Refused},
    heartbeat::{Heartbeat, heartbeat},
    link::{InvalidBase, Link, Stats},
    outbox::{Outbox, OutboxError, OutboxLimits},
    outcome::Cause,
    program::Program,
    request::{Api, Request},
    resolve::{Resolve, Resolved, Unresolved},
    state::{State, link_line},
    stream::{EventStream, StreamError, StreamItem},
};
