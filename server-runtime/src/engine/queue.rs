//! What is decided and not yet written, in the order of its positions.

use std::collections::VecDeque;

use link_wire::{CallId, Position, UnixMillis};
use serde_json::value::RawValue;

use super::{
    calls::{Call, Origin},
    shared::{Core, caught},
    stage::{Checked, Queued, Verdict},
    told::Waiters,
};
use crate::{
    Record, State,
    handler::Changed,
    log::line::{CallRecord, Outcome},
};

/// A chunk takes entries until it has this many bytes.
const CHUNK_BYTES: usize = 8 * 1024 * 1024;
/// With this many bytes queued, a command is told to come again.
const MOST_BYTES: usize = 256 * 1024 * 1024;
/// With this many commands queued, a command is told to come again.
const MOST_ENTRIES: usize = 65_536;

/// The queue of the writer.
#[derive(Debug)]
pub(super) struct Queue<C> {
    entries: VecDeque<Entry<C>>,
    bytes: usize,
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
        }
    }
}

#[derive(Debug)]
pub(super) enum Entry<C> {
    /// Records of one call.
    Call(Logged<C>),
    /// Nothing to write: a refusal that waits for all that its handler may have seen.
    Barrier {
        outcome: Outcome,
        waiters: Waiters,
        /// Of memory: it takes none in a chunk.
        bytes: usize,
    },
}

/// The records of one call, with their positions.
#[derive(Debug)]
pub(super) struct Logged<C> {
    pub(super) call: Call,
    /// The calls of the same caller whose replies had arrived.
    pub(super) ack: Vec<CallId>,
    pub(super) command: &'static str,
    pub(super) at: UnixMillis,
    /// The positions of its first and of its last record.
    first: Position,
    last: Position,
    /// None for a call without a change: it takes one record all the same.
    changes: Vec<(Box<RawValue>, Record<C>)>,
    pub(super) outcome: Outcome,
    bytes: usize,
}

impl<C> Queue<C> {
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= MOST_ENTRIES || self.bytes >= MOST_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whoever waits for an entry is told that nothing is known.
    pub(super) fn clear(&mut self) {
        drop(self.take_all());
    }

    /// All entries, whatever their size.
    pub(super) fn take_all(&mut self) -> VecDeque<Entry<C>> {
        self.bytes = 0;
        std::mem::take(&mut self.entries)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn push(&mut self, entry: Entry<C>) {
        self.bytes += entry.bytes();
        self.entries.push_back(entry);
    }

    /// The entries of the next chunk: all, as long as they fit.
    pub(super) fn take(&mut self) -> Vec<Entry<C>> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some(entry) = self.entries.front() {
            bytes += entry.bytes();
            if bytes > CHUNK_BYTES && !taken.is_empty() {
                break;
            }
            if let Some(entry) = self.entries.pop_front() {
                self.bytes -= entry.bytes();
                taken.push(entry);
            }
        }
        taken
    }
}

impl<C> Entry<C> {
    fn bytes(&self) -> usize {
        match self {
            Self::Call(logged) => logged.bytes,
            Self::Barrier { bytes, .. } => *bytes,
        }
    }
}

impl<C> Logged<C> {
    /// How many records it has.
    pub(super) fn records(&self) -> u32 {
        u32::try_from(self.last.0 - self.first.0 + 1).unwrap_or(u32::MAX)
    }

    pub(super) fn first(&self) -> Position {
        self.first
    }

    /// The position of its last record.
    pub(super) fn last(&self) -> Position {
        self.last
    }

    /// Its records, to be applied and told.
    pub(super) fn take_records(&mut self) -> impl Iterator<Item = Record<C>> + use<C> {
        let changes = std::mem::take(&mut self.changes);
        changes.into_iter().map(|(_, record)| record)
    }

