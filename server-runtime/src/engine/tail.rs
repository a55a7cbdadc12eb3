//! The end of the log as the engine holds it: the only source of the proof that something is
//! durable.

use std::{
    ops::ControlFlow,
    panic::resume_unwind,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use link_wire::Position;

use crate::journal::{AppendError, Chunk, Epoch, Journal, JournalError, Resolved};

/// The wait before an unknown outcome is asked for again. It doubles.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest such wait.
const MOST_WAIT: Duration = Duration::from_secs(5);
/// So many chunks are prepared before they are taken.
const MOST_AHEAD: usize = 4;

/// The proof that what was handed to the journal is durable. Only this file makes one.
#[derive(Debug)]
pub(super) struct Durable(());

/// The sole right to write the journal, and the position of its next record.
pub(super) struct Tail {
    journal: Arc<dyn Journal>,
    epoch: Epoch,
    next: Position,
}

impl Tail {
    /// Takes the right to write.
    pub(super) fn acquire(journal: Arc<dyn Journal>) -> Result<Self, JournalError> {
        let writer = journal.acquire()?;
        Ok(Self {
            journal,
            epoch: writer.epoch,
            next: writer.tail.next(),
        })
    }

    pub(super) fn next(&self) -> Position {
        self.next
    }

    /// The position of the last record; 0 when there is none.
    pub(super) fn last(&self) -> Position {
        Position(self.next.0 - 1)
    }

    /// Appends records. No record at all is durable as soon as all before it is, and that it is:
    /// there is one writer, and it waits for each append.
    ///
    /// When the outcome of an append is not known, the journal is asked until it is: this does
    /// not return before. After [`AppendError::Full`] nothing was appended, and the next append
    /// may work; after another error none does.
    pub(super) fn append(&mut self, records: u32, bytes: &[u8]) -> Result<Durable, AppendError> {
        if records > 0 {
            let chunk = Chunk {
                first: self.next,
                records,
                bytes,
            };
            match self.journal.append(self.epoch, chunk) {
                Ok(()) => {}
                Err(AppendError::Unknown { source }) => self.resolve(chunk, &source)?,
                Err(error) => return Err(error),
            }
            self.next = Position(self.next.0 + u64::from(records));
        }
        Ok(Durable(()))
    }

    fn resolve(
        &self,
        chunk: Chunk<'_>,
        source: &(dyn std::error::Error + 'static),
    ) -> Result<(), AppendError> {
        let (first, mut wait) = (chunk.first, FIRST_WAIT);
        tracing::warn!(
            %first,
            why = source,
            "whether a chunk was appended is not known: nothing is answered until it is"
        );
        loop {
            let again = match self.journal.resolve(self.epoch, chunk) {
                Ok(Resolved::Appended) => Ok(()),
                Ok(Resolved::Absent) => self.journal.append(self.epoch, chunk),
                // It asked and wrote nothing: what became of the chunk is as unknown as before.
                Err(AppendError::Full { source }) => Err(AppendError::Unknown { source }),
                Err(error) => Err(error),
            };
            match again {
                Err(AppendError::Unknown { .. }) => {
                    thread::sleep(wait);
                    wait = (wait * 2).min(MOST_WAIT);
                }
                known => {
                    tracing::info!(%first, "what became of the chunk is known");
                    return known;
                }
            }
        }
    }
}

/// Reads the log from the chunk that holds a position, until `visit` breaks or fails.
pub(super) fn read<E: From<JournalError>>(
    journal: &dyn Journal,
    from: Position,
    mut visit: impl FnMut(&Durable, Chunk<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut stopped = None;
    journal.read(from, &mut |chunk| match visit(&Durable(()), chunk) {
        Ok(flow) => flow,
        Err(error) => {
            stopped = Some(error);
            ControlFlow::Break(())
        }
    })?;
    stopped.map_or(Ok(()), Err)
}

/// As [`read`], with a thread of its own that reads and prepares chunks while `take` is at those
/// before them.
pub(super) fn read_ahead<T: Send, E: From<JournalError>>(
    journal: &dyn Journal,
    from: Position,
    prepare: impl Fn(Chunk<'_>) -> T + Send,
    mut take: impl FnMut(&Durable, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (ready, prepared) = mpsc::sync_channel(MOST_AHEAD);
        let read = move || {
            journal.read(from, &mut |chunk| match ready.send(prepare(chunk)) {
                Ok(()) => ControlFlow::Continue(()),
                // Nobody takes any more.
                Err(_) => ControlFlow::Break(()),
            })
        };
        let reader = thread::Builder::new()
            .name("log-reader".into())
            .spawn_scoped(scope, read)
            .map_err(|source| JournalError::Io {
                doing: "starting a thread that reads",
                place: "the log".into(),
                source,
            })?;
        for one in prepared {
            if take(&Durable(()), one)?.is_break() {
                return Ok(());
            }
        }
        match reader.join() {
            Ok(read) => Ok(read?),
            Err(panic) => resume_unwind(panic),
        }
    })
}
