//! One line of the file of tokens: `CALLER SHA256 [made=MS] [ends=MS]`.
//!
//! The version before wrote only the first two. A field that is not known makes the line
//! unreadable: it may be one that takes something from the token.

use std::fmt;

use riff_link::{Caller, UnixMillis};

/// The SHA-256 of a token: all that is kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::server) struct Hash(pub(in crate::server) [u8; 32]);

impl Hash {
    /// The first 8 hex digits, by which a person names the token.
    pub(in crate::server) fn id(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What is kept of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::server) struct Line {
    /// Whom it stands for.
    pub(in crate::server) caller: Caller,
    pub(in crate::server) hash: Hash,
    /// When it was made; the version before did not note it.
    pub(in crate::server) made: Option<UnixMillis>,
    /// From when on it is not taken any more.
    pub(in crate::server) ends: Option<UnixMillis>,
}

impl Line {
    pub(in crate::server) fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let caller = fields.next()?.parse().ok()?;
        let hash = hash(fields.next()?)?;
        let (mut made, mut ends) = (None, None);
        for field in fields {
            let (name, ms) = field.split_once('=')?;
            let field = match name {
                "made" => &mut made,
                "ends" => &mut ends,
                _ => return None,
            };
            if field.replace(UnixMillis(ms.parse().ok()?)).is_some() {
                return None;
            }
        }
        Some(Self {
            caller,
            hash,
            made,
            ends,
        })
    }

    /// Whether it is not taken any more.
    pub(in crate::server) fn has_ended(&self, now: UnixMillis) -> bool {
        self.ends.is_some_and(|ends| ends <= now)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.caller, self.hash)?;
        for (name, at) in [("made", self.made), ("ends", self.ends)] {
            if let Some(UnixMillis(ms)) = at {
                write!(f, " {name}={ms}")?;
            }
        }
        Ok(())
    }
}

fn hash(hex: &str) -> Option<Hash> {
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut sha256 = [0; 32];
    for (n, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(Hash(sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_as_it_was() {
        let hex = "0123456789abcdef".repeat(4);
        for rest in ["", " made=5", " ends=7", " made=5 ends=7"] {
            let text = format!("ann {hex}{rest}");
            let line = Line::parse(&text).unwrap();
            assert_eq!(line.to_string(), text);
            assert_eq!(line.hash.id(), "01234567");
            assert_eq!(line.has_ended(UnixMillis(7)), rest.contains("ends"));
        }
    }

    #[test]
    fn what_is_no_line_is_not_read() {
        let hex = "0123456789abcdef".repeat(4);
        for text in [
            String::new(),
            "ann".into(),
            "ann 12".into(),
            format!(" {hex}"),
            format!("ann {hex} "),
            format!("ann {hex} made=x"),
            format!("ann {hex} ends=1 ends=2"),
            format!("ann {hex} only=read"),
            format!("ann {hex}g"),
            format!("ann {}", "\u{e9}".repeat(32)),
        ] {
            assert_eq!(Line::parse(&text), None, "{text}");
        }
    }
}
