//! The shape of a query that a stream catches up with.
//!
//! A stream names it as `catch_up` in link.toml. Its query is [`After`], its reply is a
//! [`Page`] of the stream's events, so that the link can read what came while it was away.

use serde::{Deserialize, Serialize};

/// Which events to read: those whose cursor is greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// The cursor of the last event that the reader has; 0 for none.
    #[serde(default)]
    pub after: u64,
}

/// Events in the order of their cursors, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The events, each with a cursor greater than `after`.
    pub items: Vec<T>,
    /// How many events came after `after`, and before the first of these, that the server no
    /// longer has.
    #[serde(default)]
    pub lost: u64,
    /// Whether more events follow the last of these.
    #[serde(default)]
    pub more: bool,
}
