//! The text of a duration, both ways: `250ms`, `5s`, `10m`, `24h`.

use std::time::Duration;

/// The longest duration of a link: a year. Timers add it to a moment, and that must not overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Why a text is no duration, with the text that would be right if it can be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InvalidDuration {
    /// It is not a whole number and a unit.
    Form { meant: Option<String> },
    /// It is longer than a year.
    TooLong,
    /// It is none.
    Zero,
}

/// Reads a duration: a whole number, then `ms`, `s`, `m` or `h`, and nothing else.
pub(crate) fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let each_ms = unit_ms(unit).filter(|_| digits > 0);
    let Some(each_ms) = each_ms else {
        return Err(InvalidDuration::Form { meant: meant(text) });
    };
    let time = number
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(each_ms))
        .map(Duration::from_millis)
        .filter(|time| *time <= LONGEST)
        .ok_or(InvalidDuration::TooLong)?;
    if time.is_zero() {
        Err(InvalidDuration::Zero)
    } else {
        Ok(time)
    }
}

/// The text of a duration, in the unit that a person would choose: `90s`, `60s`, `10m`, `24h`.
pub(crate) fn text(time: Duration) -> String {
    let ms = time.as_millis();
    for (unit, each, from) in [
        ("h", 3_600_000, 3_600_000),
        ("m", 60_000, 120_000),
        ("s", 1000, 0),
    ] {
        if ms >= from && ms.is_multiple_of(each) {
            return format!("{}{unit}", ms / each);
        }
    }
    format!("{ms}ms")
}

fn unit_ms(unit: &str) -> Option<u64> {
    match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    }
}

/// What a person meant: `5 s` is `5s`, `1.5 sec` is `1500ms`, `1h30m` is `90m`, `2d` is `48h`.
fn meant(given: &str) -> Option<String> {
    let mut rest = given.trim();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let number = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
            .count();
        let (count, behind) = rest.split_at(number);
        let behind = behind.trim_start();
        let letters = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, behind) = behind.split_at(letters);
        if count.is_empty() || unit.is_empty() {
            return None;
        }
        pieces.push((count, unit));
        rest = behind.trim_start();
    }
    // A space too many changes no unit: `60 s` is `60s`, although that is a minute.
    if let [(count, unit)] = pieces.as_slice() {
        let whole = count.bytes().all(|byte| byte.is_ascii_digit());
        if whole && unit_ms(unit).is_some() {
            return Some(format!("{count}{unit}"));
        }
    }
    let each = pieces.iter().map(|(count, unit)| piece_ms(count, unit));
    let total_ms = each.reduce(|sum, ms| sum?.checked_add(ms?))??;
    let time = Duration::from_millis(total_ms);
    (!time.is_zero() && time <= LONGEST).then(|| text(time))
}

fn piece_ms(count: &str, unit: &str) -> Option<u64> {
    let each_ms: u64 = match unit.to_ascii_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 1,
        "s" | "sec" | "secs" | "second" | "seconds" => 1000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
        "d" | "day" | "days" => 24 * 3_600_000,
        _ => return None,
    };
    let (whole, part) = count.split_once('.').unwrap_or((count, "0"));
    let whole_ms = whole.parse::<u64>().ok()?.checked_mul(each_ms)?;
    let scale = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part_ms = part.parse::<u64>().ok()?.checked_mul(each_ms)?;
    part_ms
        .is_multiple_of(scale)
        .then_some(part_ms / scale)?
        .checked_add(whole_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_whole_number_and_a_unit() {
        for (given, ms) in [
            ("250ms", 250),
            ("5s", 5000),
            ("10m", 600_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(parse(given), Ok(Duration::from_millis(ms)), "{given}");
            assert_eq!(text(Duration::from_millis(ms)), given);
        }
        for (secs, short) in [
            (1, "1s"),
            (60, "60s"),
            (90, "90s"),
            (120, "2m"),
            (3600, "1h"),
        ] {
            assert_eq!(text(Duration::from_secs(secs)), short);
        }
    }

    #[test]
    fn what_was_meant_is_told_when_it_is_sure() {
        for (given, right) in [
            ("1.5s", Some("1500ms")),
            ("5 s", Some("5s")),
            ("60 s", Some("60s")),
            (" 5s", Some("5s")),
            ("5sec", Some("5s")),
            ("5S", Some("5s")),
            ("1h30m", Some("90m")),
            ("2d", Some("48h")),
            ("0.25s", Some("250ms")),
            ("5", None),
            ("", None),
            ("s", None),
            ("-5s", None),
            ("+5s", None),
            ("1..5s", None),
            ("0.0001s", None),
            ("soon", None),
            ("٣s", None),
            ("99999999999999999999d", None),
        ] {
            let meant = right.map(str::to_owned);
            assert_eq!(
                parse(given),
                Err(InvalidDuration::Form { meant }),
                "{given}"
            );
        }
    }

    #[test]
    fn none_and_more_than_a_year_are_no_limits() {
        assert_eq!(parse("0s"), Err(InvalidDuration::Zero));
        assert_eq!(parse("8760h"), Ok(LONGEST));
        for given in ["8761h", "18446744073709551615h", "99999999999999999999ms"] {
            assert_eq!(parse(given), Err(InvalidDuration::TooLong), "{given}");
        }
    }
}
