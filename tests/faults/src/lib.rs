//! A proxy that breaks HTTP/1.1 connections on purpose, for tests and the demo.
//!
//! It stands on loopback between a client and a server. For each request it draws a fault, or
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

mod chance;
mod counts;
mod events;
mod exchange;
mod message;
mod plan;
mod proxy;
mod sabotage;

pub use self::{
    chance::{Chance, new_seed},
    counts::Counts,
    plan::{Kind, Plan, Sabotage},
    proxy::Proxy,
};
