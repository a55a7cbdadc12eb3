//! The outbox: commands that owe a reply, on the disk of this machine, so that no crash of the
//! process loses one silently.
//!
//! A command stands in a file before its first try, byte for byte, and leaves it at its reply or
//! its refusal. One whose call ended without either, or whose process died, is sent again under its
//! call ID, until it has a reply or its time is over: it runs once all the same.
//!
//! ```text
//! DIR/0f3a….outbox                  one process, one caller of one server; locked while it lives
//! DIR/0f3a….outbox.damaged-77ac…    the end of a file that could not be read
//! DIR/settled                       how commands ended whose callers were not told
//! DIR/log-5e21…                     where the log of a server was: what a first try says
//! DIR/callers                       whose credentials are whose, so that a new token is the same caller
//! ```
//!
//! | module | what |
//! |---|---|
//! | `format` | the lines of a file; pure |
//! | `file` | one locked file |
//! | `queue` | the commands of one caller in this process |
//! | `send` | the task that sends what waits |
//! | `place` | where the directory is |
//! | `list` | what stands in the files, whoever writes them |
//! | `notes` | the files beside |

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use link_wire::{CallId, UnixMillis};
use sha2::{Digest as _, Sha256};

use self::format::{End, Of};
pub(crate) use self::{
    format::Entry,
    queue::{Promise, Queue, entry},
};
pub use self::{
    format::SettledHow,
    list::{Owed, OwedState},
};

mod file;
mod format;
mod list;
mod notes;
mod place;
mod queue;
mod send;

/// How much an outbox takes of one caller of one process. Beyond it a command is not sent, and says
/// so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboxLimits {
    /// The most commands. 10,000.
    pub entries: usize,
    /// The most bytes of them. 64 MiB.
    pub bytes: u64,
}

impl Default for OutboxLimits {
    fn default() -> Self {
        Self {
            entries: 10_000,
            bytes: 64 * 1024 * 1024,
        }
    }
}

/// A directory of commands that owe a reply. Clones are the same; a process opens one.
///
/// [`Api::with_outbox`](crate::Api::with_outbox) makes an API use it. A command is in a file of it
/// when its first try begins: it survives a crash of the process, not one of the machine, since
/// nothing waits for the disk.
#[derive(Clone)]
pub struct Outbox(Arc<Shared>);

struct Shared {
    dir: PathBuf,
    limits: OutboxLimits,
    queues: Mutex<HashMap<(String, String, String), Weak<Queue>>>,
    tell: Mutex<Vec<Tell>>,
}

type Tell = Arc<dyn Fn(&Settled) + Send + Sync>;

/// The end of a command that stood in an outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// Its call ID.
    pub call: CallId,
    /// The name of its route.
    pub route: String,
    /// When it left.
    pub at: UnixMillis,
    /// How it ended.
    pub how: SettledHow,
}

impl From<End> for Settled {
    fn from(end: End) -> Self {
        Self {
            call: end.id,
            route: end.route,
            at: end.at,
            how: end.how,
        }
    }
}

/// Why an outbox does not take a command, or cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxError {
    /// A file or the directory cannot be used.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as `writing`.
        doing: &'static str,
        /// The file or the directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The environment does not say where the state of programs is kept.
    #[error(
        "there is no place for an outbox: set XDG_STATE_HOME or HOME to a directory, or name one"
    )]
    NoPlace,
    /// It holds as much as it may.
    #[error("the outbox is full: {entries} commands of {bytes} bytes owe a reply")]
    Full {
        /// The commands in it.
        entries: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// The system gives no random bytes for the name of a file.
    #[error("the system gives no random bytes: {why}")]
    Random {
        /// What it says.
        why: String,
    },
    /// The command is another caller's, or for another server.
    #[error("the command {call} is of another caller or for another server: ask with its own")]
    OfAnother {
        /// Its call ID.
        call: CallId,
    },
    /// Another process holds the command.
    #[error("the command {call} is held by a process that runs: it sends it, or must end first")]
    Held {
        /// Its call ID.
        call: CallId,
    },
}

