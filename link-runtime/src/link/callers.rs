//! What a link knows of each caller that it speaks for: the name that the server gave, and the
//! replies that the server may forget. Apart from the credentials, since it is of one server.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use link_wire::{CallId, Caller};

use crate::auth::Credentials;

/// How many replies that arrived are remembered for one caller. The server drops the others by
/// itself, only later.
const MOST_KEPT: usize = 256;
/// How many of them one command says, so that its header fits through every front end: 128 IDs of
/// ours are less than 3 KiB.
const MOST_SAID: usize = 128;

/// The callers of a link, by their credentials. Those of which no `Api` is left are dropped.
#[derive(Default)]
pub(super) struct Callers(Mutex<Registry>);

#[derive(Default)]
struct Registry {
    by_proof: HashMap<Vec<u8>, Weak<Known>>,
    /// Beyond this many, the dead ones are looked for.
    sweep_at: usize,
}

impl Callers {
    /// What is known of the caller that these credentials prove: equal ones share it.
    pub(super) fn of(&self, credentials: &Credentials) -> Arc<Known> {
        let mut registry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let proof = credentials.proof();
        if let Some(known) = registry.by_proof.get(&proof).and_then(Weak::upgrade) {
            return known;
        }
        if registry.by_proof.len() >= registry.sweep_at {
            registry
                .by_proof
                .retain(|_, known| known.strong_count() > 0);
            registry.sweep_at = registry.by_proof.len() * 2 + 16;
        }
        let known = Arc::<Known>::default();
        registry.by_proof.insert(proof, Arc::downgrade(&known));
        known
    }
}

/// The tokens stay unsaid.
impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callers(…)")
    }
}

/// What is known of one caller.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// As the newest reply named it.
    caller: Option<Caller>,
    /// Commands of this caller whose replies arrived and were not said yet, the oldest first.
    acks: VecDeque<CallId>,
}

impl Known {
    /// Takes the name of a reply. Under another one than before, what that one may forget is
    /// nothing to this one.
    pub(crate) fn saw(&self, caller: &Caller) {
        let mut inner = self.lock();
        if inner.caller.as_ref() != Some(caller) {
            *inner = Inner {
                caller: Some(caller.clone()),
                acks: VecDeque::new(),
            };
        }
    }

    /// The name of the caller, if a reply has said it.
    pub(crate) fn caller(&self) -> Option<Caller> {
        self.lock().caller.clone()
    }

    /// Notes that the reply of this command arrived, and that it named this caller.
    pub(crate) fn arrived(&self, caller: &Caller, call: CallId) {
        let mut inner = self.lock();
        if inner.caller.as_ref() == Some(caller) {
            inner.acks.push_back(call);
            inner.bound();
        }
    }

    /// Takes what the next command says, the oldest first. It is put back when what is given here
    /// is dropped before it was [`said`](Acks::said).
    pub(crate) fn acks(self: &Arc<Self>) -> Acks {
        let mut inner = self.lock();
        let most = inner.acks.len().min(MOST_SAID);
        let ids: Vec<CallId> = inner.acks.drain(..most).collect();
        Acks {
            known: self.clone(),
            caller: inner.caller.clone(),
            ids,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The oldest go: they are the first that the server forgets.
    fn bound(&mut self) {
        let over = self.acks.len().saturating_sub(MOST_KEPT);
        self.acks.drain(..over);
    }
}

/// Commands whose replies arrived, on their way to the server with a command of the same caller.
#[derive(Debug)]
pub(crate) struct Acks {
    known: Arc<Known>,
    caller: Option<Caller>,
    ids: Vec<CallId>,
}

impl Acks {
    /// The caller whose they are, as it was known when they were taken.
    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// The value of the header; none when there is nothing to say.
    pub(crate) fn header(&self) -> Option<String> {
        let ids: Vec<&str> = self.ids.iter().map(CallId::as_str).collect();
        (!ids.is_empty()).then(|| ids.join(","))
    }

    /// Their command has its reply, so the server has read them.
    pub(crate) fn said(mut self) {
        self.ids.clear();
    }
}

impl Drop for Acks {
    fn drop(&mut self) {
        let mut inner = self.known.lock();
        if inner.caller == self.caller {
            for id in self.ids.drain(..).rev() {
                inner.acks.push_front(id);
            }
            inner.bound();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Caller {
        name.parse().unwrap()
    }

    fn id(n: usize) -> CallId {
        format!("c{n}").parse().unwrap()
    }

    fn known(name: &str) -> Arc<Known> {
        let known = Arc::<Known>::default();
        known.saw(&caller(name));
        known
    }

    fn left(known: &Known) -> Vec<CallId> {
        known.lock().acks.iter().cloned().collect()
    }

    #[test]
    fn what_was_said_is_gone_and_what_was_not_is_put_back_in_its_order() {
        let known = known("ann");
        (1..=2).for_each(|n| known.arrived(&caller("ann"), id(n)));
        let lost = known.acks();
        assert_eq!(lost.header().as_deref(), Some("c1,c2"));
        assert_eq!(known.acks().header(), None);
        known.arrived(&caller("ann"), id(3));
        drop(lost);
        assert_eq!(left(&known), [id(1), id(2), id(3)]);
        known.acks().said();
        assert!(left(&known).is_empty());
    }

    #[test]
    fn a_reply_is_never_acknowledged_under_another_caller() {
        let known = known("ann");
        known.arrived(&caller("ben"), id(1));
        assert!(left(&known).is_empty());
        known.arrived(&caller("ann"), id(2));
        let taken = known.acks();
        known.saw(&caller("ben"));
        drop(taken);
        assert!(left(&known).is_empty());
        known.saw(&caller("ann"));
        assert!(left(&known).is_empty());
    }

    #[test]
    fn the_newest_replies_are_kept_and_a_header_holds_some_of_them() {
        let known = known("ann");
        (0..MOST_KEPT + 5).for_each(|n| known.arrived(&caller("ann"), id(n)));
        assert_eq!(left(&known).len(), MOST_KEPT);
        assert_eq!(left(&known)[0], id(5));
        let taken = known.acks();
        assert_eq!(taken.ids.len(), MOST_SAID);
        (0..MOST_KEPT).for_each(|n| known.arrived(&caller("ann"), id(1000 + n)));
        drop(taken);
        assert_eq!(left(&known).len(), MOST_KEPT);
        assert_eq!(left(&known)[0], id(1000));
    }

    #[test]
    fn equal_credentials_share_what_is_known_while_one_of_them_lives() {
        let callers = Callers::default();
        let ann = callers.of(&Credentials::bearer("ann"));
        ann.saw(&caller("ann"));
        let again = callers.of(&Credentials::bearer("ann"));
        assert_eq!(again.caller(), Some(caller("ann")));
        assert_eq!(callers.of(&Credentials::bearer("ben")).caller(), None);
        assert_eq!(callers.of(&Credentials::none()).caller(), None);
        drop((ann, again));
        assert_eq!(callers.of(&Credentials::bearer("ann")).caller(), None);
        for n in 0..1000 {
            callers.of(&Credentials::bearer(n.to_string()));
        }
        assert!(callers.0.lock().unwrap().by_proof.len() <= 16);
    }

    #[test]
    fn the_tokens_of_a_link_are_never_printed() {
        let callers = Callers::default();
        let _known = callers.of(&Credentials::bearer("very-secret"));
        assert_eq!(format!("{callers:?}"), "Callers(…)");
    }
}
