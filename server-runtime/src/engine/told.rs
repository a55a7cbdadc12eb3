//! What becomes of one write: told once, to however many wait for it.
//!
//! There is one for each command, so it is one small allocation and one short lock. Channels that
//! are made for more take several times that.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::stage::Told;

/// Tells all who wait. When it goes without a word, nothing is known.
#[derive(Debug)]
pub(crate) struct Waiters(Arc<Cell>);

/// One who waits: ready with what is told, or with none when nothing will be.
#[derive(Debug)]
pub(super) struct Waiter {
    cell: Arc<Cell>,
    /// Its place among the wakers, once it has one.
    place: Option<usize>,
}

#[derive(Debug)]
struct Cell(Mutex<State>);

#[derive(Debug)]
enum State {
    /// Mostly one waits.
    Waits {
        first: Option<Waker>,
        more: Vec<Waker>,
    },
    Told(Told),
    Gone,
}

impl Cell {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets what is known, unless something is.
    fn set(&self, next: State) {
        let mut state = self.state();
        if !matches!(*state, State::Waits { .. }) {
            return;
        }
        let before = std::mem::replace(&mut *state, next);
        // Whoever is woken looks at once.
        drop(state);
        if let State::Waits { first, more } = before {
            for waker in first.into_iter().chain(more) {
                waker.wake();
            }
        }
    }
}

impl Waiters {
    /// Nobody waits yet.
    pub(super) fn new() -> Self {
        Self(Arc::new(Cell(Mutex::new(State::Waits {
            first: None,
            more: Vec::new(),
        }))))
    }

    /// One more who waits.
    pub(super) fn join(&self) -> Waiter {
        Waiter {
            cell: Arc::clone(&self.0),
            place: None,
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Tells it to all, also to those who are asked for later.
    pub(super) fn tell(self, told: Told) {
        self.0.set(State::Told(told));
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        self.0.set(State::Gone);
    }
}

impl Drop for Waiter {
    /// Its task is not kept, nor woken.
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut state = self.cell.state();
        let gone = match &mut *state {
            State::Waits { first, more } => match place.checked_sub(1) {
                None => first.take(),
                Some(at) => Some(std::mem::replace(&mut more[at], Waker::noop().clone())),
            },
            State::Told(_) | State::Gone => None,
        };
        // Not under the lock: with a waker a task may go, and with that whatever it holds.
        drop(state);
        drop(gone);
    }
}

impl Future for Waiter {
    type Output = Option<Told>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        let cell = Arc::clone(&self.cell);
        let mut state = cell.state();
        match &mut *state {
            State::Told(told) => Poll::Ready(Some(told.clone())),
            State::Gone => Poll::Ready(None),
            State::Waits { first, more } => {
                let mine = context.waker().clone();
                let before = match self.place {
                    Some(0) => first.replace(mine),
                    Some(place) => Some(std::mem::replace(&mut more[place - 1], mine)),
                    None if first.is_none() => {
                        self.place = Some(0);
                        first.replace(mine)
                    }
                    None => {
                        more.push(mine);
                        self.place = Some(more.len());
                        None
                    }
                };
                drop(state);
                drop(before);
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn all_who_wait_are_told_and_those_who_come_later_too() {
        for told in [true, false] {
            for _ in 0..200 {
                let waiters = Waiters::new();
                let mut all = JoinSet::new();
                for _ in 0..5 {
                    all.spawn(waiters.join());
                }
                let late = waiters.join();
                tokio::task::yield_now().await;
                if told {
                    waiters.tell(Told::NotRun);
                } else {
                    drop(waiters);
                }
                all.spawn(late);
                for one in all.join_all().await {
                    assert_eq!(matches!(one, Some(Told::NotRun)), told);
                }
            }
        }
    }

    #[tokio::test]
    async fn one_that_moves_to_another_task_is_woken_there() {
        let waiters = Waiters::new();
        let (mut one, mut two) = (waiters.join(), waiters.join());
        for waiter in [&mut one, &mut two] {
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(waiter).poll(&mut context).is_pending());
        }
        let moved = tokio::spawn(async move { (one.await.is_some(), two.await.is_some()) });
        tokio::task::yield_now().await;
        waiters.tell(Told::NotRun);
        assert_eq!(moved.await.unwrap(), (true, true));
    }
}
