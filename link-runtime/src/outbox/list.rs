//! What stands in the files of an outbox, whoever writes them. Changes nothing.

use std::path::Path;

use link_wire::{CallId, Caller, UnixMillis};

use super::{
    OutboxError,
    file::{self, Contents},
};

/// A command that owes a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owed {
    /// Its call ID.
    pub call: CallId,
    /// The name of its route.
    pub route: String,
    /// Its method, as `POST`.
    pub method: String,
    /// Its path with the query.
    pub path: String,
    /// The server.
    pub base: String,
    /// Whose it is, where the server had said it.
    pub caller: Option<Caller>,
    /// When it was made.
    pub made: UnixMillis,
    /// When its time is over.
    pub until: UnixMillis,
    /// Who sends it.
    pub state: OwedState,
}

/// Who sends a command that owes a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwedState {
    /// A process that runs.
    Held,
    /// Its process has ended: the next one of its caller sends it.
    Waits,
    /// Nobody: it may have run, and another try would not tell.
    Stopped {
        /// What is known.
        why: String,
    },
}

pub(super) fn owed(dir: &Path) -> Result<Vec<Owed>, OutboxError> {
    let mut all = Vec::new();
    for (contents, held) in contents(dir)? {
        let base = contents.of.map(|of| of.base).unwrap_or_default();
        all.extend(contents.kept.into_iter().map(|kept| Owed {
            call: kept.entry.id,
            route: kept.entry.route,
            method: kept.entry.method,
            path: kept.entry.path,
            base: base.clone(),
            caller: kept.entry.caller,
            made: kept.entry.made,
            until: kept.entry.until,
            state: match kept.stopped {
                Some(why) => OwedState::Stopped { why },
                None if held => OwedState::Held,
                None => OwedState::Waits,
            },
        }));
    }
    all.sort_by_key(|owed| owed.made);
    // A crash in the middle of a take-over leaves a command in two files.
    let mut seen = std::collections::HashSet::new();
    all.retain(|owed| seen.insert(owed.call.clone()));
    Ok(all)
}

/// What each file says, and whether a process holds it.
fn contents(dir: &Path) -> Result<Vec<(Contents, bool)>, OutboxError> {
    let paths = file::list(dir).map_err(|source| OutboxError::of("reading", dir, source))?;
    let mut all = Vec::new();
    for path in paths {
        match file::look(&path) {
            Ok(contents) => all.push((contents, file::is_held(&path))),
            // It went in between, or is nobody's to read.
            Err(error) => tracing::debug!(file = %path.display(), %error, "passed over"),
        }
    }
    Ok(all)
}