impl OutboxError {
    fn of(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

impl Outbox {
    /// The outbox of the user: `riff-link/outbox` in `XDG_STATE_HOME`, or in `~/.local/state`.
    ///
    /// # Errors
    /// [`OutboxError::NoPlace`], and those of [`Outbox::open`].
    pub fn of_user() -> Result<Self, OutboxError> {
        Self::open(place::of_user()?)
    }

    /// The outbox in a directory, which is made where it is missing, for its owner alone. It should
    /// be one that outlives the login: commands wait in it for hours.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, OutboxError> {
        Self::open_with(dir, OutboxLimits::default())
    }

    /// The same, with limits.
    ///
    /// # Errors
    /// As there.
    pub fn open_with(dir: impl Into<PathBuf>, limits: OutboxLimits) -> Result<Self, OutboxError> {
        let dir = dir.into();
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&dir)
            .map_err(|source| OutboxError::of("making", &dir, source))?;
        Ok(Self(Arc::new(Shared {
            dir,
            limits,
            queues: Mutex::default(),
            tell: Mutex::default(),
        })))
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// Calls this with each end that [`Outbox::settled`] lists from now on and that happens in this
    /// process. It must not block.
    pub fn on_settled(&self, tell: impl Fn(&Settled) + Send + Sync + 'static) {
        self.tellers().push(Arc::new(tell));
    }

    /// What owes a reply, of all processes and callers, the oldest first.
    ///
    /// # Errors
    /// When the directory cannot be read. A file that cannot be is passed over.
    pub fn owed(&self) -> Result<Vec<Owed>, OutboxError> {
        list::owed(&self.0.dir)
    }

    /// How the last commands ended of which no call was told: those that were sent again after
    /// their call had ended, or whose process had, those whose time was over, and those that were
    /// taken out. Some thousand of them, the oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn settled(&self) -> Result<Vec<Settled>, OutboxError> {
        Ok(notes::settled(&self.0.dir)?
            .into_iter()
            .map(Settled::from)
            .collect())
    }

    /// The ends of files that could not be read and were set aside: commands in them are not sent.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn set_aside(&self) -> Result<Vec<PathBuf>, OutboxError> {
        let dir = &self.0.dir;
        file::set_aside_in(dir).map_err(|source| OutboxError::of("reading", dir, source))
    }

    fn tellers(&self) -> std::sync::MutexGuard<'_, Vec<Tell>> {
        self.0.tell.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the end of a command of which no call is told, and tells it.
    fn settle(&self, end: &End) {
        if let Err(error) = notes::settle(&self.0.dir, end) {
            tracing::warn!(%error, call = %end.id, "the end of a command is not noted");
        }
        let tellers = self.tellers().clone();
        let settled = Settled::from(end.clone());
        for tell in tellers {
            tell(&settled);
        }
    }

    /// The queue of one caller of one service: the same for equal credentials.
    pub(crate) fn queue(&self, service: &str, base: &str, proof: &[u8]) -> Arc<Queue> {
        let of = Of {
            service: service.to_owned(),
            base: base.to_owned(),
            proof: digest(proof),
        };
        let mut queues = (self.0.queues.lock()).unwrap_or_else(PoisonError::into_inner);
        let key = (of.service.clone(), of.base.clone(), of.proof.clone());
        if let Some(queue) = queues.get(&key).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Queue::new(self.clone(), of));
        queues.insert(key, Arc::downgrade(&queue));
        queue
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outbox").field(&self.0.dir).finish()
    }
}

/// Tells credentials apart without saying them.
fn digest(proof: &[u8]) -> String {
    if proof.is_empty() {
        return String::new();
    }
    let hash = Sha256::digest(proof);
    let half = hash.iter().take(16);
    half.fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
