//! The waits of all calls of a link: who may try while the server is away, how many tries a link
//! adds to an outage, and what happens after a sleep of the machine.
//!
//! While the link is down one call probes: it tries again by its own waits. The others wait for it,
//! and are let go when the server is back, spread over a time that grows with their number. When
//! the call that probes ends, another takes its place.
//!
//! Beside that a link has a budget of tries, for servers that answer and are busy: each call puts a
//! fifth of one into it, and each try after a first one takes one out. So a link that gets no reply
//! sends a fifth more than one that gets all, and some tries a second, which are what a single
//! caller needs.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use link_wire::UnixMillis;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::Link;
use crate::{budget::Deadline, clock, state::State, wait};

/// What the budget of a link holds at most, and at its start.
const MOST_TRIES: f64 = 100.0;
/// What each call puts into it.
const TRIES_A_CALL: f64 = 0.2;
/// What it gets each second.
const TRIES_A_SECOND: f64 = 10.0;
/// Calls that are let go are spread so that no more than 80 begin in a second.
const SPREAD_A_CALL: Duration = Duration::from_micros(12_500);
/// A wall clock that is so far ahead of the other one means that the machine slept.
const SLEPT: Duration = Duration::from_secs(5);
/// How often a wait looks at the clocks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a stream does that has nothing to read.
const LOOK_IDLE: Duration = Duration::from_secs(5);

/// The state of them.
#[derive(Debug)]
pub(super) struct Waits {
    budget: Mutex<Budget>,
    probed: AtomicBool,
    /// Told when the call that probes ends.
    freed: Notify,
    waiting: AtomicU32,
    looked: Mutex<(UnixMillis, Instant)>,
    /// Told when the machine has slept.
    woken: Notify,
}

#[derive(Debug, Clone, Copy)]
struct Budget {
    tries: f64,
    at: Instant,
}

impl Budget {
    fn fill(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        self.tries = (self.tries + seconds * TRIES_A_SECOND).min(MOST_TRIES);
        self.at = now;
    }

    fn call(&mut self) {
        self.tries = (self.tries + TRIES_A_CALL).min(MOST_TRIES);
    }

    /// Takes a try. Zero, or how long it is until there is one.
    fn take(&mut self, now: Instant) -> Duration {
        self.fill(now);
        if self.tries >= 1.0 {
            self.tries -= 1.0;
            return Duration::ZERO;
        }
        Duration::from_secs_f64((1.0 - self.tries) / TRIES_A_SECOND)
    }
}

impl Default for Waits {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            budget: Mutex::new(Budget {
                tries: MOST_TRIES,
                at: now,
            }),
            probed: AtomicBool::new(false),
            freed: Notify::new(),
            waiting: AtomicU32::new(0),
            looked: Mutex::new((clock::wall(), now)),
            woken: Notify::new(),
        }
    }
}

/// The one call of a link that tries while it is down.
pub(crate) struct Probe(Link);

impl Drop for Probe {
    fn drop(&mut self) {
        self.0.0.waits.probed.store(false, Ordering::Release);
        self.0.0.waits.freed.notify_one();
    }
}

/// A call that waits for another one to get through.
struct Waiting<'a>(&'a AtomicU32);

