//! What a proxy has done so far.

use std::collections::BTreeMap;

use crate::Kind;

/// What a proxy has done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that arrived whole.
    pub requests: u64,
    /// Requests that were passed on to the server.
    pub forwarded: u64,
    /// Faults that were made, by kind. A kind that was not made is missing.
    pub faults: BTreeMap<Kind, u64>,
    /// Replies of the server that say that they were kept, whether they reached the client or
    /// not.
    pub repeats: u64,
    /// Requests whose server was not there, or went away before its reply was whole.
    pub upstream_down: u64,
    /// Exchanges without a fault of their own that were cut when the proxy closed its port.
    pub dropped: u64,
    /// Requests that the proxy does not understand, and told so with a 501.
    pub refused: u64,
    /// Whether the sabotage of the plan has done its work.
    pub sabotaged: bool,
}

impl Counts {
    /// How many faults of this kind were made.
    pub fn of(&self, kind: Kind) -> u64 {
        self.faults.get(&kind).copied().unwrap_or(0)
    }

    /// How many faults were made, of any kind.
    pub fn total(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn fault(&mut self, kind: Kind) {
        *self.faults.entry(kind).or_default() += 1;
    }
}
