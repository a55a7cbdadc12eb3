//! The end of the log as the engine holds it: the only source of the proof that something is
//! durable.

use std::ops::ControlFlow;

use link_wire::Position;

use crate::journal::{AppendError, Chunk, Found, Journal, JournalError};

/// The proof that what was handed to the journal is durable. Only this file makes one.
#[derive(Debug)]
pub(super) struct Durable(());

/// The journal, and the position of its next record.
pub(super) struct Tail {
    journal: Box<dyn Journal>,
    next: Position,
}

impl Tail {
    /// Reads the whole log. `visit` can stop it with an error.
    pub(super) fn replay<E: From<JournalError>>(
        mut journal: Box<dyn Journal>,
        mut visit: impl FnMut(&Durable, Chunk<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut next = Position(1);
        let mut stopped = None;
        journal.replay(&mut |chunk| match visit(&Durable(()), chunk) {
            Ok(()) => {
                next = Position(chunk.first.0 + u64::from(chunk.records));
                ControlFlow::Continue(())
            }
            Err(error) => {
                stopped = Some(error);
                ControlFlow::Break(())
            }
        })?;
        match stopped {
            Some(error) => Err(error),
            None => Ok(Self { journal, next }),
        }
    }

    pub(super) fn next(&self) -> Position {
        self.next
    }

    pub(super) fn found(&self) -> Found {
        self.journal.found()
    }

    /// Appends records. No record at all is durable as soon as all before it is, and that it is:
    /// there is one writer, and it waits for each append.
    pub(super) fn append(&mut self, records: u32, bytes: &[u8]) -> Result<Durable, AppendError> {
        if records > 0 {
            self.journal.append(Chunk {
                first: self.next,
                records,
                bytes,
            })?;
            self.next = Position(self.next.0 + u64::from(records));
        }
        Ok(Durable(()))
    }
}
