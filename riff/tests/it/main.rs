//! The programs, as a person runs them: real processes, a real directory, a real port.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops where it does not understand"
)]

mod backup;
mod bad_input;
mod calls;
mod checkpoints;
mod commands;
mod damage;
mod https;
mod log_command;
mod no_room;
mod old_log;
mod outbox;
mod renew;
mod restart;
mod serve;
mod tokens;
mod world;
