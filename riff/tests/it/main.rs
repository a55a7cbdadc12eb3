//! The programs, as a person runs them: real processes, a real directory, a real port.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops where it does not understand"
)]

mod bad_input;
mod commands;
mod restart;
mod world;
