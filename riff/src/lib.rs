//! riff: a small coordination server for people and coding agents, and its command line.
//!
//! | module | what |
//! |---|---|
//! | [`board`] | the domain: threads, items, what a change of them is, and who may make it |
//! | [`server`] | `riff-server`: one directory, one port |
//! | [`clock`] | what time it is, for a person |
//! | [`command`] | `riff`: one file a command |
//! | [`output`] | the one place that prints |

pub mod board;
pub mod clock;
pub mod command;
pub mod output;
pub mod server;
