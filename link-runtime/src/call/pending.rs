//! A command of which nobody knows what became: all that is needed to ask its server.

use std::fmt;

use link_wire::{CallId, Caller, LogPosition};

/// A command that may have run, as [`CallError::Unknown`](super::CallError::Unknown) names it.
///
/// [`Api::resolve`](crate::Api::resolve) asks the server what became of it. `Display` is its ID.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PendingCall {
    /// Its call ID.
    pub id: CallId,
    /// The newest place in the server's log that was seen before its first try; none when no
    /// reply had said one. With it, a server can tell a call that never arrived from one that it
    /// has forgotten.
    pub seen: Option<LogPosition>,
    /// Whose it is, as the server names the caller; none when no reply had said it.
    pub caller: Option<Caller>,
}

impl From<CallId> for PendingCall {
    /// A call of which only the ID is known, as that of a future that was dropped. A server that
    /// has forgotten calls of its caller then says of one that never arrived that it may have run.
    fn from(id: CallId) -> Self {
        Self {
            id,
            seen: None,
            caller: None,
        }
    }
}

impl fmt::Display for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}
