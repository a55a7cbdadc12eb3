//! Spans of time and sizes as they are typed: `90s`, `24h`, `64MiB`.

use std::time::Duration;

/// The units of time, each in milliseconds.
const TIMES: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];
/// The units of a size, each in bytes.
const SIZES: [(&str, u64); 5] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("B", 1),
    ("", 1),
];

/// A span of time: digits and one of `ms`, `s`, `m`, `h`, `d`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    amount(text, &TIMES)
        .map(Duration::from_millis)
        .ok_or_else(|| "a span of time is a number and a unit, as 90s, 15m, 24h or 30d".into())
}

/// A size in bytes: digits alone, or with one of `B`, `KiB`, `MiB`, `GiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    amount(text, &SIZES)
        .ok_or_else(|| "a size is a number of bytes, or one as 64KiB, 16MiB or 1GiB".into())
}

/// As [`size`], for what lies in memory, and at least a byte.
pub(super) fn room(text: &str) -> Result<usize, String> {
    match usize::try_from(size(text)?) {
        Ok(0) => Err("it is at least 1 byte".into()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err("this machine has no such room".into()),
    }
}

/// A number of things, at least one.
pub(super) fn some(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "it is a number, at least 1".into())
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.strip_suffix(unit)?;
    let (_, each) = units.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_has_a_unit() {
        for (text, ms) in [
            ("0s", 0),
            ("250ms", 250),
            ("90s", 90_000),
            ("15m", 900_000),
            ("24h", 86_400_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(time(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in [
            "",
            "5",
            "h",
            "1.5h",
            "-1h",
            "+1h",
            "1 h",
            "1w",
            "99999999999999999999h",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
        assert!(time("18446744073709551615d").is_err());
    }

    #[test]
    fn a_size_is_in_bytes_when_it_says_nothing_else() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("64KiB", 65_536),
            ("16MiB", 16_777_216),
            ("1GiB", 1_073_741_824),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "1MB", "1 MiB", "-1", "1.5MiB", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
