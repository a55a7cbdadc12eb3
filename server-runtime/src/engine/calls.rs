//! The table of calls: which command each call ID of a caller belongs to, and what became of it.
//!
//! It is a function of the log and of the limits: nothing in it comes from a clock or from the
//! order in which requests arrive. So a start from any checkpoint gives the same table, and the
//! same answers.
//!
//! | known as | a try gets |
//! |---|---|
//! | pending | waits with the first |
//! | kept | the reply, or the refusal, again |
//! | thin: it ran | that its reply is forgotten |
//! | thin: it was refused | the code of the refusal |
//! | cancelled | that it was cancelled |
//! | not at all | see [`Calls::is_new`] |
//!
//! To look up, to add and to drop a call is constant work: the entries lie in one block, are found
//! through a hash table with a random key (callers choose their IDs), and are linked into the
//! lists from whose front they are dropped. An account of some 200 bytes stays for each caller
//! who ever made a call: there are as many callers as authentication knows.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashTable;
use link_wire::{CallId, Caller, LogPosition, Position, RunId, UnixMillis};

pub(crate) use self::ask::{cancelled_before, refused_before};
pub(crate) use self::fingerprint::Fingerprint;
pub use self::limits::{CallLimits, CallStats};
use self::slots::{Body, By, Id, List, NONE, Place, Slots};
use super::stage::{Queued, Written};
use super::told::Waiters;

mod ask;
mod fingerprint;
mod keep;
mod limits;
mod runs;
mod saved;
mod slots;
#[cfg(test)]
mod tests;

/// Where a call ID comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A link, which had seen so much of the log before the first try.
    Link { seen: Option<LogPosition> },
    /// An `Idempotency-Key`: its sender knows of no positions.
    Foreign,
    /// This server, for a command without one.
    Made,
}

/// One try of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) caller: Caller,
    pub(crate) id: CallId,
    pub(crate) fingerprint: Fingerprint,
    /// 1 for the first send by its maker.
    pub(crate) attempt: u32,
    pub(crate) origin: Origin,
}

/// What the table says about a try of a call that it knows.
#[derive(Debug)]
pub(crate) enum Known {
    /// It is on its way; this try waits with the first.
    Pending(Queued),
    /// It is done.
    Kept(Written),
    /// The ID belongs to another command.
    Reused,
    /// It ran, and its reply is gone.
    ReplyForgotten,
    /// It was refused so, and the text is gone.
    RefusedThin { status: u16, code: String },
    /// It was settled before it came.
    Cancelled,
}

/// Why a call that is not known is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotNew {
    /// Its link has seen a log that is not this one.
    RolledBack,
    /// It may have run, and be forgotten.
    Forgotten,
    /// Its caller has too many keys; the oldest goes after this time.
    TooManyKeys { retry_after: Duration },
}

/// All calls that are known.
#[derive(Debug)]
pub(super) struct Calls {
    limits: CallLimits,
    slots: Slots,
    /// From (caller, ID) to the entry.
    index: HashTable<u32>,
    hasher: RandomState,
    callers: HashMap<Caller, u32>,
    accounts: Vec<Account>,
    /// The names of routes. An entry has the number of one.
    names: Vec<Arc<str>>,
    runs: runs::Runs,
    /// All entries that are pending.
    pending: List,
    /// All that are kept whole, acknowledged or not, by position.
    kept: List,
    /// All of which the ID is left, in the order in which the reply went.
    thin: List,
    /// All with a foreign key, by position.
    foreign: List,
    bytes: u64,
    dropped_replies: u64,
    dropped_ids: u64,
    /// Calls that were written again after they had been.
    again: u64,
}

/// What is known of one caller.
#[derive(Debug)]
struct Account {
    caller: Caller,
    /// The highest position of any of its IDs that was dropped.
    forgotten: u64,
    kept: List,
    acked: List,
    thin: List,
    foreign: List,
    /// How many foreign ones are pending.
    foreign_pending: u32,
    /// Of the replies of `kept` and `acked`.
    kept_bytes: u64,
}

impl Account {
    fn new(caller: Caller) -> Self {
        Self {
            caller,
            forgotten: 0,
            kept: List::default(),
            acked: List::default(),
            thin: List::default(),
            foreign: List::default(),
            foreign_pending: 0,
            kept_bytes: 0,
        }
    }
}

impl Calls {
    /// An empty table.
    pub(super) fn new(limits: CallLimits) -> Self {
        Self::with_room_for(limits, 0)
    }

    fn with_room_for(limits: CallLimits, entries: usize) -> Self {
        Self {
            limits,
            slots: Slots::with_room_for(entries),
            index: HashTable::with_capacity(entries),
            hasher: RandomState::new(),
            callers: HashMap::new(),
            accounts: Vec::new(),
            names: Vec::new(),
            runs: runs::Runs::default(),
            pending: List::default(),
            kept: List::default(),
            thin: List::default(),
            foreign: List::default(),
            bytes: 0,
            dropped_replies: 0,
            dropped_ids: 0,
            again: 0,
        }
    }

    /// Makes room for more calls, so that a long log is read without making it again and again.
    pub(super) fn reserve(&mut self, calls: usize) {
        let Self {
            index,
            slots,
            hasher,
            ..
        } = self;
        index.reserve(calls, |at| {
            let slot = &slots[*at];
            hasher.hash_one((slot.caller, slot.id.bytes()))
        });
    }

