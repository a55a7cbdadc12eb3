//! What a handler may know beside the state: who calls, when, for how long, and who is here.

use std::time::Duration;

use link_wire::{Caller, UnixMillis};

use crate::Presence;

/// The context of one call.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    caller: &'a Caller,
    now: UnixMillis,
    presence: &'a Presence,
    remaining: Option<Duration>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(caller: &'a Caller, now: UnixMillis, presence: &'a Presence) -> Self {
        Self {
            caller,
            now,
            presence,
            remaining: None,
        }
    }

    /// The same, and the caller waits for so long.
    pub(crate) fn within(self, remaining: Option<Duration>) -> Self {
        Self { remaining, ..self }
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

    /// What was left of the caller's budget when this handler was asked, so that it can be passed
    /// on. It stays the same while the handler runs.
    ///
    /// None when the caller does not say it, and for a command and a stream: what is decided must
    /// not depend on the patience of one try.
    pub fn remaining(&self) -> Option<Duration> {
        self.remaining
    }
}
