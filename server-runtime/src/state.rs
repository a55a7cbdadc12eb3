//! What an application gives the engine: its state, its changes, and what its handlers answer.

use std::borrow::Cow;

use link_wire::{CallId, Caller, Position, UnixMillis};
use serde::{Serialize, de::DeserializeOwned};

/// The state of an application: what its records add up to.
///
/// The engine holds it twice: once with all that is decided (against which commands are decided)
/// and once with all that is written (which queries, signals and streams read). A checkpoint holds
/// its JSON, so it must read back as it was: a start from a checkpoint must give the same state as
/// one from the whole log. A checkpoint whose state does not read back is passed over, so a new
/// version may change the shape of its state as it likes, as long as the log is whole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the state of a server",
    note = "implement `State`: name the `Change` type and store it in `apply`",
    note = "a state is `Clone`, and its JSON stands in checkpoints: derive `Serialize` and `Deserialize`"
)]
pub trait State: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// One durable change. Its JSON stands in the log for ever: names are never reused, and new
    /// fields have defaults.
    type Change: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    /// Stores what the record says. No clock, no I/O, no decision: an old log must give the same
    /// state for ever. A panic here stops the engine.
    ///
    /// It gets the change as it reads back from its JSON, also while the server runs, so that a
    /// restart can give no other state.
    fn apply(&mut self, record: &Record<Self::Change>);
}

/// One durable change and who made it when.
///
/// A command that changes nothing takes a position too, so positions can have gaps here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<C> {
    /// Its place in the log, from 1.
    pub position: Position,
    /// When the command was decided, by the server's clock.
    pub at: UnixMillis,
    /// Who sent the command.
    pub by: Caller,
    /// The name of the command's route, as it was then.
    pub command: Cow<'static, str>,
    /// The call ID of the command.
    pub call: CallId,
    /// What changed.
    pub change: C,
}

/// A command's yes: what changes, and the reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a decision changes nothing until the handler returns it"]
pub struct Accepted<C, R> {
    pub(crate) changes: Vec<C>,
    pub(crate) reply: R,
}

impl<C, R> Accepted<C, R> {
    /// One change.
    pub fn new(change: C, reply: R) -> Self {
        Self {
            changes: vec![change],
            reply,
        }
    }

    /// Changes that become durable together, in this order.
    pub fn many(changes: Vec<C>, reply: R) -> Self {
        Self { changes, reply }
    }

    /// A yes that changes nothing. The call is remembered all the same.
    pub fn unchanged(reply: R) -> Self {
        Self {
            changes: Vec::new(),
            reply,
        }
    }
}

/// Which event, if any, a record means to one stream.
pub(crate) type Project<C, E> = Box<dyn Fn(&Record<C>) -> Option<E> + Send + Sync>;

/// A stream: the events that written records mean to its reader.
///
/// It begins with the first record written after it was opened. What came before is read with
/// the stream's catch-up query.
pub struct Events<C, E> {
    pub(crate) cursor: Option<u64>,
    pub(crate) project: Project<C, E>,
}

impl<C, E> Events<C, E> {
    /// A stream with a cursor.
    ///
    /// `cursor` is where the stream stands now: that of the newest event which the state has. It
    /// is told at the start, so that a reader knows whether it missed some.
    pub fn from(
        cursor: u64,
        project: impl Fn(&Record<C>) -> Option<E> + Send + Sync + 'static,
    ) -> Self {
        Self {
            cursor: Some(cursor),
            project: Box::new(project),
        }
    }

    /// A stream without a cursor: what comes while nobody reads is not told later.
    pub fn new(project: impl Fn(&Record<C>) -> Option<E> + Send + Sync + 'static) -> Self {
        Self {
            cursor: None,
            project: Box::new(project),
        }
    }
}

impl<C, E> std::fmt::Debug for Events<C, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events")
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
