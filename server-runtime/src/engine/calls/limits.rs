//! How much of the calls is remembered, and what the table counts.

use std::time::Duration;

use link_wire::Limits;

/// How much a server remembers of the calls of its callers.
///
/// What is beyond a limit goes, the oldest first, and replies that the caller says it has before
/// others. A reply that goes leaves its call ID; a call ID that goes raises a number, below
/// which no call of the caller that is not known runs any more. So no limit, however small, makes
/// a command run twice: a retry that comes too late is told that it may have run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// How long a call is remembered, by the times at which calls were decided. 24 h.
    pub keep: Duration,
    /// The most replies of one caller; the newest stays always. 1,024.
    pub most_kept: u32,
    /// The most bytes of the replies of one caller; the newest stays always. 16 MiB.
    pub most_kept_bytes: u64,
    /// The most call IDs of one caller whose reply is gone. 65,536.
    pub most_thin: u32,
    /// The most calls of one caller with an `Idempotency-Key`. They are remembered for `keep`, and
    /// none goes sooner: with so many of them, a new one is told to come later. 16,384.
    pub most_foreign: u32,
    /// The most bytes over all callers, of replies and of what it takes to remember a call (some
    /// 160 bytes). The oldest reply of all goes first. 1 GiB.
    pub most_bytes: u64,
}

impl CallLimits {
    /// The defaults, with `call_keep` and `call_keep_most` of a link.toml.
    pub fn of(limits: &Limits) -> Self {
        Self {
            keep: limits.call_keep,
            most_kept: limits.call_keep_most,
            ..Self::default()
        }
    }
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(24 * 3600),
            most_kept: 1024,
            most_kept_bytes: 16 * 1024 * 1024,
            most_thin: 65_536,
            most_foreign: 16_384,
            most_bytes: 1024 * 1024 * 1024,
        }
    }
}

/// What the table of calls holds, and what it dropped since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallStats {
    /// Callers of whom something is known.
    pub callers: u64,
    /// Calls whose reply is kept, those with an `Idempotency-Key` too.
    pub kept: u64,
    /// Calls of which the ID is left.
    pub thin: u64,
    /// Calls with an `Idempotency-Key`.
    pub foreign: u64,
    /// Calls that are queued.
    pub pending: u64,
    /// The bytes of all of them, estimated.
    pub bytes: u64,
    /// Replies that went before their call ID did.
    pub dropped_replies: u64,
    /// Call IDs that went.
    pub dropped_ids: u64,
}
