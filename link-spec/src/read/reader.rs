//! Values with their types: each read tells what is wrong and gives what is left.

use std::time::Duration;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    distance::closest,
    draft::Field,
    duration::{self, InvalidDuration},
    report::{Problems, shown},
    rule_id::RuleId,
    source::{At, Place, Source},
};

/// The source, and what was found wrong with it so far.
pub(super) struct Reader<'s> {
    pub(super) source: &'s Source,
    pub(super) problems: Problems,
}

/// A key with its value.
#[derive(Clone, Copy)]
pub(super) struct Entry<'t> {
    pub(super) name: &'t str,
    /// The place of the key.
    pub(super) key: Place,
    /// The place of the value; of the header for a table that has one.
    pub(super) place: Place,
    pub(super) value: &'t DeValue<'t>,
    /// Whether the parser gave up on the value, and told why.
    unread: bool,
}

impl Entry<'_> {
    /// What the value is, in the words of TOML.
    fn is(&self) -> &'static str {
        match self.value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or a time",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }
}

impl Reader<'_> {
    /// The entries of a table, in the order of the file.
    pub(super) fn entries<'t>(&self, table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
        let entry = |(key, value): (&'t Spanned<_>, &'t Spanned<DeValue<'t>>)| {
            let name: &'t std::borrow::Cow<'t, str> = key.get_ref();
            Entry {
                name: name.as_ref(),
                key: self.source.place(key.span()),
                place: self.source.place(value.span()),
                value: value.get_ref(),
                unread: value.span().end == 0,
            }
        };
        let mut entries: Vec<Entry<'t>> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.key);
        entries
    }

    /// Tells each entry whose key is unknown.
    ///
    /// A misspelt one is then read as the one that was meant, so that nothing else is told of it
    /// but what is wrong with its value.
    pub(super) fn known_keys(
        &mut self,
        entries: &mut Vec<Entry<'_>>,
        table: &str,
        known: &[&'static str],
    ) {
        let mut meant = Vec::new();
        for entry in entries.iter().filter(|entry| !known.contains(&entry.name)) {
            let near = closest(entry.name, known.iter().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys of {table} are {}", list(known)),
            };
            let message = format!("{} is not a key of {table}", shown(entry.name));
            self.problems
                .add_with_help(RuleId::UnknownKey, entry.key, message, help);
            if let Some(name) = near.filter(|name| find(entries, name).is_none()) {
                meant.push(Entry { name, ..*entry });
            }
        }
        entries.append(&mut meant);
    }

    /// Tells that a value has another type.
    pub(super) fn wrong_type(&mut self, entry: &Entry<'_>, wanted: &str, help: &str) {
        if !entry.unread {
            let message = format!(
                "`{}` takes {wanted}, and this is {}",
                entry.name,
                entry.is()
            );
            self.problems
                .add_with_help(RuleId::WrongType, entry.place, message, help);
        }
    }

    /// A table.
    pub(super) fn table<'t>(
        &mut self,
        entry: &Entry<'t>,
        wanted: &str,
        help: &str,
    ) -> Option<Vec<Entry<'t>>> {
        if let DeValue::Table(table) = entry.value {
            return Some(self.entries(table));
        }
        self.wrong_type(entry, wanted, help);
        None
    }

    /// A string. `help` is an example of a right one, with its key.
    pub(super) fn string(&mut self, entry: Option<&Entry<'_>>, help: &str) -> Field<String> {
        let Some(entry) = entry else {
            return Field::Absent;
        };
        if let DeValue::String(text) = entry.value {
            return Field::Given(At {
                value: text.clone().into_owned(),
                place: entry.place,
            });
        }
        self.wrong_type(entry, "a string", help);
        Field::Faulty
    }

    /// One word of a closed list.
    pub(super) fn word<T: Copy>(
        &mut self,
        entry: Option<&Entry<'_>>,
        rule: RuleId,
        words: &[(&str, T)],
    ) -> Field<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let key = entry.map_or("", |entry| entry.name);
        let all = format!("`{key}` is {}", choice(&names));
        let at = match self.string(entry, &all) {
            Field::Given(at) => at,
            Field::Absent => return Field::Absent,
            Field::Faulty => return Field::Faulty,
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == at.value) {
            return Field::Given(At {
                value: *value,
                place: at.place,
            });
        }
        let help = match closest(&at.value, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => all,
        };
        let message = format!("{} is not a {key}", shown(&at.value));
        self.problems.add_with_help(rule, at.place, message, help);
        Field::Faulty
    }

    /// A whole number from 0.
    pub(super) fn whole(&mut self, entry: Option<&Entry<'_>>) -> Field<u32> {
        let Some(entry) = entry else {
            return Field::Absent;
        };
        let help = format!("write a number from 1 to {}, without quotes", u32::MAX);
        if let DeValue::Integer(number) = entry.value {
            let digits = number.as_str().trim_start_matches('+');
            match u32::from_str_radix(digits, number.radix()) {
                Ok(value) => {
                    return Field::Given(At {
                        value,
                        place: entry.place,
                    });
                }
                Err(_) if entry.unread => {}
                Err(_) => {
                    let message = format!("`{}` is out of its range", entry.name);
                    self.problems
                        .add_with_help(RuleId::WrongType, entry.place, message, help);
                }
            }
            return Field::Faulty;
        }
        self.wrong_type(entry, "a whole number", &help);
        Field::Faulty
    }

    /// A duration.
    pub(super) fn duration(&mut self, entry: Option<&Entry<'_>>) -> Field<Duration> {
        let Some(entry) = entry else {
            return Field::Absent;
        };
        let help = match entry.value {
            DeValue::Integer(number) if number.radix() == 10 => {
                format!(
                    "write the unit, and quotes: \"{}s\" or \"{0}ms\"",
                    number.as_str()
                )
            }
            _ => FORM.to_owned(),
        };
        match self.string(Some(entry), &help) {
            Field::Given(text) => self.duration_text(&text),
            Field::Absent => Field::Absent,
            Field::Faulty => Field::Faulty,
        }
    }

    /// The duration that a string says.
    pub(super) fn duration_text(&mut self, text: &At<String>) -> Field<Duration> {
        let place = text.place;
        let given = shown(text);
        match duration::parse(text) {
            Ok(value) => return Field::Given(At { value, place }),
            Err(InvalidDuration::Form { meant }) => {
                let help = meant.map_or_else(
                    || FORM.to_owned(),
                    |meant| {
                        format!("write \"{meant}\": a whole number and one unit, ms, s, m or h")
                    },
                );
                let message = format!("{given} is not a duration");
                self.problems
                    .add_with_help(RuleId::BadDuration, place, message, help);
            }
            Err(InvalidDuration::TooLong) => {
                let message = format!("{given} is more than a year");
                let help = "the longest duration is \"8760h\"";
                self.problems
                    .add_with_help(RuleId::BadDuration, place, message, help);
            }
            Err(InvalidDuration::Zero) => {
                let message = format!("{given} is no time at all");
                let help = "the shortest duration is \"1ms\"";
                self.problems
                    .add_with_help(RuleId::ZeroDuration, place, message, help);
            }
        }
        Field::Faulty
    }

    /// The place of a part of a string: exact when the string has no escapes, else all of it.
    pub(super) fn part(&self, text: &At<String>, start: usize, end: usize) -> Place {
        let raw = self.source.slice(text.place);
        for quotes in [1, 3] {
            if raw.get(quotes..raw.len().saturating_sub(quotes)) == Some(text.value.as_str()) {
                let from = text.place.start + quotes;
                return self.source.place(from + start..from + end);
            }
        }
        text.place
    }
}

/// The entry of a key.
pub(super) fn find<'e, 't>(entries: &'e [Entry<'t>], key: &str) -> Option<&'e Entry<'t>> {
    entries.iter().find(|entry| entry.name == key)
}

const FORM: &str =
    "a duration is a whole number and a unit, in quotes: \"250ms\", \"5s\", \"10m\", \"24h\"";

/// `a`, `b` and `c`.
fn list(words: &[&str]) -> String {
    joined(
        words.iter().map(|word| format!("`{word}`")).collect(),
        "and",
    )
}

/// "a", "b" or "c".
fn choice(words: &[&str]) -> String {
    joined(
        words.iter().map(|word| format!("\"{word}\"")).collect(),
        "or",
    )
}

fn joined(mut words: Vec<String>, last: &str) -> String {
    match words.pop() {
        Some(end) if words.is_empty() => end,
        Some(end) => format!("{} {last} {end}", words.join(", ")),
        None => String::new(),
    }
}
