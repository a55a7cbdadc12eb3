//! What a command says, in 128 bits.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use xxhash_rust::xxh3::Xxh3;

/// What a command says: method, path with query, and body, each with its length.
///
/// The hash is not a cryptographic one and needs not be: it is compared only under the same
/// caller and call ID, so whoever finds two bodies with one fingerprint fools nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(pub(super) u128);

impl Fingerprint {
    /// Of nothing: that of a call which was settled before it arrived.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn of(method: &str, path_and_query: &str, body: &[u8]) -> Self {
        let mut hash = Xxh3::new();
        for part in [method.as_bytes(), path_and_query.as_bytes(), body] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.digest128())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(hex: &str) -> Result<Self, Self::Err> {
        // Two halves of 64 bits are read in half the time of one of 128.
        match hex.split_at_checked(16) {
            Some((high, low)) if low.len() == 16 => {
                let half = |hex| u64::from_str_radix(hex, 16).map(u128::from);
                Ok(Self(half(high)? << 64 | half(low)?))
            }
            _ => u128::from_str_radix(hex, 16).map(Self),
        }
    }
}

impl Serialize for Fingerprint {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let hex = std::borrow::Cow::<'de, str>::deserialize(from)?;
        hex.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = Fingerprint::of;
        assert_ne!(of("POST", "/a", b"b"), of("POST", "/ab", b""));
        assert_ne!(of("POST", "/a", b""), of("PUT", "/a", b""));
        assert_eq!(of("POST", "/a", b"b"), of("POST", "/a", b"b"));
        let one = of("POST", "/a", b"b");
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_eq!(Fingerprint(7).to_string().len(), 32);
    }
}