    /// Appends its records to a chunk, one a line.
    pub(super) fn encode(&self, chunk: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        let last = self.records() - 1;
        for n in 0..=last {
            let line = CallRecord {
                position: Position(self.first.0 + u64::from(n)),
                at: self.at,
                by: self.call.caller.as_str(),
                command: self.command,
                call: self.call.id.as_str(),
                fingerprint: self.call.fingerprint,
                attempt: self.call.attempt,
                ack: if n == 0 { &self.ack } else { &[] },
                foreign: self.call.origin == Origin::Foreign,
                change: self.changes.get(n as usize).map(|(json, _)| &**json),
                outcome: (n == last).then_some(&self.outcome),
            };
            serde_json::to_writer(&mut *chunk, &line)?;
            chunk.push(b'\n');
        }
        Ok(())
    }
}

impl<S: State> Core<S> {
    /// Gives a decided command its positions, applies it and queues it.
    ///
    /// A refusal of a first try changed nothing and is not kept; it only waits for what is queued
    /// before it, as its handler may have seen that. A refusal of a retry is kept, so that a
    /// first try which comes late cannot run; so is that of a foreign key, whose tries have no
    /// numbers.
    ///
    /// # Errors
    /// The text for the log when `apply` panics: then `pending` is no more to be trusted.
    pub(super) fn enqueue(&mut self, checked: Checked<S::Change>) -> Result<Queued, String> {
        let bytes = checked.bytes();
        let Checked {
            call,
            ack,
            command,
            at,
            verdict,
        } = checked;
        let (changes, outcome) = match verdict {
            Verdict::Accepted(decision) => (decision.changes, Outcome::Reply(decision.reply)),
            Verdict::Cancelled => (Vec::new(), Outcome::Cancelled),
            Verdict::Refused(refusal) if call.attempt > 1 || call.origin == Origin::Foreign => {
                (Vec::new(), Outcome::Refused(refusal))
            }
            Verdict::Refused(refusal) => {
                let (waiters, queued) = Queued::first();
                self.queue.push(Entry::Barrier {
                    outcome: Outcome::Refused(refusal),
                    waiters,
                    bytes,
                });
                return Ok(queued);
            }
        };
        let first = self.next;
        let mut records = Vec::with_capacity(changes.len());
        for Changed { json, change } in changes {
            let record = Record {
                position: self.next,
                at,
                by: call.caller.clone(),
                command: command.into(),
                call: call.id.clone(),
                change,
            };
            caught(|| self.pending.apply(&record))
                .map_err(|panic| format!("`apply` of a record of `{command}` failed: {panic}"))?;
            self.next = self.next.next();
            records.push((json, record));
        }
        if records.is_empty() {
            self.next = self.next.next();
        }
        let queued = self.calls.pend(&call);
        self.queue.push(Entry::Call(Logged {
            call,
            ack,
            command,
            at,
            first,
            last: Position(self.next.0 - 1),
            changes: records,
            outcome,
            bytes,
        }));
        Ok(queued)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::calls::{CallLimits, Calls},
        *,
    };
    use crate::refusal::KeptRefusal;

    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    struct Nothing;

    impl State for Nothing {
        type Change = ();

        fn apply(&mut self, _: &Record<()>) {}
    }

    #[test]
    fn a_refusal_that_waits_counts_with_its_text() {
        let calls = Calls::new(CallLimits::default());
        let mut core = Core::new(Nothing, Position(1), calls);
        let refused = Checked {
            call: Call {
                caller: "ann".parse().unwrap(),
                id: "1".parse().unwrap(),
                fingerprint: "1".parse().unwrap(),
                attempt: 1,
                origin: Origin::Link { seen: None },
            },
            ack: Vec::new(),
            command: "ask",
            at: UnixMillis(1),
            verdict: Verdict::Refused(KeptRefusal {
                status: 409,
                code: "held".into(),
                detail: "x".repeat(MOST_BYTES / 6),
            }),
        };
        core.enqueue(refused).unwrap();
        assert!(core.queue.is_full());
        assert_eq!(core.queue.take().len(), 1);
        assert_eq!(core.queue.bytes, 0);
    }
}
