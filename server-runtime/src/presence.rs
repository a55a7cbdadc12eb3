//! Who is here and what they said last: in memory only, and forgotten after three minutes.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
    time::Duration,
};

use link_wire::{Caller, UnixMillis};

/// After how long without a call a caller is gone.
pub(crate) const GONE_AFTER: Duration = Duration::from_secs(3 * 60);
/// How many callers are known at once; the one that was seen longest ago makes room.
pub(crate) const MOST_CALLERS: usize = 65_536;
/// How often those who are gone are looked for.
const PURGE_EVERY: Duration = Duration::from_secs(10);

/// Where a signal stands among those of its link: the header `LINK.NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    link: Arc<str>,
    number: u64,
}

impl Sent {
    /// Reads `LINK.NUMBER`: 1 to 64 visible characters, a dot, digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (link, number) = text.rsplit_once('.')?;
        let visible = (1..=64).contains(&link.len()) && link.bytes().all(|b| b.is_ascii_graphic());
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if !visible || !digits {
            return None;
        }
        Some(Self {
            link: link.into(),
            number: number.parse().ok()?,
        })
    }
}

/// The callers of the last three minutes, and the newest signal of each type from each.
///
/// A restart forgets all of it.
#[derive(Default)]
pub struct Presence {
    callers: HashMap<Caller, Entry>,
    /// The time of the newest call. A handler sees the time of its own call here.
    now: UnixMillis,
    purged: UnixMillis,
}

struct Entry {
    seen: UnixMillis,
    /// Bounded by the signal types of the application.
    signals: HashMap<TypeId, Signal>,
}

struct Signal {
    sent: Option<Sent>,
    body: Arc<dyn Any + Send + Sync>,
}

impl Presence {
    /// Those who made a call, or sent a signal, in the last three minutes, in no order.
    pub fn callers(&self) -> impl Iterator<Item = Present<'_>> {
        let here = |entry: &Entry| self.now.since(entry.seen) < GONE_AFTER;
        self.callers
            .iter()
            .filter(move |(_, entry)| here(entry))
            .map(|(caller, entry)| Present { caller, entry })
    }

    /// Notes that the caller made a call.
    pub(crate) fn touch(&mut self, caller: &Caller, now: UnixMillis) {
        self.now = now;
        if now.since(self.purged) >= PURGE_EVERY || now < self.purged {
            self.purged = now;
            self.callers
                .retain(|_, entry| now.since(entry.seen) < GONE_AFTER);
        }
        if let Some(entry) = self.callers.get_mut(caller) {
            if now.since(entry.seen) >= GONE_AFTER {
                entry.signals.clear();
            }
            entry.seen = now;
            return;
        }
        if self.callers.len() >= MOST_CALLERS {
            let oldest = self.callers.iter().min_by_key(|(_, entry)| entry.seen);
            if let Some(oldest) = oldest.map(|(caller, _)| caller.clone()) {
                self.callers.remove(&oldest);
            }
        }
        self.callers.insert(
            caller.clone(),
            Entry {
                seen: now,
                signals: HashMap::new(),
            },
        );
    }

    /// Keeps a signal, unless a later one of the same link was heard already.
    pub(crate) fn hear(
        &mut self,
        caller: &Caller,
        body: Arc<dyn Any + Send + Sync>,
        sent: Option<Sent>,
    ) {
        let Some(entry) = self.callers.get_mut(caller) else {
            return;
        };
        let kind = (*body).type_id();
        let late = match (entry.signals.get(&kind), &sent) {
            (
                Some(Signal {
                    sent: Some(last), ..
                }),
                Some(this),
            ) => last.link == this.link && this.number < last.number,
            _ => false,
        };
        if !late {
            entry.signals.insert(kind, Signal { sent, body });
        }
    }
}

impl fmt::Debug for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.callers.keys()).finish()
    }
}

/// One caller who is here.
#[derive(Clone, Copy)]
pub struct Present<'a> {
    caller: &'a Caller,
    entry: &'a Entry,
}

impl<'a> Present<'a> {
    /// Who it is.
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// When its last call came.
    pub fn seen(&self) -> UnixMillis {
        self.entry.seen
    }

    /// The newest signal whose body is a `T`.
    pub fn signal<T: 'static>(&self) -> Option<&'a T> {
        self.entry
            .signals
            .get(&TypeId::of::<T>())?
            .body
            .downcast_ref()
    }
}

impl fmt::Debug for Present<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Present")
            .field("caller", self.caller)
            .field("seen", &self.entry.seen)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann() -> Caller {
        "ann".parse().unwrap()
    }

    fn hears(presence: &mut Presence, text: &str, sent: Option<&str>) {
        let sent = sent.map(|text| Sent::parse(text).unwrap());
        presence.hear(&ann(), Arc::new(text.to_owned()), sent);
    }

    fn newest(presence: &Presence) -> Option<String> {
        presence.callers().next()?.signal::<String>().cloned()
    }

    #[test]
    fn an_older_signal_of_the_same_link_is_dropped() {
        let mut presence = Presence::default();
        presence.touch(&ann(), UnixMillis(1));
        hears(&mut presence, "two", Some("aa.2"));
        hears(&mut presence, "one", Some("aa.1"));
        assert_eq!(newest(&presence).as_deref(), Some("two"));
        hears(&mut presence, "another link", Some("bb.1"));
        assert_eq!(newest(&presence).as_deref(), Some("another link"));
        hears(&mut presence, "no order", None);
        assert_eq!(newest(&presence).as_deref(), Some("no order"));
    }

    #[test]
    fn three_minutes_of_silence_are_the_end() {
        let mut presence = Presence::default();
        let ben: Caller = "ben".parse().unwrap();
        presence.touch(&ann(), UnixMillis(0));
        hears(&mut presence, "here", None);
        presence.touch(&ben, UnixMillis(179_999));
        assert_eq!(presence.callers().count(), 2);
        presence.touch(&ben, UnixMillis(180_000));
        assert_eq!(
            presence
                .callers()
                .map(|p| p.caller().clone())
                .collect::<Vec<_>>(),
            [ben]
        );
        presence.touch(&ann(), UnixMillis(180_001));
        let ann = presence.callers().find(|p| *p.caller() == ann()).unwrap();
        assert_eq!(
            ann.signal::<String>(),
            None,
            "what it said before is forgotten"
        );
    }

    #[test]
    fn a_clock_that_steps_back_forgets_nobody() {
        let mut presence = Presence::default();
        presence.touch(&ann(), UnixMillis(1_000_000));
        presence.touch(&"ben".parse().unwrap(), UnixMillis(5));
        assert_eq!(presence.callers().count(), 2);
    }

    #[test]
    fn the_order_is_read_from_link_and_number() {
        assert_eq!(Sent::parse("0a1b2c3d.17").map(|s| s.number), Some(17));
        for text in [
            "",
            "a",
            "a.",
            ".1",
            "a.-1",
            "a.+1",
            "a.1x",
            "a b.1",
            "a.99999999999999999999",
        ] {
            assert_eq!(Sent::parse(text), None, "{text:?}");
        }
    }
}
