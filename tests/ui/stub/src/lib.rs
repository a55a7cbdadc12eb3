//! The facade `riff_link` with both sides, but without HTTP, disk or runtime behind them.
//!
//! The tests of the macros compile what is generated against it. It has the names and the types
//! that generated code uses, and nothing else; the golden expansion, which is compiled against
//! the real facade, holds that the names are the same.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::type_complexity,
    reason = "each item stands in for the one of the same name in riff-link"
)]

pub use link_macros::{__handlers, riff_handlers, riff_link, riff_route};
pub use link_wire::*;

#[macro_export]
macro_rules! __client {
    ($($code:tt)*) => { $($code)* };
}

#[macro_export]
macro_rules! __server {
    ($($code:tt)*) => { $($code)* };
}

pub mod client;
pub mod server;
pub use client::link;
