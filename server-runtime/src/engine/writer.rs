//! The one writer: takes what is queued as one chunk, makes it durable, and then lets it be seen.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, atomic::Ordering, mpsc},
    thread,
    time::Duration,
};

use link_wire::Position;
use tokio::time::Instant;

use super::{
    checkpoint::End,
    queue::Entry,
    shared::{Phase, Shared, caught, text},
    stage::{Told, Written},
    tail::{Durable, Tail},
};
use crate::{State, journal::AppendError};

/// For so long no command is tried after the journal had no room.
const FULL_FOR: Duration = Duration::from_secs(1);

/// Starts the writer. It ends when the engine is closed or has failed; then the receiver is
/// disconnected.
pub(super) fn start<S: State>(
    shared: Arc<Shared<S>>,
    tail: Tail,
    bytes_due: u64,
) -> io::Result<mpsc::Receiver<()>> {
    let (ended, wait) = mpsc::channel();
    thread::Builder::new()
        .name("journal-writer".into())
        .spawn(move || {
            let ran = catch_unwind(AssertUnwindSafe(|| run(&shared, tail, bytes_due)));
            let ran = ran.unwrap_or_else(|panic| Err(format!("the writer: {}", text(&*panic))));
            end(&shared, ran);
            drop(ended);
        })?;
    Ok(wait)
}

/// Says how the writer ended. No record can come any more, so the streams end.
fn end<S: State>(shared: &Shared<S>, ran: Result<(), String>) {
    let mut core = shared.core();
    match ran {
        Ok(()) => {
            shared.phase.send_if_modified(|phase| {
                let closing = *phase == Phase::Closing;
                if closing {
                    *phase = Phase::Closed;
                }
                closing
            });
        }
        Err(why) => {
            shared.fail(&mut core, &why);
            shared.desk.end(End::Now);
        }
    }
    drop(core);
    shared.written_mut().records = None;
}

fn run<S: State>(shared: &Shared<S>, mut tail: Tail, bytes_due: u64) -> Result<(), String> {
    let mut bytes = Vec::new();
    loop {
        let entries = wait(shared);
        if entries.is_empty() {
            return Ok(());
        }
        bytes.clear();
        let records = encode(&entries, tail.next(), &mut bytes)?;
        match tail.append(records, &bytes) {
            Ok(durable) => {
                if records > 0 {
                    shared.counts.chunks.fetch_add(1, Ordering::Relaxed);
                    let records = u64::from(records);
                    shared.counts.records.fetch_add(records, Ordering::Relaxed);
                }
                let chunk = Appended {
                    last: tail.last(),
                    records,
                    bytes: bytes.len(),
                    bytes_due,
                };
                settle(shared, &durable, entries, &chunk)?;
            }
            Err(error @ AppendError::Full { .. }) => {
                roll_back(shared, tail.next(), entries, &said(&error));
            }
            Err(error) => return Err(said(&error)),
        }
    }
}

/// Appends the records of these entries to a chunk, and gives their number.
fn encode<C>(entries: &[Entry<C>], next: Position, chunk: &mut Vec<u8>) -> Result<u32, String> {
    let mut records = 0;
    for entry in entries {
        let Entry::Call(logged) = entry else { continue };
        if logged.first().0 != next.0 + u64::from(records) {
            return Err(format!(
                "the queue is at {}, the log is not",
                logged.first()
            ));
        }
        let encoded = logged.encode(chunk);
        encoded.map_err(|error| format!("encoding a record: {error}"))?;
        records += logged.records();
    }
    Ok(records)
}

/// The next chunk; empty when there is none any more.
fn wait<S: State>(shared: &Shared<S>) -> Vec<Entry<S::Change>> {
    let mut core = shared.core();
    while core.queue.is_empty() && *shared.phase.borrow() == Phase::Open {
        core = shared
            .work
            .wait(core)
            .unwrap_or_else(PoisonError::into_inner);
    }
    core.queue.take()
}

/// A chunk that is durable.
struct Appended {
    /// The position of the last record of the log.
    last: Position,
    records: u32,
    bytes: usize,
    /// After so many bytes of log a checkpoint is due.
    bytes_due: u64,
}

/// Lets a durable chunk be seen: first its state, then its calls, then whoever waits.
fn settle<S: State>(
    shared: &Shared<S>,
    durable: &Durable,
    entries: Vec<Entry<S::Change>>,
    chunk: &Appended,
) -> Result<(), String> {
    let mut ended = Vec::with_capacity(entries.len());
    let mut records = Vec::with_capacity(chunk.records as usize);
    let mut woken = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Entry::Call(mut logged) => {
                records.extend(logged.take_records());
                ended.push(logged);
            }
            Entry::Barrier {
                outcome, waiters, ..
            } => woken.push((waiters, Written::new(durable, outcome))),
        }
    }
    if !records.is_empty() {
        let mut written = shared.written_mut();
        written.broken = true;
        for record in &records {
            caught(|| written.state.apply(record)).map_err(|panic| {
                format!("`apply` of the record at {}: {panic}", record.position)
            })?;
        }
        written.broken = false;
        if let Some(streams) = &written.records {
            streams.send(records.into(), chunk.bytes);
        }
    }
    let mut has_room = false;
    if !ended.is_empty() {
        let mut core = shared.core();
        for logged in &ended {
            let (last, at, command) = (logged.last(), logged.at, logged.command);
            let written = Written::new(durable, logged.outcome.clone());
            let kept = written.clone();
            let waiters = (core.calls).keep(&logged.call, last, at, command, kept, &logged.ack);
            woken.extend(waiters.map(|waiters| (waiters, written)));
        }
        shared
            .desk
            .written(chunk.last, chunk.bytes, chunk.bytes_due);
        has_room = core.full.take().is_some();
        if has_room {
            shared.counts.full.store(false, Ordering::Release);
        }
    }
    for (waiters, written) in woken {
        // Whoever went away finds the reply in the table.
        waiters.tell(Told::Written(written));
    }
    if has_room {
        tracing::warn!("the journal has room again: commands are taken");
    }
    Ok(())
}

/// Takes back all that was decided and is not written: the journal has no room for it. Whoever
/// waits is told that it did not run.
fn roll_back<S: State>(
    shared: &Shared<S>,
    next: Position,
    taken: Vec<Entry<S::Change>>,
    why: &str,
) {
    let mut core = shared.core();
    let queued = core.queue.take_all();
    core.pending = shared.written().state.clone();
    core.next = next;
    let mut woken = core.calls.roll_back_pending();
    let until = Instant::now() + FULL_FOR;
    *shared.counts.full_until() = Some(until);
    let news = core.full.replace(until).is_none();
    shared.counts.full.store(true, Ordering::Release);
    drop(core);
    woken.extend(
        taken
            .into_iter()
            .chain(queued)
            .filter_map(|entry| match entry {
                Entry::Barrier { waiters, .. } => Some(waiters),
                Entry::Call(_) => None,
            }),
    );
    for waiters in woken {
        waiters.tell(Told::NotRun);
    }
    if news {
        tracing::error!(
            why,
            "the journal has no room: commands are refused until there is some"
        );
    }
}

/// An error with its sources, in one line.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
