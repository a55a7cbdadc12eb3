//! The text of link.toml and places in it, apart from what the text means: a model and a report
//! both point here.

use std::{ops, ops::Range};

/// A stretch of the source, in bytes. Both ends lie on the border of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// What stands there.
    pub value: T,
    /// Where it stands, with its quotes if it has some.
    pub place: Place,
}

impl<T> ops::Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// A text with the name under which a person knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of the file, as it is shown.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// The line of a byte, from 1. A byte behind the end is on the last line.
    pub fn line(&self, at: usize) -> u32 {
        let before = self.text.as_bytes().iter().take(at);
        let breaks = before.filter(|byte| **byte == b'\n').count();
        u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The column of a byte in its line, from 1, in characters.
    pub fn column(&self, at: usize) -> u32 {
        let at = self.floor(at);
        let before = self.text.get(self.line_start(at)..at).unwrap_or("");
        u32::try_from(before.chars().count())
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    }

    /// The text of a line, without its end. Empty for a line that does not exist.
    pub fn line_text(&self, line: u32) -> &str {
        let index = usize::try_from(line).unwrap_or(usize::MAX);
        index
            .checked_sub(1)
            .and_then(|index| self.text.split('\n').nth(index))
            .map_or("", |text| text.strip_suffix('\r').unwrap_or(text))
    }

    /// What stands at a place. Empty when it is no place of this source.
    pub fn slice(&self, place: Place) -> &str {
        self.text.get(place.start..place.end).unwrap_or("")
    }

    /// The place of a range, moved inside the text and to the borders of its characters.
    pub(crate) fn place(&self, range: Range<usize>) -> Place {
        let start = self.floor(range.start);
        let mut end = range.end.clamp(start, self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        Place { start, end }
    }

    /// Where the line of a byte starts.
    pub(crate) fn line_start(&self, at: usize) -> usize {
        let before = self.text.get(..self.floor(at)).unwrap_or("");
        before.rfind('\n').map_or(0, |found| found + 1)
    }

    /// Where the line of a byte ends: at its line break or at the end of the text.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        let at = self.floor(at);
        let rest = self.text.get(at..).unwrap_or("");
        rest.find('\n').map_or(self.text.len(), |found| at + found)
    }

    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source {
            name: "link.toml".to_owned(),
            text: "a = 1\r\nü = \"ß\"\n".to_owned(),
        }
    }

    #[test]
    fn a_column_counts_characters_and_not_bytes() {
        let source = source();
        let at = source.text.find('"').unwrap();
        assert_eq!((source.line(at), source.column(at)), (2, 5));
        assert_eq!(source.line_text(2), "ü = \"ß\"");
        assert_eq!(source.line_text(1), "a = 1");
    }

    #[test]
    fn a_place_is_moved_to_the_borders_of_characters() {
        let source = source();
        let inside = source.text.find('ü').unwrap() + 1;
        assert_eq!(source.slice(source.place(inside..inside)), "ü");
        assert_eq!(
            source.place(900..1000),
            source.place(source.text.len()..source.text.len())
        );
    }

    #[test]
    fn what_lies_behind_the_end_is_on_the_last_line() {
        let source = source();
        assert_eq!((source.line(9999), source.column(9999)), (3, 1));
        assert_eq!((source.line_text(0), source.line_text(7)), ("", ""));
    }
}
