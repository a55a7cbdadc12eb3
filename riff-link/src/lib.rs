//! riff link: a client and a server that lose no call and run none twice, made of one file.
//!
//! A file, `link.toml`, lists the routes of an HTTP API, each with its kind and its budget. A
//! trait declares their types. Two attributes make the rest:
//!
//! ```text
//! #[riff_link("link.toml")]            // in the crate that both sides share
//! pub trait Riff {
//!     /// Claims an item for the caller.
//!     #[riff_route]
//!     fn claim(item: ItemId, body: Claim) -> Claimed;
//! }
//!
//! let api = RiffApi::open("https://riff.example", Credentials::bearer(token))?;
//! let claimed = api.claim(&item, &Claim {}).await?;       // in the client
//!
//! #[riff_handlers]                     // in the server
//! impl RiffHandlers for Board {
//!     #[riff_route]
//!     fn claim(&self, cx: &Cx<'_>, item: ItemId, body: Claim)
//!         -> Result<Accepted<Change, Claimed>, Refusal> { … }
//! }
//! ```
//!
//! | kind | changes | sent again | on the server |
//! |---|---|---|---|
//! | query | nothing | within its budget | reads the written state |
//! | signal | presence in memory | within its budget | the newest wins |
//! | command | the log | under one call ID | decided once, logged, replied |
//! | stream | nothing | for ever | server-sent events |
//!
//! # Features
//!
//! | feature | default | what |
//! |---|---|---|
//! | `client` | yes | [`client`], and what the macros make for it |
//! | `server` | yes | [`server`], and what the macros make for it |
//! | `rustls` | yes | HTTPS, in client and server |
//!
//! A crate that declares a link needs neither: what the macros make for a side is left out when
//! the side is not there.

pub use link_macros::{__handlers, riff_handlers, riff_link, riff_route};
#[cfg(feature = "client")]
pub use link_runtime as client;
#[cfg(feature = "client")]
pub use link_runtime::link;
pub use link_wire::{
    After, Attempts, Budget, Build, CallFate, CallId, Caller, Code, Cursor, Fate, Headers,
    InvalidCallId, InvalidCaller, Kind, Limits, LogPosition, OutboxRule, Page, PathValue, Position,
    Problem, Route, RunId, Service, UnixMillis,
};
#[cfg(feature = "server")]
pub use server_runtime as server;

/// Passes on what the macros made for the client. Not for people.
#[cfg(feature = "client")]
#[doc(hidden)]
#[macro_export]
macro_rules! __client {
    ($($code:tt)*) => { $($code)* };
}

/// Leaves out what the macros made for the client. Not for people.
#[cfg(not(feature = "client"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __client {
    ($($code:tt)*) => {};
}

/// Passes on what the macros made for the server. Not for people.
#[cfg(feature = "server")]
#[doc(hidden)]
#[macro_export]
macro_rules! __server {
    ($($code:tt)*) => { $($code)* };
}

/// Leaves out what the macros made for the server. Not for people.
#[cfg(not(feature = "server"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __server {
    ($($code:tt)*) => {};
}
