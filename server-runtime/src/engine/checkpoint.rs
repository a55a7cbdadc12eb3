//! Checkpoints: a thread of their own folds them from the log, so that no command waits for one.
//!
//! The thread begins at the newest checkpoint, reads what was written since, applies it to a
//! state and a table of its own, and puts the sum. It holds neither of them in between.

pub(crate) mod format;
mod start;

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use link_wire::Position;
use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};

pub(super) use self::start::{Begun, Bound, sum_up};
use super::{EngineOptions, OpenError, shared::text};
use crate::{
    State,
    journal::{Journal, JournalError},
};

/// After a checkpoint that commands made due, the next one is not due for so many times as long as
/// it took: under full load it takes no more than an eighth of one processor.
const REST: u32 = 7;

/// Why there is no new checkpoint. The log and the older checkpoints are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The journal did not take it.
    #[error("the journal takes no checkpoint")]
    Journal(#[from] JournalError),
    /// The log cannot be summed up.
    #[error("the log cannot be summed up")]
    Log(#[from] OpenError),
    /// The state or the table of calls cannot be JSON, or does not read back.
    #[error("the state cannot be written into a checkpoint: {0}")]
    State(String),
    /// A record that this program does not know stands right behind the newest checkpoint.
    #[error("no checkpoint passes the record at {position}, which this program does not know")]
    Unknown {
        /// Its place.
        position: Position,
    },
    /// The engine is closed, has failed, or stops.
    #[error("the engine stops")]
    Stopped,
}

/// What the thread is asked for, and what it has done. Everybody else only looks and notes.
#[derive(Debug, Default)]
pub(super) struct Desk {
    orders: Mutex<Orders>,
    changed: Condvar,
    /// Bytes of chunks since the newest checkpoint.
    bytes: AtomicU64,
    /// The position of the newest written record; 0 for none.
    written: AtomicU64,
    /// The position of the newest checkpoint; 0 for none.
    newest: AtomicU64,
    /// The thread leaves off what it does, before the next chunk.
    stop: AtomicBool,
    /// True when the thread has ended.
    ended: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Orders {
    asked: Vec<oneshot::Sender<Result<Position, CheckpointError>>>,
    full: bool,
    end: Option<End>,
}

/// How the thread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// After a last checkpoint.
    Last,
    Now,
}

impl Desk {
    pub(super) fn new(written: Position, newest: Option<Position>, bytes: u64) -> Self {
        Self {
            written: AtomicU64::new(written.0),
            newest: AtomicU64::new(newest.unwrap_or_default().0),
            bytes: AtomicU64::new(bytes),
            ..Self::default()
        }
    }

    /// Notes that the log was written up to a position, with so many bytes more.
    pub(super) fn written(&self, to: Position, bytes: usize, most: u64) {
        self.written.store(to.0, Ordering::Release);
        let before = self.bytes.fetch_add(bytes as u64, Ordering::AcqRel);
        if before < most && before + bytes as u64 >= most {
            self.orders().full = true;
            self.changed.notify_all();
        }
    }

    /// The position of the newest checkpoint.
    pub(super) fn newest(&self) -> Option<Position> {
        let newest = self.newest.load(Ordering::Acquire);
        (newest > 0).then_some(Position(newest))
    }

    /// The position of the newest written record.
    pub(super) fn position(&self) -> Position {
        Position(self.written.load(Ordering::Acquire))
    }

    /// Asks for a checkpoint.
    pub(super) fn ask(&self) -> oneshot::Receiver<Result<Position, CheckpointError>> {
        let (told, tell) = oneshot::channel();
        let mut orders = self.orders();
        if orders.end.is_none() {
            orders.asked.push(told);
            self.changed.notify_all();
        }
        tell
    }

    /// Tells the thread to end.
    pub(super) fn end(&self, how: End) {
        let mut orders = self.orders();
        if how == End::Now {
            self.stop.store(true, Ordering::Release);
            orders.end = Some(End::Now);
        } else {
            orders.end.get_or_insert(how);
        }
        self.changed.notify_all();
    }

    /// The thread ends: whoever asked too late is told.
    fn close(&self) {
        let mut orders = self.orders();
        orders.end = Some(End::Now);
        orders.asked.clear();
        drop(orders);
        self.ended.send_replace(true);
    }

    /// Returns when the thread has ended.
    pub(super) async fn ended(&self) {
        // The sender lives as long as this does.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next order: who asked, and whether it is the end. For so long as `rest`, that much was
    /// written is none.
    fn next(&self, every: Duration, rest: Duration) -> Orders {
        let alone = |orders: &mut Orders| orders.asked.is_empty() && orders.end.is_none();
        let idle = |orders: &mut Orders| alone(orders) && !orders.full;
        let orders = self.orders();
        let waited = self.changed.wait_timeout_while(orders, rest, alone);
        let (orders, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(orders, every, idle);
        let (mut orders, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Orders {
            asked: std::mem::take(&mut orders.asked),
            full: std::mem::take(&mut orders.full),
            end: orders.end,
        }
    }
}

/// All that a checkpoint is made of.
pub(super) struct Maker<S> {
    pub(super) desk: Arc<Desk>,
    pub(super) journal: Arc<dyn Journal>,
    pub(super) initial: S,
    pub(super) options: EngineOptions,
    /// The record with which this run began.
    pub(super) run: Position,
    /// The first record that this program does not know.
    pub(super) unknown: Option<Position>,
}

/// Starts the thread. When it ends it closes its journal, and then the receiver is disconnected.
pub(super) fn start<S: State>(maker: Maker<S>) -> io::Result<mpsc::Receiver<()>> {
    let (ended, wait) = mpsc::channel();
    thread::Builder::new()
        .name("checkpoints".into())
        .spawn(move || {
            maker.run();
            let desk = Arc::clone(&maker.desk);
            drop(maker);
            desk.close();
            drop(ended);
        })?;
    Ok(wait)
}

impl<S: State> Maker<S> {
    fn run(&self) {
        let mut rest = Duration::ZERO;
        loop {
            let Orders { asked, end, .. } = self.desk.next(self.options.checkpoint_every, rest);
            if end == Some(End::Now) {
                return;
            }
            let by_hand = !asked.is_empty();
            let began = Instant::now();
            let made = catch_unwind(AssertUnwindSafe(|| self.make(by_hand)));
            let mut made = made.unwrap_or_else(|panic| {
                let what = format!("it panicked: {}", text(&*panic));
                Err(CheckpointError::State(what))
            });
            if let Err(error) = &made
                && !by_hand
                && !matches!(
                    error,
                    CheckpointError::Stopped | CheckpointError::Unknown { .. }
                )
            {
                let error: &dyn std::error::Error = error;
                tracing::warn!(error, "no checkpoint was made: the next start takes longer");
            }
            for asked in asked {
                let told = match &mut made {
                    Ok(position) => Ok(*position),
                    Err(_) => std::mem::replace(&mut made, Err(CheckpointError::Stopped)),
                };
                // Whoever went away does not need it.
                let _ = asked.send(told);
            }
            if end.is_some() {
                return;
            }
            rest = began.elapsed() * REST;
        }
    }

    /// Makes a checkpoint of all that is written, if there is something new. That a run began is
    /// new only to who asks by hand.
    fn make(&self, by_hand: bool) -> Result<Position, CheckpointError> {
        let desk = &self.desk;
        // After a failure the next one is due when as much was written again.
        let bytes = desk.bytes.swap(0, Ordering::AcqRel);
        let tail = desk.position();
        let known = self.unknown.map_or(tail, |first| Position(first.0 - 1));
        let newest = desk.newest();
        let only_run = tail == self.run && newest.unwrap_or_default().next() == tail;
        if newest == Some(tail) || (only_run && !by_hand) {
            return Ok(newest.unwrap_or_default());
        }
        let begun = sum_up(
            &*self.journal,
            &self.initial,
            &self.options,
            &Bound {
                tail,
                to: tail.min(known),
                goes_on: &|| !desk.stop.load(Ordering::Acquire),
                ahead: false,
            },
        )?;
        if desk.stop.load(Ordering::Acquire) {
            return Err(CheckpointError::Stopped);
        }
        let (at, sum) = (begun.sum.end, begun.sum);
        if begun.from == Some(at) || at == Position(0) {
            return match self.unknown {
                Some(position) => Err(CheckpointError::Unknown { position }),
                None => Ok(at),
            };
        }
        let payload = format::write(&sum).map_err(CheckpointError::State)?;
        drop(sum);
        self.journal.put_checkpoint(at, &payload)?;
        desk.newest.store(at.0, Ordering::Release);
        tracing::info!(
            position = at.0,
            bytes = payload.len(),
            log_bytes = bytes,
            "a checkpoint was made"
        );
        self.drop_old()?;
        Ok(at)
    }

    /// Drops checkpoints, and the log before them, that no start needs any more.
    ///
    /// One that is damaged does not count as kept, and no log goes before as many as are to be
    /// kept were read.
    fn drop_old(&self) -> Result<(), CheckpointError> {
        let most = self.options.checkpoints_kept.max(1);
        let mut kept = Vec::new();
        for at in self.journal.checkpoints()? {
            if kept.len() == most {
                self.journal.remove_checkpoint(at)?;
            } else if self.journal.checkpoint(at).is_ok() {
                kept.push(at);
            }
        }
        match kept.last() {
            Some(&oldest) if self.options.prune_log && kept.len() == most => {
                Ok(self.journal.truncate_before(oldest)?)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn what_is_due_by_its_bytes_waits_for_the_rest_and_what_is_asked_for_by_hand_does_not() {
        let desk = Desk::new(Position(1), None, 0);
        desk.written(Position(2), 10, 1);
        let rest = Duration::from_millis(60);
        let began = Instant::now();
        assert!(desk.next(HOUR, rest).full);
        assert!(began.elapsed() >= rest);
        let asked = desk.ask();
        let next = desk.next(HOUR, HOUR);
        assert_eq!(next.asked.len(), 1);
        drop(asked);
        desk.end(End::Last);
        assert_eq!(desk.next(HOUR, HOUR).end, Some(End::Last));
    }
}
