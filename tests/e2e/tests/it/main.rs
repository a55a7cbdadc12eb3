//! The generated client against the generated server, through connections that break.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops where it does not understand, and shows the seed of its chance"
)]

mod calls;
mod curl;
mod expanded;
mod streams;
mod world;
