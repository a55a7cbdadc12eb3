//! A proxy that breaks HTTP/1.1 connections on purpose, and servers that follow a script, for tests
//! and the demo.
//!
//! The proxy stands on loopback between a client and a server. For each request it draws a fault, or
//! none, from a seed: the same seed draws the same faults for the same numbers of requests.
//!
//! ```text
//! client ── Proxy ── server
//!             │
//!             ├─ plan       which fault the n-th request meets; pure
//!             ├─ exchange   one connection of a client: request in, fault or reply out
//!             ├─ message    whole requests and replies, by the framing of RFC 9112
//!             ├─ events     an event stream, passed on piece by piece
//!             └─ sabotage   takes one protection away, to show that a count can fail
//! ```
//!
//! Beside it are servers that follow a script, for the one case that a test is about. Each takes
//! down all requests with their headers in order, and counts its connections.
//!
//! ```text
//! Origin   raw TCP, step by step: half a reply, torn pieces, FIN, RST, half a close, silence
//! Events   the answer to the open of an event stream, as steps of an Origin
//! Origin2  HTTP/2, in clear text or over TLS: GOAWAY, refused streams, silence
//! Gate     what a script waits for until its test says so
//! ```

mod chance;
mod counts;
mod events;
mod exchange;
mod log;
mod message;
mod origin;
mod plan;
mod proxy;
mod running;
mod sabotage;
#[cfg(feature = "tls")]
mod tls;
mod two;

#[cfg(feature = "tls")]
pub use self::tls::Identity;
pub use self::{
    chance::{Chance, new_seed},
    counts::Counts,
    log::{Gate, Seen, Told},
    origin::{Events, Origin, Script, Step, reply, reply_in_chunks},
    plan::{Kind, Plan, Sabotage},
    proxy::Proxy,
    two::{Origin2, Step2},
};
