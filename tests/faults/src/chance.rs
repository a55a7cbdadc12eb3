//! Chance that can be had again: a small generator with a seed (`splitmix64`).

use std::hash::{BuildHasher, Hasher, RandomState};

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A row of numbers that its seed decides.
///
/// ```
/// # use faults::Chance;
/// assert_eq!(Chance::new(7).number(), Chance::new(7).number());
/// assert_ne!(Chance::new(7).number(), Chance::new(8).number());
/// ```
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// The row of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The `number`-th row of a family of rows. Rows of one family do not depend on each other,
    /// so that what one request draws does not move what the next one draws.
    pub fn row(seed: u64, family: u64, number: u64) -> Self {
        let family = Self::new(seed ^ mixed(family)).number();
        Self::new(family ^ mixed(number))
    }

    /// The next number, any of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mixed(self.state)
    }

    /// A number less than `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// An index into something of this length; 0 for the length 0.
    pub fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(length)).unwrap_or(0)
    }

    /// True in `rate` of all cases: never for 0, always for 1.
    pub fn hit(&mut self, rate: f64) -> bool {
        let drawn = u32::try_from(self.number() >> 32).unwrap_or(u32::MAX);
        f64::from(drawn) < rate * 4_294_967_296.0
    }
}

/// A seed that nobody chose. Print it wherever it is used.
pub fn new_seed() -> u64 {
    // The standard library keys its hash maps at random; that is all the chance needed here.
    RandomState::new().build_hasher().finish()
}

fn mixed(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        let mut chance = Chance::new(1_234_567);
        let row = [chance.number(), chance.number(), chance.number()];
        assert_eq!(
            row,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_rate_is_kept() {
        let mut chance = Chance::new(1);
        let hits = (0..10_000).filter(|_| chance.hit(0.25)).count();
        assert!((2300..2700).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| !chance.hit(0.0)));
        assert!((0..1000).all(|_| chance.hit(1.0)));
    }

    #[test]
    fn a_bound_is_kept() {
        let mut chance = Chance::new(2);
        assert!((0..1000).all(|_| chance.below(3) < 3));
        assert_eq!(chance.below(0), 0);
        assert_eq!(chance.index(1), 0);
    }
}
