//! What a call notes before its first try, and says in the headers of each.

use http::HeaderMap;
use link_wire::{CallId, Caller, Kind, LogPosition};

use super::PendingCall;
use crate::{
    budget::Deadline,
    link::Acks,
    outcome::Cause,
    request::{Request, set},
};

/// The headers of one call that are made once, so that no reply that comes between two of its
/// tries changes them.
pub(super) struct Note<'a> {
    request: &'a Request,
    /// The call ID of a command.
    id: Option<&'a CallId>,
    /// A signal's place in the order.
    sent: Option<String>,
    seen: Option<LogPosition>,
    caller: Option<Caller>,
    acks: Option<Acks>,
}

impl<'a> Note<'a> {
    pub(super) fn new(request: &'a Request, id: Option<&'a CallId>) -> Self {
        let link = request.link();
        if let Some(entry) = request.entry() {
            return Self::of(request, id, (entry.seen, entry.caller.clone()));
        }
        let mut note = Self {
            request,
            id,
            sent: (request.route().kind == Kind::Signal).then(|| link.next_signal()),
            seen: None,
            caller: None,
            acks: None,
        };
        if let Some(asked) = request.asks_about() {
            note.seen = asked.seen;
            note.caller = asked.caller.clone().or_else(|| request.known().caller());
        } else if id.is_some() {
            let acks = request.known().acks();
            note.seen = link.seen();
            note.caller = acks.caller().cloned();
            note.acks = Some(acks);
        }
        note
    }

    /// Of a command that stands in the outbox: each try says what stood in the first.
    pub(super) fn of(
        request: &'a Request,
        id: Option<&'a CallId>,
        (seen, caller): (Option<LogPosition>, Option<Caller>),
    ) -> Self {
        let caller = caller.or_else(|| request.known().caller());
        let acks = Some(request.known().acks());
        // What another caller of these credentials acknowledges is not this one's.
        let acks = acks.filter(|acks| acks.caller() == caller.as_ref());
        Self {
            request,
            id,
            sent: None,
            seen,
            caller,
            acks,
        }
    }

    /// Adds the headers of the try of this number.
    pub(super) fn add_to(
        &self,
        headers: &mut HeaderMap,
        number: u32,
        deadline: Deadline,
    ) -> Result<(), Cause> {
        let names = &self.request.service().headers;
        if let Some(id) = self.id {
            set(headers, names.call, id.as_str())?;
            set(headers, names.attempt, number.to_string())?;
        }
        if let Some(sent) = &self.sent {
            set(headers, names.sent, sent)?;
        }
        if let Some(seen) = self.seen {
            set(headers, names.log, seen.to_string())?;
        }
        if let Some(caller) = &self.caller {
            set(headers, names.caller, caller.as_str())?;
        }
        if let Some(acks) = self.acks.as_ref().and_then(Acks::header) {
            set(headers, names.ack, acks)?;
        }
        if let Some(left) = deadline.left_ms() {
            set(headers, names.budget, left.to_string())?;
        }
        Ok(())
    }

    /// The call ID of a command.
    pub(super) fn id(&self) -> Option<&CallId> {
        self.id
    }

    /// The position that each try says.
    pub(super) fn seen(&self) -> Option<LogPosition> {
        self.seen
    }

    /// From here on the tries say this position: no earlier one can have run.
    pub(super) fn move_to(&mut self, here: LogPosition) {
        self.seen = Some(here);
    }

    /// The call has its reply, which the server wrote together with what was acknowledged.
    pub(super) fn replied(&mut self) {
        if let Some(acks) = self.acks.take() {
            acks.said();
        }
    }

    /// The command, for whoever has to find out what became of it.
    pub(super) fn pending(&self) -> Option<PendingCall> {
        self.id.map(|id| PendingCall {
            id: id.clone(),
            seen: self.seen,
            caller: self.caller.clone(),
        })
    }
}
