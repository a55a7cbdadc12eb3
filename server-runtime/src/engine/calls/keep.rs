//! What is written is kept, and what is beyond the limits goes.

use link_wire::{CallId, Position, UnixMillis};

use super::{
    Account, Body, By, Call, CallLimits, Calls, List, NONE, Origin, Place, Waiters, Written,
    is_over,
    slots::{Id, Slots},
};
use crate::log::line::Outcome;

/// What it takes to remember a call, beside its reply: the entry, its place in the hash table,
/// and what an allocator adds.
const ENTRY_BYTES: u64 = 160;

impl Body {
    /// The bytes beside those of the entry.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Reply(reply) => reply.json().len(),
            Self::Refused(refusal) => refusal.code.len() + refusal.detail.len(),
            Self::ThinRefused(refused) => refused.1.len(),
            Self::Pending(_) | Self::Cancelled | Self::ThinRan | Self::Free(_) => 0,
        };
        bytes as u64
    }

    /// What is left of it when the reply goes.
    fn thinned(self) -> Self {
        match self {
            Self::Reply(_) => Self::ThinRan,
            Self::Refused(refusal) => {
                Self::ThinRefused(Box::new((refusal.status, refusal.code.into())))
            }
            other => other,
        }
    }
}

impl Account {
    fn list(&mut self, place: Place) -> Option<&mut List> {
        match place {
            Place::Kept => Some(&mut self.kept),
            Place::Acked => Some(&mut self.acked),
            Place::Thin => Some(&mut self.thin),
            Place::Foreign => Some(&mut self.foreign),
            Place::Pending => None,
        }
    }
}

impl Calls {
    /// Notes that the call is written, with its last record at `position`, and gives those who
    /// wait for it. `ack` are calls of the same caller whose replies have arrived.
    pub(in super::super) fn keep(
        &mut self,
        call: &Call,
        position: Position,
        at: UnixMillis,
        command: &str,
        written: Written,
        ack: &[CallId],
    ) -> Option<Waiters> {
        let caller = self.caller(&call.caller);
        for id in ack {
            self.acknowledge(caller, id);
        }
        let body = match written.into_outcome() {
            Outcome::Reply(reply) => Body::Reply(reply),
            Outcome::Refused(refusal) => Body::Refused(Box::new(refusal)),
            Outcome::Cancelled => Body::Cancelled,
        };
        let foreign = call.origin == Origin::Foreign;
        let (entry, waiters) = match self.find_in(caller, &call.id) {
            None => {
                let id = Id::of(call.id.as_str());
                (self.add(caller, id, call.fingerprint, body)?, None)
            }
            Some(entry) => {
                let waiters = self.replace(entry, body);
                self.slots[entry].fingerprint = call.fingerprint;
                (entry, waiters)
            }
        };
        let name = self.name(command);
        let slot = &mut self.slots[entry];
        (slot.position, slot.at, slot.command) = (position.0, at.0, name);
        self.place(entry, if foreign { Place::Foreign } else { Place::Kept });
        self.expire(at);
        self.shrink(caller);
        self.shrink_all(entry);
        waiters
    }

    /// Gives an entry another body, and takes it out of its lists.
    fn replace(&mut self, entry: u32, body: Body) -> Option<Waiters> {
        if matches!(self.slots[entry].body, Body::Pending(_)) {
            self.unpend(entry);
        } else {
            self.again += 1;
            self.displace(entry);
        }
        match std::mem::replace(&mut self.slots[entry].body, body) {
            Body::Pending(waiters) => Some(waiters),
            _ => None,
        }
    }

    /// Puts an entry, which stands in no list, at the end of its two lists.
    pub(super) fn place(&mut self, entry: u32, place: Place) {
        let slot = &mut self.slots[entry];
        slot.place = place;
        let (bytes, caller) = (slot.body.bytes(), slot.caller);
        self.bytes += ENTRY_BYTES + bytes;
        let account = &mut self.accounts[caller as usize];
        if matches!(place, Place::Kept | Place::Acked) {
            account.kept_bytes += bytes;
        }
        if let Some(list) = account.list(place) {
            self.slots.push(list, By::Caller, entry);
        }
        let (slots, all) = self.all(place);
        if let Some(all) = all {
            slots.push(all, By::All, entry);
        }
    }

