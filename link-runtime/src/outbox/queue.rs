//! The commands of one caller of one service in this process: those whose calls run, and those that
//! are sent again without one.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use link_wire::{CallId, Caller, LogPosition};
use tokio::{sync::Notify, time::Instant};

pub(crate) use self::promise::{Promise, entry};
use super::{
    Outbox, OutboxError, OwedState,
    file::{self, Kept, OutboxFile},
    format::{End, Entry, Of, SettledHow},
    notes, send,
};
use crate::{Api, clock};

mod promise;

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue {
    outbox: Outbox,
    of: Of,
    /// Who the caller is, once a reply of this process or of an earlier one has said it.
    caller: Mutex<Option<Caller>>,
    /// Where the server's log is, by this process and earlier ones.
    log: Mutex<Log>,
    state: Mutex<State>,
    /// Something left, or the sender has done a round.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Log {
    seen: Option<LogPosition>,
    /// When it was noted last, and whether it has moved since.
    noted: Option<Instant>,
    moved: bool,
}

/// How often it is noted where the log is.
const NOTED_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct State {
    /// Made with the first command.
    file: Option<OutboxFile>,
    /// Commands whose calls run: the sender leaves them alone.
    live: HashSet<CallId>,
    /// Whether the task that sends runs.
    sends: bool,
    /// Whether the files of processes that ended were looked for, and for which name of the
    /// caller.
    adopted: bool,
    adopted_for: Option<Caller>,
    /// Commands that the server takes from nobody just now, and which hold up no other.
    paused: HashSet<CallId>,
    /// Commands of another caller: they wait for a process of that one.
    of_others: HashSet<CallId>,
}

