//! What a handler may know beside the state: who calls, when, and who is here.

use link_wire::{Caller, UnixMillis};

use crate::Presence;

/// The context of one call.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    caller: &'a Caller,
    now: UnixMillis,
    presence: &'a Presence,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(caller: &'a Caller, now: UnixMillis, presence: &'a Presence) -> Self {
        Self {
            caller,
            now,
            presence,
        }
    }

    /// Who calls, from authentication.
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// The time of this call. A handler knows no other clock.
    pub fn now(&self) -> UnixMillis {
        self.now
    }

    /// Who is here, and what they said last: as it was when this handler first asked.
    pub fn presence(&self) -> &'a Presence {
        self.presence
    }
}
