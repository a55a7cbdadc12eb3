//! The one writer: takes what is queued as one chunk, makes it durable, and then lets it be seen.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, mpsc},
    thread,
};

use super::{
    queue::Entry,
    shared::{Phase, Shared, caught, text},
    stage::Written,
    tail::{Durable, Tail},
};
use crate::State;

/// Starts the writer. It ends when the engine is closed or has failed, and closes the journal;
/// then the receiver is disconnected.
pub(super) fn start<S: State>(
    shared: Arc<Shared<S>>,
    tail: Tail,
) -> io::Result<mpsc::Receiver<()>> {
    let (ended, wait) = mpsc::channel();
    thread::Builder::new()
        .name("journal-writer".into())
        .spawn(move || {
            let ran = catch_unwind(AssertUnwindSafe(|| run(&shared, tail)));
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
        Err(why) => shared.fail(&mut core, &why),
    }
    drop(core);
    shared.written_mut().records = None;
}

fn run<S: State>(shared: &Shared<S>, mut tail: Tail) -> Result<(), String> {
    let mut chunk = Vec::new();
    loop {
        let entries = wait(shared);
        if entries.is_empty() {
            return Ok(());
        }
        chunk.clear();
        let mut records = 0;
        for entry in &entries {
            let Entry::Call(logged) = entry else { continue };
            if logged.first().0 != tail.next().0 + u64::from(records) {
                return Err(format!(
                    "the queue is at {}, the log is not",
                    logged.first()
                ));
            }
            logged
                .encode(&mut chunk)
                .map_err(|error| format!("encoding a record: {error}"))?;
            records += logged.records();
        }
        let durable = tail.append(records, &chunk).map_err(|error| said(&error))?;
        settle(shared, &durable, entries)?;
    }
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

/// Lets a durable chunk be seen: first its state, then its calls, then whoever waits.
fn settle<S: State>(
    shared: &Shared<S>,
    durable: &Durable,
    entries: Vec<Entry<S::Change>>,
) -> Result<(), String> {
    let mut ended = Vec::with_capacity(entries.len());
    let (mut records, mut bytes) = (Vec::new(), 0);
    let mut woken = Vec::new();
    for entry in entries {
        match entry {
            Entry::Call(logged) => {
                ended.push((logged.call.clone(), logged.outcome.clone()));
                bytes += logged.bytes();
                records.extend(logged.into_records());
            }
            Entry::Barrier {
                outcome, waiters, ..
            } => {
                woken.push((waiters, Written::new(durable, outcome)));
            }
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
            streams.send(records.into(), bytes);
        }
    }
    if !ended.is_empty() {
        let mut core = shared.core();
        for (call, outcome) in ended {
            let written = Written::new(durable, outcome);
            if let Some(waiters) = core.calls.keep(call, written.clone()) {
                woken.push((waiters, written));
            }
        }
    }
    for (waiters, written) in woken {
        // Whoever went away finds the reply in the table.
        waiters.send_replace(Some(written));
    }
    Ok(())
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