impl<'a> Waiting<'a> {
    fn of(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Link {
    /// A call begins.
    pub(super) fn fund(&self) {
        self.budget().call();
    }

    fn budget(&self) -> MutexGuard<'_, Budget> {
        let budget = self.0.waits.budget.lock();
        budget.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits before the next try of a call, by its own wait or for the one that probes. `probe` is
    /// held by the call that does, as long as the link is down.
    ///
    /// # Cancel safety
    /// Dropping it ends the wait.
    pub(crate) async fn pause(&self, own: Duration, deadline: Deadline, probe: &mut Option<Probe>) {
        if !self.is_down() {
            *probe = None;
        }
        loop {
            if probe.is_none() && self.is_down() {
                *probe = self.probe();
            }
            if probe.is_some() {
                return self.nap(own).await;
            }
            if !self.is_down() {
                self.nap(own).await;
                break;
            }
            if self.released(deadline).await {
                // Those that are let go are few enough each second.
                return;
            }
        }
        loop {
            let more = self.budget().take(Instant::now());
            if more.is_zero() || more >= deadline.left() {
                return;
            }
            self.nap(wait::jitter(more * 2, wait::random())).await;
        }
    }

    /// Waits until the call that probes gets through, or ends. Whether there is no more to wait
    /// for.
    async fn released(&self, deadline: Deadline) -> bool {
        let waits = &self.0.waits;
        let waiting = Waiting::of(&waits.waiting);
        let mut state = self.state();
        let freed = waits.freed.notified();
        // It may have ended before this was asked.
        if !waits.probed.load(Ordering::Acquire) {
            return false;
        }
        let back = async {
            // An error means that the link went, and with it this call.
            let _ = state
                .wait_for(|state| !matches!(state, State::Down { .. }))
                .await;
        };
        tokio::select! {
            () = back => {
                let spread = SPREAD_A_CALL * waits.waiting.load(Ordering::Acquire);
                let spread = spread.min(deadline.left() / 4);
                let part = f64::from(wait::random()) / f64::from(u32::MAX);
                self.nap(spread.mul_f64(part)).await;
                // It counts until now: all that are let go at once see the same number.
                drop(waiting);
                true
            }
            () = freed => false,
            // Its time is over, or the machine slept: it looks for itself.
            () = self.nap(deadline.left()) => true,
        }
    }

    fn probe(&self) -> Option<Probe> {
        let taken = self.0.waits.probed.swap(true, Ordering::AcqRel);
        (!taken).then(|| Probe(self.clone()))
    }

    fn is_down(&self) -> bool {
        matches!(&*self.0.state.borrow(), State::Down { .. })
    }

    /// Waits, for less long when the machine sleeps meanwhile.
    pub(crate) async fn nap(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        loop {
            let left = until.map_or(LOOK_EVERY, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return;
            }
            tokio::select! {
                // First: who looks at the same time finds nothing new any more.
                biased;
                () = self.0.waits.woken.notified() => return,
                () = sleep(left.min(LOOK_EVERY)) => {}
            }
            if self.has_slept() {
                return;
            }
        }
    }

    /// Returns when the machine has slept.
    pub(crate) async fn woke(&self) {
        loop {
            tokio::select! {
                biased;
                () = self.0.waits.woken.notified() => return,
                () = sleep(LOOK_IDLE) => {}
            }
            if self.has_slept() {
                return;
            }
        }
    }

    /// Looks at the clocks. After a sleep of the machine the connections of the link are of no use,
    /// and nobody waits any longer.
    fn has_slept(&self) -> bool {
        let (wall, now) = (clock::wall(), Instant::now());
        let looked = &self.0.waits.looked;
        let mut looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall_before, before) = std::mem::replace(&mut *looked, (wall, now));
        drop(looked);
        let ahead = wall.since(wall_before).saturating_sub(now - before);
        if ahead <= SLEPT {
            return false;
        }
        tracing::info!(?ahead, server = self.base(), "the machine has slept");
        let http = self.http();
        if http.swap(&http.calls()) {
            self.count_swap();
        }
        self.0.waits.woken.notify_waiters();
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use link_wire::Limits;
    use tokio::{task::JoinSet, time::timeout};

    use super::*;
    use crate::{link, outcome::Cause};

    const HOUR: Duration = Duration::from_secs(3600);

    fn link_of(name: &str) -> Link {
        link::with(&format!("http://{name}.example"), Limits::DEFAULT).unwrap()
    }

    fn down(link: &Link) {
        link.0.state.send_replace(State::Down {
            since: UnixMillis(0),
            cause: Cause::Silent { after: HOUR },
        });
    }

    #[test]
    fn a_link_that_gets_no_answer_sends_a_fifth_more_and_ten_tries_a_second() {
        let begin = Instant::now();
        let mut budget = Budget {
            tries: MOST_TRIES,
            at: begin,
        };
        // For a minute there are a hundred calls a second, and each of them would try ten times.
        let mut sent = 0;
        for tick in 0..6000_u32 {
            let now = begin + Duration::from_millis(10) * tick;
            budget.call();
            for _ in 0..10 {
                sent += u32::from(budget.take(now).is_zero());
            }
        }
        let more = 100 + 6000 / 5 + 60 * 10;
        assert!((more - 20..=more + 1).contains(&sent), "{sent}");
        // A single caller is never held up.
        let mut alone = Budget {
            tries: 0.0,
            at: begin,
        };
        assert!(alone.take(begin) <= Duration::from_millis(100));
    }

    #[tokio::test(start_paused = true)]
    async fn while_a_link_is_down_one_call_tries_and_the_others_are_let_go_with_a_spread() {
        let link = link_of("probed");
        down(&link);
        let begin = Instant::now();
        let mut calls = JoinSet::new();
        for _ in 0..1000 {
            let link = link.clone();
            calls.spawn(async move {
                let mut probe = None;
                link.pause(Duration::from_secs(1), Deadline::of(HOUR), &mut probe)
                    .await;
                (begin.elapsed(), probe.is_some())
            });
        }
        let (after, probes) = calls.join_next().await.unwrap().unwrap();
        assert!(probes && after == Duration::from_secs(1), "{after:?}");
        sleep(Duration::from_secs(29)).await;
        assert!(
            calls.try_join_next().is_some(),
            "its guard went, and another probes"
        );
        let third = calls.join_next().await.unwrap().unwrap();
        assert!(third.1, "one after the other, as each of them ends");
        link.0.state.send_replace(State::Up);
        let up = begin.elapsed();
        let mut seconds = vec![0; 60];
        while let Some(ended) = calls.join_next().await {
            let (after, _) = ended.unwrap();
            // Those that had probed before are told here, too.
            if let Some(after) = after.checked_sub(up) {
                seconds[usize::try_from(after.as_secs()).unwrap()] += 1;
            }
        }
        let most = seconds.iter().max().unwrap();
        assert!(*most <= 110, "{seconds:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_waits_ends_with_its_budget_and_a_lone_one_is_not_spread() {
        let link = link_of("alone");
        down(&link);
        let probe = link.probe().unwrap();
        let begin = Instant::now();
        let deadline = Deadline::of(Duration::from_secs(3));
        link.pause(Duration::ZERO, deadline, &mut None).await;
        assert_eq!(begin.elapsed().as_secs(), 3);
        let waits = {
            let link = link.clone();
            tokio::spawn(async move {
                link.pause(Duration::ZERO, Deadline::of(HOUR), &mut None)
                    .await;
            })
        };
        sleep(Duration::from_secs(5)).await;
        link.0.state.send_replace(State::Up);
        let begin = Instant::now();
        waits.await.unwrap();
        assert!(begin.elapsed() <= SPREAD_A_CALL + Duration::from_millis(2));
        drop(probe);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleep_of_the_machine_ends_every_wait() {
        let link = link_of("slept");
        let naps: Vec<_> = (0..3)
            .map(|_| {
                let link = Arc::new(link.clone());
                tokio::spawn(async move { link.nap(HOUR).await })
            })
            .collect();
        sleep(Duration::from_millis(1500)).await;
        assert!(naps.iter().all(|nap| !nap.is_finished()));
        {
            let looked = &link.0.waits.looked;
            let mut looked = looked.lock().unwrap();
            // As if the last look was an hour of the wall ago.
            looked.0 = UnixMillis(looked.0.0 - 3_600_000);
        }
        for nap in naps {
            timeout(Duration::from_secs(2), nap)
                .await
                .expect("at its next look")
                .unwrap();
        }
    }
}
