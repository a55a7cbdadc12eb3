//! Bearer tokens in memory, as their SHA-256, some of them with an end.

use std::{collections::HashMap, fmt};

use link_wire::{Caller, UnixMillis};
use sha2::{Digest, Sha256};

use super::{AuthUnavailable, Authenticate, Credentials};
use crate::clock;

/// A fixed list of tokens. It holds their SHA-256 only, so that neither a dump of the memory nor
/// the time of a look-up gives one away.
///
/// A caller may have more than one: to rotate, add the new token, give the old one an end, and
/// hand the new one out before it.
#[derive(Clone, Default)]
pub struct Tokens {
    held: HashMap<[u8; 32], Held>,
}

#[derive(Clone)]
struct Held {
    caller: Caller,
    ends: Option<UnixMillis>,
}

impl Tokens {
    /// Nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token of the caller that has no end.
    #[must_use]
    pub fn with(self, caller: Caller, token: &str) -> Self {
        self.with_sha256(caller, Self::sha256(token))
    }

    /// Adds a token of the caller that names nobody from `ends` on, by the server's clock.
    #[must_use]
    pub fn with_until(self, caller: Caller, token: &str, ends: UnixMillis) -> Self {
        self.with_sha256_until(caller, Self::sha256(token), Some(ends))
    }

    /// Adds a token of which only the SHA-256 is known here.
    #[must_use]
    pub fn with_sha256(self, caller: Caller, sha256: [u8; 32]) -> Self {
        self.with_sha256_until(caller, sha256, None)
    }

    /// Adds a token of which only the SHA-256 is known here, and which may have an end.
    #[must_use]
    pub fn with_sha256_until(
        mut self,
        caller: Caller,
        sha256: [u8; 32],
        ends: Option<UnixMillis>,
    ) -> Self {
        self.held.insert(sha256, Held { caller, ends });
        self
    }

    /// What is stored of a token. Tokens must be random, as nothing slows a guess down.
    pub fn sha256(token: &str) -> [u8; 32] {
        Sha256::digest(token.as_bytes()).into()
    }

    fn caller_at(&self, token: &str, now: UnixMillis) -> Option<Caller> {
        let held = self.held.get(&Self::sha256(token))?;
        let ended = held.ends.is_some_and(|ends| ends <= now);
        (!ended).then(|| held.caller.clone())
    }
}

impl Authenticate for Tokens {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        let token = who.token();
        Ok(token.and_then(|token| self.caller_at(token, clock::now())))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("count", &self.held.len())
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
        let ask = |token| tokens.caller(&Credentials::of_token(token)).unwrap();
        assert_eq!(ask("old"), Some(ann.clone()));
        assert_eq!(ask("new"), Some(ann));
        assert_eq!(ask("newer"), None);
        assert_eq!(ask(""), None);
        assert_eq!(tokens.caller(&Credentials::default()), Ok(None));
    }

    #[test]
    fn a_token_names_nobody_from_its_end_on() {
        let ann: Caller = "ann".parse().unwrap();
        let tokens = Tokens::new()
            .with_until(ann.clone(), "old", UnixMillis(1_000))
            .with(ann.clone(), "new");
        assert_eq!(tokens.caller_at("old", UnixMillis(999)), Some(ann.clone()));
        assert_eq!(tokens.caller_at("old", UnixMillis(1_000)), None);
        assert_eq!(tokens.caller_at("new", UnixMillis(1_000)), Some(ann));
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(Tokens::sha256("")[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }
}
