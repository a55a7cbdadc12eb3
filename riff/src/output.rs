//! The one place that prints: data to stdout, talk to stderr.

use std::{
    fmt::Display,
    io::{self, BufWriter, Write},
};

use serde::Serialize;

/// A line of data.
///
/// # Errors
///
/// When stdout cannot be written. [`BrokenPipe`](io::ErrorKind::BrokenPipe) says that the reader
/// has what it wanted, as `head` has.
pub fn data(line: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// A line of data, as JSON.
///
/// # Errors
///
/// When stdout cannot be written, or the value has no JSON.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    data(serde_json::to_string(value)?)
}

/// Many lines of data, in large pieces. What was written before an error is out.
///
/// # Errors
///
/// That of `write`, or as [`data`].
pub fn bulk<T, E: From<io::Error>>(
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut out = BufWriter::new(io::stdout().lock());
    let done = write(&mut out);
    let flushed = out.flush();
    let done = done?;
    flushed?;
    Ok(done)
}

/// A line for the person at the terminal. Nothing can be done when it cannot be written.
pub fn talk(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Text of others, made harmless for a terminal: no control character but the line break, which
/// gets an indent so that no message can look like the next one; and none that turns the direction
/// of the text.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => plain.push_str("\n    "),
            '\t' => plain.push(' '),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                plain.push('\u{fffd}');
            }
            control if control.is_control() => plain.push('\u{fffd}'),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_others_cannot_steer_a_terminal() {
        assert_eq!(
            plain("a\u{1b}[31mb\r\n7 ann: c\td\u{202e}"),
            "a\u{fffd}[31mb\u{fffd}\n    7 ann: c d\u{fffd}"
        );
    }
}
