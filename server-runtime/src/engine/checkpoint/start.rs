//! Where a sum begins: the newest checkpoint that can be used, or the first record of the log.

use std::ops::ControlFlow;

use link_wire::Position;

use super::{
    super::{
        EngineOptions, OpenError,
        fold::{Parsed, Sum},
        tail::{self, Durable},
    },
    format,
};
use crate::{
    State,
    journal::{Journal, JournalError},
};

/// Room for no more calls than this is made before the log is read.
const MOST_RESERVED: u64 = 4 * 1024 * 1024;

/// How far a sum goes, and whether it still should.
pub(in super::super) struct Bound<'a> {
    /// The position of the last record of the log.
    pub(in super::super) tail: Position,
    /// No chunk that ends later is added.
    pub(in super::super) to: Position,
    /// Asked before each chunk.
    pub(in super::super) goes_on: &'a dyn Fn() -> bool,
    /// Whether the log is read on a second thread, which takes half the time: while a server
    /// answers, the processors are for that.
    pub(in super::super) ahead: bool,
}

/// A sum, and the checkpoint from which it began.
pub(in super::super) struct Begun<S> {
    pub(in super::super) sum: Sum<S>,
    pub(in super::super) from: Option<Position>,
}

/// Sums up the log, from the newest checkpoint that can be used.
///
/// A checkpoint that is damaged, or that this program cannot read, is passed over: the log says
/// the same. One that does not fit to the log stops it: one of the two is of another server, or
/// the log was put back to an older one.
pub(in super::super) fn sum_up<S: State>(
    journal: &dyn Journal,
    initial: &S,
    options: &EngineOptions,
    bound: &Bound<'_>,
) -> Result<Begun<S>, OpenError> {
    let mut passed = Vec::new();
    for at in journal.checkpoints()? {
        let loaded = match journal.checkpoint(at) {
            Ok(bytes) => format::read::<S>(&bytes, at, options.calls),
            Err(JournalError::Damaged { place, what }) => Err(format!("{place}: {what}")),
            // What cannot be read now is no more needed than what is damaged: the log has it all.
            Err(error @ JournalError::Io { .. }) => Err(format!("{error}: {}", source_of(&error))),
            Err(error) => return Err(error.into()),
        };
        match loaded {
            Ok(loaded) => {
                if at > bound.tail {
                    let (checkpoint, tail) = (at, bound.tail);
                    return Err(JournalError::CheckpointAhead { checkpoint, tail }.into());
                }
                let sum = Sum::at(at, loaded.state, loaded.calls, options.skip_unknown_changes);
                let sum = add_from(journal, sum, Some(loaded.digest), bound)?;
                return Ok(Begun {
                    sum,
                    from: Some(at),
                });
            }
            Err(why) => {
                tracing::warn!(
                    checkpoint = at.0,
                    why,
                    "a checkpoint cannot be used and is passed over: the start takes longer"
                );
                passed.push(format!("{at}: {why}"));
            }
        }
    }
    let first = journal.first();
    if first > Position(1) {
        return Err(OpenError::NoCheckpoint {
            first,
            passed: passed.join("; "),
        });
    }
    let sum = Sum::new(initial.clone(), options.calls, options.skip_unknown_changes);
    let sum = add_from(journal, sum, None, bound)?;
    Ok(Begun { sum, from: None })
}

fn source_of(error: &dyn std::error::Error) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}

/// Adds what comes after the sum's end, as far as the bound lets it.
fn add_from<S: State>(
    journal: &dyn Journal,
    mut sum: Sum<S>,
    digest: Option<u128>,
    bound: &Bound<'_>,
) -> Result<Sum<S>, OpenError> {
    let (at, mut proven) = (sum.end, digest.is_none());
    if bound.tail == Position(0) {
        return Ok(sum);
    }
    let records = bound.to.0.saturating_sub(at.0).min(MOST_RESERVED);
    sum.calls
        .reserve(usize::try_from(records).unwrap_or_default());
    let other = OpenError::OtherLog { checkpoint: at };
    let from = at.max(Position(1));
    let mut take = |durable: &Durable, chunk: Parsed<S::Change>| {
        if !proven {
            if chunk.end != at || Some(chunk.digest) != digest {
                return Err(OpenError::OtherLog { checkpoint: at });
            }
            sum.digest = chunk.digest;
            proven = true;
            return Ok(ControlFlow::Continue(()));
        }
        if chunk.end > bound.to || !(bound.goes_on)() {
            return Ok(ControlFlow::Break(()));
        }
        sum.add(durable, chunk)?;
        Ok(ControlFlow::Continue(()))
    };
    if bound.ahead {
        tail::read_ahead(journal, from, Parsed::of, take)?;
    } else {
        tail::read(journal, from, |durable, chunk| {
            take(durable, Parsed::of(chunk))
        })?;
    }
    if proven { Ok(sum) } else { Err(other) }
}
