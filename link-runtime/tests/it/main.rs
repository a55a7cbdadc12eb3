//! The client over real sockets: what it makes of a server that does what a script says.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic, in its functions too"
)]

mod calls;
mod commands;
mod connections;
mod credentials;
mod cuts;
mod fixture;
mod forgotten;
mod heartbeat;
mod http2;
mod outbox;
mod resolve;
mod server;
mod spans;
mod streams;
mod streams_end;
mod streams_wait;
mod threads;
