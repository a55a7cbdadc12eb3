//! The client of riff over real sockets, against servers that follow a script.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic, in its functions too"
)]

mod calls;
mod connections;
mod cuts;
mod fixture;
mod proxy_env;
mod restart;
mod retry_after;
mod sse;
mod strangers;
mod streams;
mod two;
mod two_fronts;