    /// How many calls were written that were known as written already.
    pub(super) fn again(&self) -> u64 {
        self.again
    }

    fn hash(&self, caller: u32, id: &[u8]) -> u64 {
        self.hasher.hash_one((caller, id))
    }

    fn find(&self, caller: &Caller, id: &CallId) -> Option<u32> {
        self.find_in(*self.callers.get(caller)?, id)
    }

    fn find_in(&self, caller: u32, id: &CallId) -> Option<u32> {
        let id = id.as_str().as_bytes();
        let is_it = |at: &u32| {
            let slot = &self.slots[*at];
            slot.caller == caller && slot.id.bytes() == id
        };
        self.index.find(self.hash(caller, id), is_it).copied()
    }

    /// The number of a caller.
    fn caller(&mut self, caller: &Caller) -> u32 {
        if let Some(number) = self.callers.get(caller) {
            return *number;
        }
        let number = u32::try_from(self.accounts.len()).unwrap_or(NONE);
        self.accounts.push(Account::new(caller.clone()));
        self.callers.insert(caller.clone(), number);
        number
    }

    /// The number of the name of a route.
    fn name(&mut self, name: &str) -> u16 {
        let known = self.names.iter().position(|known| **known == *name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// A new entry, which can be found and stands in no list.
    fn add(&mut self, caller: u32, id: Id, fingerprint: Fingerprint, body: Body) -> Option<u32> {
        let hash = self.hash(caller, id.bytes());
        let at = self.slots.insert(caller, id, fingerprint, body)?;
        self.let_find(hash, at);
        Some(at)
    }

    /// Lets an entry with this hash be found.
    fn let_find(&mut self, hash: u64, at: u32) {
        let Self {
            index,
            slots,
            hasher,
            ..
        } = self;
        index.insert_unique(hash, at, |at| {
            let slot = &slots[*at];
            hasher.hash_one((slot.caller, slot.id.bytes()))
        });
    }

    /// Takes an entry away that stands in no list any more.
    fn delete(&mut self, at: u32) -> Body {
        let slot = &self.slots[at];
        let hash = self.hash(slot.caller, slot.id.bytes());
        if let Ok(found) = self.index.find_entry(hash, |other| *other == at) {
            found.remove();
        }
        self.slots.remove(at)
    }

    /// Notes that the call is queued.
    pub(super) fn pend(&mut self, call: &Call) -> Queued {
        let (waiters, queued) = Queued::first();
        let caller = self.caller(&call.caller);
        let (id, body) = (Id::of(call.id.as_str()), Body::Pending(waiters));
        if let Some(at) = self.add(caller, id, call.fingerprint, body) {
            if call.origin == Origin::Foreign {
                self.accounts[caller as usize].foreign_pending += 1;
                // Until it is kept, it says of which kind it is.
                self.slots[at].place = Place::Foreign;
            }
            self.slots.push(&mut self.pending, By::All, at);
        }
        queued
    }

    /// Takes a pending entry out of the list of those.
    fn unpend(&mut self, at: u32) {
        self.slots.unlink(&mut self.pending, By::All, at);
        let slot = &self.slots[at];
        if slot.place == Place::Foreign {
            self.accounts[slot.caller as usize].foreign_pending -= 1;
        }
    }

    /// Forgets who waits: each of them is told that nothing is known. Their calls stay pending,
    /// as the log may have them.
    pub(super) fn lose_pending(&mut self) {
        let pending: Vec<u32> = self.slots.iter(self.pending, By::All).collect();
        for at in pending {
            // The cell that they share goes without a value.
            self.slots[at].body = Body::Pending(Waiters::new());
        }
    }

    /// Takes back all that is pending, and gives who waits for it.
    pub(super) fn roll_back_pending(&mut self) -> Vec<Waiters> {
        let mut waiting = Vec::new();
        while self.pending.first != NONE {
            let at = self.pending.first;
            self.unpend(at);
            if let Body::Pending(waiters) = self.delete(at) {
                waiting.push(waiters);
            }
        }
        waiting
    }

    /// Notes that a writer began with the record at this position.
    pub(super) fn run(&mut self, run: RunId, at: Position, restored: bool) {
        self.runs.add(run, at, restored);
    }

    /// What the table holds.
    pub(super) fn stats(&self) -> CallStats {
        CallStats {
            callers: self.accounts.len() as u64,
            kept: u64::from(self.kept.len) + u64::from(self.foreign.len),
            thin: u64::from(self.thin.len),
            foreign: u64::from(self.foreign.len),
            pending: u64::from(self.pending.len),
            bytes: self.bytes,
            dropped_replies: self.dropped_replies,
            dropped_ids: self.dropped_ids,
        }
    }
}

/// Whether a call that was decided at `at` is past its time when another is decided at `now`.
fn is_over(at: u64, keep: Duration, now: u64) -> bool {
    let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    at.saturating_add(keep) < now
}

/// The time from `now` to the end of a call's time.
fn left(at: u64, keep: Duration, now: UnixMillis) -> Duration {
    (Duration::from_millis(at).saturating_add(keep)).saturating_sub(Duration::from_millis(now.0))
}
