//! Who calls: from a bearer token to the name of a caller.

use std::{collections::HashMap, fmt};

use link_wire::Caller;
use sha2::{Digest, Sha256};

/// Finds out who calls.
pub trait Authenticate: Send + Sync + 'static {
    /// The caller whose token this is. The same person must get the same name for every token:
    /// the name is half of the key under which a command is remembered.
    ///
    /// It runs on a worker thread, once a request: it must not block for long. What takes long,
    /// as a look-up elsewhere, belongs before it, in memory. A panic is answered by 500 `failed`.
    fn caller(&self, token: &str) -> Option<Caller>;
}

/// A fixed list of tokens. It holds their SHA-256 only, so that neither a dump of the memory nor
/// the time of a look-up gives one away.
#[derive(Clone, Default)]
pub struct Tokens {
    callers: HashMap<[u8; 32], Caller>,
}

impl Tokens {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token of the caller. A caller may have more than one.
    #[must_use]
    pub fn with(self, caller: Caller, token: &str) -> Self {
        self.with_sha256(caller, Self::sha256(token))
    }

    /// Adds a token of which only the SHA-256 is known here.
    #[must_use]
    pub fn with_sha256(mut self, caller: Caller, sha256: [u8; 32]) -> Self {
        self.callers.insert(sha256, caller);
        self
    }

    /// What is stored of a token. Tokens must be random, as nothing slows a guess down.
    pub fn sha256(token: &str) -> [u8; 32] {
        Sha256::digest(token.as_bytes()).into()
    }
}

impl Authenticate for Tokens {
    fn caller(&self, token: &str) -> Option<Caller> {
        self.callers.get(&Self::sha256(token)).cloned()
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("count", &self.callers.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tokens_can_name_one_caller_and_an_unknown_one_names_nobody() {
        let ann: Caller = "ann".parse().unwrap();
        let tokens = Tokens::new()
            .with(ann.clone(), "old")
            .with(ann.clone(), "new");
        assert_eq!(tokens.caller("old"), Some(ann.clone()));
        assert_eq!(tokens.caller("new"), Some(ann));
        assert_eq!(tokens.caller("newer"), None);
        assert_eq!(tokens.caller(""), None);
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(Tokens::sha256("")[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }
}
