//! The seed, and what follows from it: small numbers without a dependency.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher as _, Hasher as _},
};

/// A stream of numbers that a seed decides (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

/// A seed that is another one each time.
pub(crate) fn new_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 16
}

impl Chance {
    /// The numbers of one part of a run.
    pub(crate) fn of(seed: u64, part: u64) -> Self {
        let mut chance = Self(seed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `most`, which is not 0.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// True in `part` of 100 cases.
    pub(crate) fn percent(&mut self, part: u64) -> bool {
        self.below(100) < part
    }
}
