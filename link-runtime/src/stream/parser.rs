//! The text of an event stream by the WHATWG HTML standard, 9.2.6: bytes in, items out, apart
//! because it knows nothing of connections.
//!
//! Pieces may be torn anywhere. The time is linear in the bytes, the memory bounded by the caps.

use std::{collections::VecDeque, time::Duration};

/// The most bytes of one line, and of the data of one event: one cap for both, since a server
/// may write an event as one line.
const MOST: usize = 4 << 20;
/// The longest wait that a server can ask for by `retry`.
const MOST_RETRY: Duration = Duration::from_secs(60);

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What a stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// An event that a blank line ended.
    Event(Event),
    /// A comment, without its colon and the space after it. It is a sign of life.
    Comment(String),
    /// How long to wait before the stream is opened again.
    Retry(Duration),
}

/// One event, without the last `id` of the stream: what resumes is the cursor inside the data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Event {
    /// `event`; empty when none was given, which means `message`.
    pub(super) name: String,
    /// The `data` lines, with a line feed between them.
    pub(super) data: String,
}

/// A line or an event beyond the cap. Nothing after it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLong {
    #[error("a line has more than {} MiB", MOST >> 20)]
    Line,
    #[error("an event has more than {} MiB", MOST >> 20)]
    Event,
}

/// The state between two pieces.
#[derive(Debug)]
pub(super) struct Parser {
    /// The bytes of the line that is not ended yet.
    line: Vec<u8>,
    /// The last byte was a CR, so that an LF now belongs to it.
    after_cr: bool,
    /// No line has ended yet, so that a BOM may stand before it.
    first: bool,
    name: String,
    /// Each data line with a line feed after it.
    data: String,
}

impl Parser {
    pub(super) fn new() -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            first: true,
            name: String::new(),
            data: String::new(),
        }
    }

    /// Takes the next bytes, and puts what they complete at the end of `items`.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        items: &mut VecDeque<Item>,
    ) -> Result<(), TooLong> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = bytes.iter().position(|&byte| matches!(byte, b'\r' | b'\n')) {
            self.extend_line(&bytes[..at])?;
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, items)?;
            // Keeps what the line had allocated.
            self.line = line;
            self.line.clear();
            let ended_by_cr = bytes[at] == b'\r';
            bytes = &bytes[at + 1..];
            if ended_by_cr {
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend_line(bytes)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > MOST {
            return Err(TooLong::Line);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, mut line: &[u8], items: &mut VecDeque<Item>) -> Result<(), TooLong> {
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(items);
            return Ok(());
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match field {
            b"" => items.push_back(Item::Comment(value.into_owned())),
            b"data" => {
                if self.data.len() + value.len() >= MOST {
                    return Err(TooLong::Event);
                }
                self.data.push_str(&value);
                self.data.push('\n');
            }
            b"event" => self.name = value.into_owned(),
            b"retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                let wait = value.parse().map_or(MOST_RETRY, Duration::from_millis);
                items.push_back(Item::Retry(wait.min(MOST_RETRY)));
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, items: &mut VecDeque<Item>) {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        if data.pop().is_some() {
            items.push_back(Item::Event(Event { name, data }));
        }
    }
}

#[cfg(test)]
mod tests;