impl Queue {
    pub(super) fn new(outbox: Outbox, of: Of) -> Self {
        let caller = notes::remembered(outbox.dir(), &of).unwrap_or_else(|error| {
            tracing::warn!(%error, "whose an outbox is is not known");
            None
        });
        let seen = notes::seen(outbox.dir(), &of).unwrap_or_else(|error| {
            tracing::warn!(%error, "where the log of the server was is not known");
            None
        });
        Self {
            caller: Mutex::new(caller),
            log: Mutex::new(Log {
                seen,
                ..Log::default()
            }),
            outbox,
            of,
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who the caller is, if it is known.
    pub(crate) fn caller(&self) -> Option<Caller> {
        let caller = self.caller.lock();
        caller.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes the name of the caller, as a reply says it.
    pub(crate) fn saw(&self, caller: &Caller) {
        let mut known = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref() == Some(caller) {
            return;
        }
        *known = Some(caller.clone());
        if let Err(error) = notes::remember(self.outbox.dir(), &self.of, caller) {
            tracing::warn!(%error, "whose an outbox is is not noted");
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the server's log was, by the newest reply of this process or of an earlier one.
    pub(crate) fn seen(&self) -> Option<LogPosition> {
        self.log().seen
    }

    /// Takes where the server's log is, as a reply says it. Without it, a server that has forgotten
    /// any call of the caller could not tell that a command of a later process never ran.
    pub(crate) fn saw_log(&self, seen: LogPosition) {
        let mut log = self.log();
        let older = log
            .seen
            .is_some_and(|old| old.run == seen.run && old.position >= seen.position);
        if older && log.noted.is_some() {
            return;
        }
        if !older {
            log.seen = Some(seen);
            log.moved = true;
        }
        if log.noted.is_none_or(|at| at.elapsed() >= NOTED_EVERY) {
            self.note(&mut log);
        }
    }

    fn note(&self, log: &mut Log) {
        log.noted = Some(Instant::now());
        if let Some(seen) = log.seen.filter(|_| log.moved) {
            log.moved = false;
            if let Err(error) = notes::see(self.outbox.dir(), &self.of, seen) {
                tracing::warn!(%error, "where the log of the server is is not noted");
            }
        }
    }

    /// Takes a command in, before its first try, or takes over one that says the same and whose
    /// call has ended.
    pub(crate) fn promise(
        self: &Arc<Self>,
        api: &Api,
        new: Entry,
        again: bool,
    ) -> Result<Promise, OutboxError> {
        let mut state = self.state();
        // Before what is new: else it would overtake what is older.
        self.adopt(&mut state, self.caller().as_ref())?;
        let State {
            live, of_others, ..
        } = &*state;
        // One that is stopped is not sent again under its ID: that would tell no more.
        let waits = |kept: &&Kept| {
            let id = &kept.entry.id;
            !again && kept.stopped.is_none() && !live.contains(id) && !of_others.contains(id)
        };
        let body = new.body.as_deref();
        let same = (state.file.iter())
            .flat_map(|file| &file.contents().kept)
            .filter(waits)
            .find(|kept| kept.entry.says(&new.method, &new.path, body));
        let (entry, earlier) = if let Some(kept) = same {
            (kept.entry.clone(), true)
        } else {
            self.put(&mut state, new.clone())?;
            (new, false)
        };
        state.live.insert(entry.id.clone());
        Ok(Promise::new(Arc::clone(self), api.clone(), entry, earlier))
    }

    fn put(&self, state: &mut State, entry: Entry) -> Result<(), OutboxError> {
        let limits = self.outbox.0.limits;
        let file = match &mut state.file {
            Some(file) => file,
            none => none.insert(OutboxFile::new(self.outbox.dir(), self.of.clone())?),
        };
        let (entries, bytes) = (file.contents().kept.len(), file.kept_bytes());
        if entries >= limits.entries || bytes + entry.bytes() > limits.bytes {
            return Err(OutboxError::Full { entries, bytes });
        }
        file.put(entry)
    }

    /// Takes over, once, what processes of the same caller have left behind.
    fn adopt(&self, state: &mut State, caller: Option<&Caller>) -> Result<(), OutboxError> {
        if state.adopted && state.adopted_for.as_ref() == caller {
            return Ok(());
        }
        self.adopt_all(state, caller)?;
        state.adopted = true;
        state.adopted_for = caller.cloned();
        Ok(())
    }

    /// Takes over what all of them have left, the oldest command first.
    fn adopt_all(&self, state: &mut State, caller: Option<&Caller>) -> Result<(), OutboxError> {
        let dir = self.outbox.dir();
        file::sweep(dir);
        let paths = file::list(dir).map_err(|source| OutboxError::of("reading", dir, source))?;
        let mut orphans = Vec::new();
        for path in paths {
            match self.orphan(caller, &path) {
                Ok(orphan) => orphans.extend(orphan),
                Err(error) => tracing::warn!(%error, "a file of the outbox is passed over"),
            }
        }
        let kept = orphans.iter().flat_map(|orphan| &orphan.contents().kept);
        let mut kept: Vec<Kept> = kept.cloned().collect();
        kept.sort_by_key(|kept| kept.entry.made);
        for kept in kept {
            let id = kept.entry.id.clone();
            // After a crash in the middle of this, it stands in both.
            if !has(state, &id) {
                // The limits are for what is new.
                let file = match &mut state.file {
                    Some(file) => file,
                    none => none.insert(OutboxFile::new(dir, self.of.clone())?),
                };
                file.put(kept.entry)?;
                if let Some(why) = kept.stopped {
                    file.stop(&id, why)?;
                }
            }
        }
        orphans.into_iter().try_for_each(OutboxFile::remove)
    }

    /// The file of a process that has ended, if it is one of this caller's.
    fn orphan(
        &self,
        caller: Option<&Caller>,
        path: &std::path::Path,
    ) -> Result<Option<OutboxFile>, OutboxError> {
        let looks = file::look(path).map_err(|source| OutboxError::of("reading", path, source))?;
        let of_caller = |kept: &Kept| caller.is_some() && kept.entry.caller.as_ref() == caller;
        // Where it does not say whose it is, but has commands, it is of another version.
        let nothing = looks.kept.is_empty();
        let ours = looks.of.as_ref().map_or(nothing, |of| {
            let same = of.service == self.of.service && of.base == self.of.base;
            same && (of.proof == self.of.proof || looks.kept.iter().any(of_caller))
        });
        if ours {
            OutboxFile::adopt(path)
        } else {
            Ok(None)
        }
    }

    /// Sends what waits, by a task that ends when nothing does. Without a runtime it waits for the
    /// next command.
    pub(crate) fn wake(self: &Arc<Self>, api: &Api) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        self.expire_stopped();
        let mut state = self.state();
        if let Err(error) = self.adopt(&mut state, self.caller().as_ref()) {
            tracing::warn!(%error, "what processes left in the outbox is not taken over");
        }
        if state.sends || next(&state).is_none() {
            return;
        }
        state.sends = true;
        drop(state);
        runtime.spawn(send::run(Arc::clone(self), api.clone()));
    }

    /// Looks again for what processes have left behind, at the next occasion.
    pub(crate) fn look_again(&self) {
        self.state().adopted = false;
    }

    /// The oldest command that waits.
    pub(super) fn next(&self) -> Option<Entry> {
        next(&self.state()).cloned()
    }

    /// Whether the task that sends may end: nothing waits, and nothing is paused.
    pub(super) fn ends(&self) -> bool {
        let mut state = self.state();
        let ends = next(&state).is_none() && state.paused.is_empty();
        state.sends = !ends;
        ends
    }

    /// The server takes a command from nobody just now. It holds up no other.
    pub(super) fn pause(&self, id: &CallId) {
        self.state().paused.insert(id.clone());
        self.changed.notify_waiters();
    }

    /// What was paused is tried again.
    pub(super) fn resume(&self) {
        self.state().paused.clear();
    }

    /// A command is another caller's. It waits for a process of that one.
    pub(super) fn leave(&self, id: &CallId) {
        self.state().of_others.insert(id.clone());
        self.changed.notify_waiters();
    }

    /// How many commands wait, and are sent without a call.
    pub(crate) fn waiting(&self) -> usize {
        waiting(&self.state()).count()
    }

    /// Returns when no command waits that is older than this one.
    pub(crate) async fn is_first(&self, id: &CallId) {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            let first = {
                let state = self.state();
                let older = (state.file.iter())
                    .flat_map(|file| &file.contents().kept)
                    .take_while(|kept| kept.entry.id != *id)
                    .any(|kept| waits(&state, kept));
                !older
            };
            if first {
                return;
            }
            changed.await;
        }
    }

    /// Returns when no command waits at all.
    pub(crate) async fn is_empty(&self) {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            if self.waiting() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// The tries of a command say another position from here on.
    pub(super) fn moved(&self, id: &CallId, seen: LogPosition) {
        let mut state = self.state();
        let file = state.file.as_mut();
        told(id, file.map(|file| file.seen(id, seen)));
    }

    /// A command is not sent any more, and stays.
    pub(super) fn stop(&self, id: &CallId, why: String) {
        let mut state = self.state();
        state.live.remove(id);
        let file = state.file.as_mut();
        told(id, file.map(|file| file.stop(id, why)));
        drop(state);
        self.changed.notify_waiters();
    }

    /// A command leaves. Its call was told, or the list of those of which none was.
    pub(super) fn end(&self, entry: &Entry, how: SettledHow, call_is_told: bool) {
        let end = End {
            id: entry.id.clone(),
            route: entry.route.clone(),
            at: clock::wall(),
            how,
        };
        let mut state = self.state();
        state.live.remove(&entry.id);
        let file = state.file.as_mut();
        told(&entry.id, file.map(|file| file.end(end.clone())));
        drop(state);
        if !call_is_told {
            self.outbox.settle(&end);
        }
        self.changed.notify_waiters();
    }

    /// Holds a command back, so that no try of it follows. None where no outbox of this directory
    /// has it. It must not be one whose call runs, or that is not this caller's.
    pub(crate) fn hold_back(&self, id: &CallId) -> Result<Option<Entry>, OutboxError> {
        let mut state = self.state();
        state.adopted = false;
        self.adopt(&mut state, self.caller().as_ref())?;
        let call = id.clone();
        if state.live.contains(id) {
            return Err(OutboxError::Held { call });
        }
        let kept = state.file.iter().flat_map(|file| &file.contents().kept);
        let found = kept.map(|kept| &kept.entry).find(|entry| entry.id == *id);
        let found = found.cloned();
        let of_others = state.of_others.contains(id);
        drop(state);
        if found.is_none() || of_others {
            let all = self.outbox.owed()?;
            return match all.iter().find(|owed| owed.call == *id) {
                None => Ok(None),
                Some(owed) if owed.state == OwedState::Held && !of_others => {
                    Err(OutboxError::Held { call })
                }
                Some(_) => Err(OutboxError::OfAnother { call }),
            };
        }
        self.stop(id, "it is being settled".into());
        Ok(found)
    }

    /// A command that was held back is settled.
    pub(crate) fn settled(&self, entry: &Entry) {
        self.end(entry, SettledHow::Dropped, false);
    }

    /// Ends what is not sent any more, and whose time is over.
    fn expire_stopped(&self) {
        let now = clock::wall();
        let over: Vec<Entry> = {
            let state = self.state();
            let kept = state.file.iter().flat_map(|file| &file.contents().kept);
            let over = kept.filter(|kept| kept.stopped.is_some() && kept.entry.until < now);
            over.map(|kept| kept.entry.clone()).collect()
        };
        for entry in over {
            self.end(&entry, SettledHow::Expired, false);
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut log = std::mem::take(&mut *self.log());
        self.note(&mut log);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = state.file.take()
            && file.contents().kept.is_empty()
            && let Err(error) = file.remove()
        {
            tracing::warn!(%error, "an empty outbox stays");
        }
    }
}

fn has(state: &State, id: &CallId) -> bool {
    let mut kept = state.file.iter().flat_map(|file| &file.contents().kept);
    kept.any(|kept| kept.entry.id == *id)
}

fn waits(state: &State, kept: &Kept) -> bool {
    let id = &kept.entry.id;
    let out = [&state.live, &state.paused, &state.of_others];
    kept.stopped.is_none() && !out.iter().any(|of| of.contains(id))
}

fn waiting(state: &State) -> impl Iterator<Item = &Entry> {
    let kept = state.file.iter().flat_map(|file| &file.contents().kept);
    kept.filter(|kept| waits(state, kept))
        .map(|kept| &kept.entry)
}

fn next(state: &State) -> Option<&Entry> {
    waiting(state).next()
}

/// A line that cannot be written changes nothing of what happened: after a crash the command is
/// sent again under its ID.
fn told(id: &CallId, written: Option<Result<(), OutboxError>>) {
    if let Some(Err(error)) = written {
        tracing::warn!(%error, call = %id, "the outbox does not know how a command stands");
    }
}