    /// Takes an entry out of its two lists.
    fn displace(&mut self, entry: u32) {
        let slot = &self.slots[entry];
        let (bytes, caller, place) = (slot.body.bytes(), slot.caller, slot.place);
        self.bytes -= ENTRY_BYTES + bytes;
        let account = &mut self.accounts[caller as usize];
        if matches!(place, Place::Kept | Place::Acked) {
            account.kept_bytes -= bytes;
        }
        if let Some(list) = account.list(place) {
            self.slots.unlink(list, By::Caller, entry);
        }
        let (slots, all) = self.all(place);
        if let Some(all) = all {
            slots.unlink(all, By::All, entry);
        }
    }

    /// The list over all callers for that place.
    fn all(&mut self, place: Place) -> (&mut Slots, Option<&mut List>) {
        let list = match place {
            Place::Kept | Place::Acked => Some(&mut self.kept),
            Place::Thin => Some(&mut self.thin),
            Place::Foreign => Some(&mut self.foreign),
            Place::Pending => None,
        };
        (&mut self.slots, list)
    }

    /// Notes that the caller has the reply. IDs that are not kept are passed over.
    fn acknowledge(&mut self, caller: u32, id: &CallId) {
        let Some(entry) = self.find_in(caller, id) else {
            return;
        };
        if self.slots[entry].place == Place::Kept
            && !matches!(self.slots[entry].body, Body::Pending(_))
        {
            self.mark_acked(entry);
        }
    }

    /// Moves a kept entry to the acknowledged ones of its caller. Over all it stays where it is.
    pub(super) fn mark_acked(&mut self, entry: u32) {
        let caller = self.slots[entry].caller;
        let account = &mut self.accounts[caller as usize];
        self.slots.unlink(&mut account.kept, By::Caller, entry);
        self.slots.push(&mut account.acked, By::Caller, entry);
        self.slots[entry].place = Place::Acked;
    }

    /// Drops all whose time is over when a call is decided at `now`.
    fn expire(&mut self, now: UnixMillis) {
        let keep = self.limits.keep;
        for place in [Place::Kept, Place::Thin, Place::Foreign] {
            loop {
                let (slots, list) = self.all(place);
                let first = list.map_or(NONE, |list| list.first);
                if first == NONE || !is_over(slots[first].at, keep, now.0) {
                    break;
                }
                self.drop_id(first);
            }
        }
    }

    /// Holds the limits of one caller.
    fn shrink(&mut self, caller: u32) {
        let CallLimits {
            most_kept,
            most_kept_bytes,
            most_thin,
            ..
        } = self.limits;
        loop {
            let account = &self.accounts[caller as usize];
            let kept = account.kept.len + account.acked.len;
            let over = kept > most_kept || account.kept_bytes > most_kept_bytes;
            if kept <= 1 || !over {
                break;
            }
            let oldest = match account.acked.first {
                NONE => account.kept.first,
                acked => acked,
            };
            self.thin_out(oldest);
        }
        while self.accounts[caller as usize].thin.len > most_thin {
            self.drop_id(self.accounts[caller as usize].thin.first);
        }
    }

    /// Holds the limit over all callers. The newest entry stays.
    fn shrink_all(&mut self, newest: u32) {
        while self.bytes > self.limits.most_bytes {
            if self.kept.first != NONE && self.kept.first != newest {
                self.thin_out(self.kept.first);
            } else if self.thin.first != NONE && self.thin.first != newest {
                self.drop_id(self.thin.first);
            } else {
                break;
            }
        }
    }

    /// Drops the reply; the ID stays.
    fn thin_out(&mut self, entry: u32) {
        self.displace(entry);
        let slot = &mut self.slots[entry];
        let body = std::mem::replace(&mut slot.body, Body::Cancelled);
        slot.body = body.thinned();
        self.dropped_replies += 1;
        self.place(entry, Place::Thin);
    }

    /// Drops the ID. From now on the caller's unknown calls from before it are not run.
    fn drop_id(&mut self, entry: u32) {
        self.displace(entry);
        let slot = &self.slots[entry];
        let account = &mut self.accounts[slot.caller as usize];
        account.forgotten = account.forgotten.max(slot.position);
        self.dropped_ids += 1;
        self.delete(entry);
    }
}
