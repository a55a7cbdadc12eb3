//! The table of calls: which command each call ID of a caller belongs to, and what became of it.

use std::{collections::HashMap, fmt, str::FromStr};

use link_wire::{CallId, Caller};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use tokio::sync::watch;
use xxhash_rust::xxh3::Xxh3;

use super::stage::{Queued, Written};

/// What a command says, in 128 bits: method, path with query, and body, each with its length.
///
/// The hash is not a cryptographic one and needs not be: it is compared only under the same
/// caller and call ID, so whoever finds two bodies with one fingerprint fools nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(u128);

impl Fingerprint {
    pub(crate) fn of(method: &str, path_and_query: &str, body: &[u8]) -> Self {
        let mut hash = Xxh3::new();
        for part in [method.as_bytes(), path_and_query.as_bytes(), body] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.digest128())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(hex: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(hex, 16).map(Self)
    }
}

impl Serialize for Fingerprint {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let hex = std::borrow::Cow::<'de, str>::deserialize(from)?;
        hex.parse().map_err(D::Error::custom)
    }
}

/// One try of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) caller: Caller,
    pub(crate) id: CallId,
    pub(crate) fingerprint: Fingerprint,
    /// 1 for the first send by its maker.
    pub(crate) attempt: u32,
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
}

/// Each known call. The key is (caller, call ID): a caller never meets the calls of another.
#[derive(Debug, Default)]
pub(super) struct Calls {
    callers: HashMap<Caller, HashMap<CallId, Entry>>,
}

#[derive(Debug)]
struct Entry {
    fingerprint: Fingerprint,
    fate: Fate,
}

/// Those who wait for one write, however many: they share one cell.
pub(super) type Waiters = watch::Sender<Option<Written>>;

#[derive(Debug)]
enum Fate {
    /// Who waits for it is told through this, all at once.
    Pending(Waiters),
    Kept(Written),
}

impl Calls {
    /// What is known of this call. A try of a pending one joins those who wait for it.
    pub(super) fn look(&self, call: &Call) -> Option<Known> {
        let entry = self.callers.get(&call.caller)?.get(&call.id)?;
        if entry.fingerprint != call.fingerprint {
            return Some(Known::Reused);
        }
        Some(match &entry.fate {
            Fate::Kept(written) => Known::Kept(written.clone().repeated()),
            Fate::Pending(waiters) => Known::Pending(Queued::joined(waiters)),
        })
    }

    /// Notes that the call is queued.
    pub(super) fn pend(&mut self, call: &Call) -> Queued {
        let (waiters, queued) = Queued::first();
        self.set(
            call.caller.clone(),
            call.id.clone(),
            call.fingerprint,
            Fate::Pending(waiters),
        );
        queued
    }

    /// Notes that the call is written, and gives those who wait for it.
    pub(super) fn keep(&mut self, call: Call, written: Written) -> Option<Waiters> {
        match self.set(call.caller, call.id, call.fingerprint, Fate::Kept(written)) {
            Some(Entry {
                fate: Fate::Pending(waiters),
                ..
            }) => Some(waiters),
            _ => None,
        }
    }

    /// Forgets who waits: each of them is told that nothing is known. Their calls stay pending,
    /// as the log may have them.
    pub(super) fn lose_pending(&mut self) {
        for entry in self.callers.values_mut().flat_map(HashMap::values_mut) {
            if let Fate::Pending(waiters) = &mut entry.fate {
                // The cell that they share goes without a value.
                *waiters = Waiters::new(None);
            }
        }
    }

    fn set(
        &mut self,
        caller: Caller,
        id: CallId,
        fingerprint: Fingerprint,
        fate: Fate,
    ) -> Option<Entry> {
        self.callers
            .entry(caller)
            .or_default()
            .insert(id, Entry { fingerprint, fate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_who_wait_for_a_call_share_one_cell() {
        let call = Call {
            caller: "ann".parse().unwrap(),
            id: "1".parse().unwrap(),
            fingerprint: Fingerprint(1),
            attempt: 1,
        };
        let mut calls = Calls::default();
        let mut waiting = vec![calls.pend(&call)];
        for _ in 0..1000 {
            let Some(Known::Pending(queued)) = calls.look(&call) else {
                panic!("it is pending")
            };
            waiting.push(queued);
        }
        let fate = &calls.callers[&call.caller][&call.id].fate;
        let Fate::Pending(waiters) = fate else {
            panic!("it is pending")
        };
        assert_eq!(waiters.receiver_count(), 1001);
        waiting.truncate(1);
        assert_eq!(waiters.receiver_count(), 1, "who went away leaves nothing");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = Fingerprint::of;
        assert_ne!(of("POST", "/a", b"b"), of("POST", "/ab", b""));
        assert_ne!(of("POST", "/a", b""), of("PUT", "/a", b""));
        assert_eq!(of("POST", "/a", b"b"), of("POST", "/a", b"b"));
        let one = of("POST", "/a", b"b");
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_eq!(Fingerprint(7).to_string().len(), 32);
    }
}
