//! Who is here and what they said last: in memory only, and forgotten after three minutes.
//!
//! No lock is held while a handler runs: it sees a copy, which is made when it first asks.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use link_wire::{Caller, UnixMillis};
use tokio::time::Instant;

/// After how long without a call a caller is gone.
pub(crate) const GONE_AFTER: Duration = Duration::from_secs(3 * 60);
/// How many callers are known at once. Another one is not noted until one of them is gone.
pub(crate) const MOST_CALLERS: usize = 65_536;
/// How often those who are gone are looked for, at most: it costs a walk over all.
const PURGE_EVERY: Duration = Duration::from_secs(60);
/// Of how many links of one caller the order of its signals is known.
const MOST_LINKS: usize = 8;

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

/// All callers that are known, behind locks that are held for moments only.
pub(crate) struct Room {
    table: RwLock<Table>,
}

struct Table {
    callers: HashMap<Caller, Mutex<Entry>>,
    purged: Instant,
}

#[derive(Clone)]
struct Entry {
    /// By the time of day, for people.
    seen: UnixMillis,
    /// By a clock that nobody sets, for forgetting.
    last: Instant,
    /// Bounded by the signal types of the application.
    signals: Arc<HashMap<TypeId, Signal>>,
}

impl Entry {
    fn is_gone(&self, now: Instant) -> bool {
        now.duration_since(self.last) >= GONE_AFTER
    }
}

#[derive(Clone)]
struct Signal {
    body: Arc<dyn Any + Send + Sync>,
    /// The newest of each link, that of the link which was heard last at the end.
    order: Vec<Sent>,
}

impl Signal {
    /// Whether it is none that was heard already, or that a later one of its link overtook.
    fn is_new(&mut self, sent: Option<Sent>) -> bool {
        let Some(sent) = sent else { return true };
        let known = self.order.iter().position(|last| last.link == sent.link);
        match known {
            Some(n) if sent.number <= self.order[n].number => return false,
            Some(n) => drop(self.order.remove(n)),
            None if self.order.len() >= MOST_LINKS => drop(self.order.remove(0)),
            None => {}
        }
        self.order.push(sent);
        true
    }
}

impl Room {
    pub(crate) fn new(now: Instant) -> Self {
        let table = Table {
            callers: HashMap::new(),
            purged: now,
        };
        Self {
            table: RwLock::new(table),
        }
    }

    /// Notes that the caller made a call, at this time of day and this moment. Only a caller who
    /// is not known yet takes the table for writing.
    pub(crate) fn touch(&self, caller: &Caller, at: UnixMillis, now: Instant) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = table.callers.get(caller) {
            let mut entry = locked(entry);
            if entry.is_gone(now) {
                entry.signals = Arc::default();
            }
            entry.seen = at;
            entry.last = entry.last.max(now);
            return;
        }
        let due = |table: &Table| now.duration_since(table.purged) >= PURGE_EVERY;
        if table.callers.len() >= MOST_CALLERS && !due(&table) {
            return;
        }
        drop(table);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if due(&table) {
            table.purged = now;
            table.callers.retain(|_, entry| {
                let entry = entry.get_mut().unwrap_or_else(PoisonError::into_inner);
                !entry.is_gone(now)
            });
        }
        if table.callers.len() >= MOST_CALLERS {
            tracing::warn!("{MOST_CALLERS} callers are here: others are not noted as present");
            return;
        }
        // Another call of this caller may have come first; then it has said nothing yet.
        table.callers.entry(caller.clone()).or_insert_with(|| {
            Mutex::new(Entry {
                seen: at,
                last: now,
                signals: Arc::default(),
            })
        });
    }

    /// Keeps a signal, unless it or a later one of the same link was heard already. The order is
    /// known of the eight links of a caller that were heard last.
    pub(crate) fn hear(
        &self,
        caller: &Caller,
        body: Arc<dyn Any + Send + Sync>,
        sent: Option<Sent>,
    ) {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = table.callers.get(caller) else {
            return;
        };
        let mut entry = locked(entry);
        let signals = Arc::make_mut(&mut entry.signals);
        let kind = (*body).type_id();
        let signal = signals.entry(kind).or_insert_with(|| Signal {
            body: Arc::clone(&body),
            order: Vec::new(),
        });
        if signal.is_new(sent) {
            signal.body = body;
        }
    }

    /// A copy of those who are here.
    fn here(&self, now: Instant) -> Vec<(Caller, Entry)> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let all = table.callers.iter();
        let all = all.map(|(caller, entry)| (caller, locked(entry)));
        all.filter(|(_, entry)| !entry.is_gone(now))
            .map(|(caller, entry)| (caller.clone(), entry.clone()))
            .collect()
    }
}

fn locked(entry: &Mutex<Entry>) -> MutexGuard<'_, Entry> {
    entry.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The callers of the last three minutes, and the newest signal of each type from each.
///
/// It is a copy of the moment at which the handler first asks for it: whoever comes while the
/// handler runs does not show. At most 65,536 callers are noted. A restart forgets all of them.
pub struct Presence {
    room: Arc<Room>,
    now: Instant,
    here: OnceLock<Vec<(Caller, Entry)>>,
}

impl Presence {
    pub(crate) fn of(room: &Arc<Room>, now: Instant) -> Self {
        Self {
            room: Arc::clone(room),
            now,
            here: OnceLock::new(),
        }
    }

