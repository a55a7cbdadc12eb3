//! The generated client against the generated server, through connections that break.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops where it does not understand"
)]

mod calls;
mod curl;
mod expanded;
mod streams;
mod world;
