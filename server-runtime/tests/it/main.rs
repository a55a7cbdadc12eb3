//! The server from the outside: over sockets on port 0, and on real directories.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

mod app;
mod client;
mod commands;
mod forgotten;
mod http2;
mod journal;
mod log_check;
mod log_copies;
mod log_files;
mod order;
mod stop;
mod streams;
mod tls;