    /// Those who made a call, or sent a signal, in the last three minutes, in no order.
    pub fn callers(&self) -> impl Iterator<Item = Present<'_>> {
        self.here()
            .iter()
            .map(|(caller, entry)| Present { caller, entry })
    }

    fn here(&self) -> &[(Caller, Entry)] {
        self.here.get_or_init(|| self.room.here(self.now))
    }
}

impl fmt::Debug for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callers = self.here().iter().map(|(caller, _)| caller);
        f.debug_set().entries(callers).finish()
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

    /// When its last call came, by the time of day.
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

    fn ben() -> Caller {
        "ben".parse().unwrap()
    }

    fn room() -> (Arc<Room>, Instant) {
        let now = Instant::now();
        (Arc::new(Room::new(now)), now)
    }

    fn hears(room: &Room, text: &str, sent: Option<&str>) {
        let sent = sent.map(|text| Sent::parse(text).unwrap());
        room.hear(&ann(), Arc::new(text.to_owned()), sent);
    }

    fn newest(room: &Arc<Room>, now: Instant) -> Option<String> {
        let presence = Presence::of(room, now);
        presence.callers().next()?.signal::<String>().cloned()
    }

    #[test]
    fn a_signal_that_is_late_among_those_of_its_link_is_dropped() {
        let (room, now) = room();
        room.touch(&ann(), UnixMillis(1), now);
        for (text, sent, newest_is) in [
            ("aa two", Some("aa.2"), "aa two"),
            ("aa one", Some("aa.1"), "aa two"),
            ("aa five", Some("aa.5"), "aa five"),
            ("bb one", Some("bb.1"), "bb one"),
            ("aa four", Some("aa.4"), "bb one"),
            ("aa five again", Some("aa.5"), "bb one"),
            ("no order", None, "no order"),
            ("aa six", Some("aa.6"), "aa six"),
        ] {
            hears(&room, text, sent);
            assert_eq!(newest(&room, now).as_deref(), Some(newest_is), "{text}");
        }
    }

    #[test]
    fn the_order_of_the_eight_links_that_were_heard_last_is_known() {
        let (room, now) = room();
        room.touch(&ann(), UnixMillis(1), now);
        for link in 0..9 {
            hears(&room, "x", Some(&format!("link{link}.5")));
        }
        hears(&room, "late", Some("link1.4"));
        assert_eq!(newest(&room, now).as_deref(), Some("x"));
        hears(&room, "of a link that is forgotten", Some("link0.4"));
        assert_ne!(newest(&room, now).as_deref(), Some("x"));
    }

    #[test]
    fn three_minutes_of_silence_are_the_end_whatever_the_time_of_day_does() {
        let (room, start) = room();
        let after = |millis| start + Duration::from_millis(millis);
        let here = |now| {
            let presence = Presence::of(&room, now);
            let mut names: Vec<_> = presence.callers().map(|p| p.caller().to_string()).collect();
            names.sort();
            names.join(" ")
        };
        room.touch(&ann(), UnixMillis(1_000_000_000), start);
        hears(&room, "here", None);
        room.touch(&ben(), UnixMillis(5), after(179_999));
        assert_eq!(here(after(179_999)), "ann ben");
        assert_eq!(here(after(180_000)), "ben");
        room.touch(&ann(), UnixMillis(6), after(180_001));
        assert_eq!(here(after(180_001)), "ann ben");
        let presence = Presence::of(&room, after(180_001));
        let ann = presence.callers().find(|p| *p.caller() == ann()).unwrap();
        let said = ann.signal::<String>();
        assert_eq!(said, None, "what it said before is forgotten");
        assert_eq!(ann.seen(), UnixMillis(6));
    }

    #[test]
    fn a_handler_sees_one_moment_and_holds_up_nobody() {
        let (room, now) = room();
        room.touch(&ann(), UnixMillis(1), now);
        let presence = Presence::of(&room, now);
        let mut callers = presence.callers();
        room.touch(&ben(), UnixMillis(2), now);
        hears(&room, "later", None);
        let present = callers.next().unwrap();
        assert_eq!(present.signal::<String>(), None);
        assert!(callers.next().is_none());
        assert_eq!(Presence::of(&room, now).callers().count(), 2);
    }

    #[test]
    fn when_it_is_full_a_new_caller_waits_for_a_purge_and_costs_no_walk() {
        let (room, start) = room();
        let caller = |n: usize| format!("c{n}").parse().unwrap();
        for n in 0..MOST_CALLERS {
            room.touch(&caller(n), UnixMillis(1), start);
        }
        let known = || room.table.read().unwrap().callers.len();
        room.touch(&ann(), UnixMillis(1), start);
        assert_eq!(known(), MOST_CALLERS);
        // A purge that is due finds nobody gone, and the next is a minute later.
        let due = start + GONE_AFTER - Duration::from_millis(1);
        room.touch(&ann(), UnixMillis(1), due);
        room.touch(&ann(), UnixMillis(1), due + PURGE_EVERY / 2);
        assert_eq!(known(), MOST_CALLERS);
        room.touch(&ann(), UnixMillis(1), due + PURGE_EVERY);
        assert_eq!(known(), 1, "all others are gone");
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
