//! The entries of the table in one block of memory, and the lists that run through them.
//!
//! An entry stands in two lists: that of its caller and that over all callers. Both are linked
//! through the entries themselves, so that to add one and to take one away is constant work.

use std::ops::{Index, IndexMut};

use super::fingerprint::Fingerprint;
use crate::{engine::told::Waiters, handler::Reply, refusal::KeptRefusal};

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// A call ID without an allocation where it is one of ours: those have 22 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Id {
    Short([u8; 22]),
    Other(Box<str>),
}

impl Id {
    pub(super) fn of(id: &str) -> Self {
        match id.as_bytes().try_into() {
            Ok(bytes) => Self::Short(bytes),
            Err(_) => Self::Other(id.into()),
        }
    }

    /// As [`Id::of`]. None where the bytes are no text.
    pub(super) fn of_bytes(id: &[u8]) -> Option<Self> {
        match id.try_into() {
            // To look at each character is slower, and a table has a million of them.
            Ok(bytes) if id.is_ascii() => Some(Self::Short(bytes)),
            _ => str::from_utf8(id).ok().map(Self::of),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(bytes) => bytes,
            Self::Other(text) => text.as_bytes(),
        }
    }
}

/// What is known of how a call ended.
#[derive(Debug)]
pub(super) enum Body {
    /// Nothing: it is queued. Who waits for it is told through this.
    Pending(Waiters),
    Reply(Reply),
    Refused(Box<KeptRefusal>),
    Cancelled,
    /// It ran; the reply is no longer kept.
    ThinRan,
    /// It was refused so; the text is no longer kept.
    ThinRefused(Box<(u16, Box<str>)>),
    /// There is no call here: the next entry that is free.
    Free(u32),
}

/// In which lists an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In none but that of all pending ones.
    Pending,
    /// Kept whole.
    Kept,
    /// Kept whole, and the caller has the reply.
    Acked,
    /// Known by its ID only.
    Thin,
    /// Kept whole under a key of another protocol, until its time is over.
    Foreign,
}

/// The entries before and after this one in a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    before: u32,
    after: u32,
}

const ALONE: Link = Link {
    before: NONE,
    after: NONE,
};

/// One call.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) fingerprint: Fingerprint,
    /// Of its last record.
    pub(super) position: u64,
    /// When it was decided.
    pub(super) at: u64,
    pub(super) id: Id,
    pub(super) body: Body,
    /// In the table of callers.
    pub(super) caller: u32,
    /// The name of its route, in the table of names.
    pub(super) command: u16,
    pub(super) place: Place,
    own: Link,
    all: Link,
}

/// Which of its two links a list uses.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Caller,
    All,
}

/// The ends of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) first: u32,
    last: u32,
    pub(super) len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            len: 0,
        }
    }
}

/// All entries.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: u32,
}

impl Slots {
    pub(super) fn with_room_for(entries: usize) -> Self {
        Self {
            slots: Vec::with_capacity(entries),
            free: NONE,
        }
    }

    /// Adds an entry, which stands in no list yet. None when there are as many as can be numbered.
    pub(super) fn insert(
        &mut self,
        caller: u32,
        id: Id,
        fingerprint: Fingerprint,
        body: Body,
    ) -> Option<u32> {
        let slot = Slot {
            fingerprint,
            position: 0,
            at: 0,
            id,
            body,
            caller,
            command: 0,
            place: Place::Pending,
            own: ALONE,
            all: ALONE,
        };
        if self.free == NONE {
            let at = u32::try_from(self.slots.len()).ok()?;
            if at == NONE {
                return None;
            }
            self.slots.push(slot);
            return Some(at);
        }
        let at = self.free;
        if let Body::Free(next) = self[at].body {
            self.free = next;
        }
        self[at] = slot;
        Some(at)
    }

    /// Takes an entry away, which stands in no list any more.
    pub(super) fn remove(&mut self, at: u32) -> Body {
        let free = self.free;
        self.free = at;
        let slot = &mut self[at];
        slot.id = Id::Short([0; 22]);
        std::mem::replace(&mut slot.body, Body::Free(free))
    }

    fn link(&mut self, at: u32, by: By) -> &mut Link {
        match by {
            By::Caller => &mut self[at].own,
            By::All => &mut self[at].all,
        }
    }

    /// Puts an entry at the end of a list.
    pub(super) fn push(&mut self, list: &mut List, by: By, at: u32) {
        *self.link(at, by) = Link {
            before: list.last,
            after: NONE,
        };
        match list.last {
            NONE => list.first = at,
            before => self.link(before, by).after = at,
        }
        list.last = at;
        list.len += 1;
    }

    /// Takes an entry out of the list in which it stands.
    pub(super) fn unlink(&mut self, list: &mut List, by: By, at: u32) {
        let Link { before, after } = std::mem::replace(self.link(at, by), ALONE);
        match before {
            NONE => list.first = after,
            before => self.link(before, by).after = after,
        }
        match after {
            NONE => list.last = before,
            after => self.link(after, by).before = before,
        }
        list.len -= 1;
    }

    /// The entries of a list, the first one first.
    pub(super) fn iter(&self, list: List, by: By) -> impl Iterator<Item = u32> + '_ {
        let mut next = list.first;
        std::iter::from_fn(move || {
            let at = next;
            if at == NONE {
                return None;
            }
            next = match by {
                By::Caller => self[at].own.after,
                By::All => self[at].all.after,
            };
            Some(at)
        })
    }

    /// The bytes of the block.
    #[cfg(test)]
    pub(super) fn block_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}

impl Index<u32> for Slots {
    type Output = Slot;

    fn index(&self, at: u32) -> &Slot {
        &self.slots[at as usize]
    }
}

impl IndexMut<u32> for Slots {
    fn index_mut(&mut self, at: u32) -> &mut Slot {
        &mut self.slots[at as usize]
    }
}
