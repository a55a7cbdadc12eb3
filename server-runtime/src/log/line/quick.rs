//! Reads a record of a call as the writer writes it, in a fraction of the time that serde takes.
//!
//! A start reads a million of them. What has other fields, another order or an escape is left to
//! serde; what both read, both read the same.

use std::{borrow::Cow, str::FromStr};

use link_wire::{Position, UnixMillis};

use super::{CallLine, Entry, Line, Outcome};

/// The record at the beginning of the text, and what comes after its line. None when it is to be
/// read by serde.
pub(super) fn read(text: &str) -> Option<(Line<'_>, &str)> {
    let mut cursor = Cursor { rest: text };
    let position = Position(cursor.number("{\"position\":")?);
    let at = UnixMillis(cursor.number(",\"at\":")?);
    let by = parse(cursor.text(",\"by\":\"")?)?;
    let command = Cow::Borrowed(cursor.text(",\"command\":\"")?);
    let call = parse(cursor.text(",\"call\":\"")?)?;
    let fingerprint = parse(cursor.text(",\"fingerprint\":\"")?)?;
    let attempt = u32::try_from(cursor.number(",\"attempt\":")?).ok()?;
    let foreign = cursor.eat(",\"foreign\":true").is_some();
    let change = match cursor.eat(",\"change\":") {
        Some(()) => Some(cursor.value()?),
        None => None,
    };
    let outcome = match cursor.eat(",\"outcome\":{\"reply\":") {
        Some(()) => {
            let reply = serde_json::from_str(cursor.value()?).ok()?;
            cursor.eat("}")?;
            Some(Outcome::Reply(reply))
        }
        None => None,
    };
    cursor.eat("}\n")?;
    let entry = Entry::Call(CallLine {
        by,
        command,
        call,
        fingerprint,
        attempt,
        ack: Vec::new(),
        foreign,
        change,
        outcome,
    });
    let line = Line {
        position,
        at,
        entry,
    };
    Some((line, cursor.rest))
}

fn parse<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn eat(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// The digits behind a word: no more than 19, and no zero before others.
    fn number(&mut self, word: &str) -> Option<u64> {
        self.eat(word)?;
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(digits)?;
        let plain =
            (1..=19).contains(&digits.len()) && (digits.len() == 1 || !digits.starts_with('0'));
        self.rest = rest;
        digits.parse().ok().filter(|_| plain)
    }

    /// The text behind a word that ends with its first quote. It has no escape.
    fn text(&mut self, word: &str) -> Option<&'a str> {
        self.eat(word)?;
        let end = self.rest.bytes().position(|byte| byte == b'"')?;
        let text = self.rest.get(..end)?;
        self.rest = self.rest.get(end + 1..)?;
        let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'\\');
        plain.then_some(text)
    }

    /// The bytes of a JSON value, as far as its brackets and quotes go. Who uses it reads it as
    /// JSON.
    fn value(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        let (mut at, mut depth) = (0, 0_u32);
        loop {
            match *bytes.get(at)? {
                b'"' => at = end_of_string(bytes, at)?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => break,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        let value = self.rest.get(..at)?;
        self.rest = self.rest.get(at..)?;
        Some(value)
    }
}

/// The place of the quote that ends the string which begins here.
fn end_of_string(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
