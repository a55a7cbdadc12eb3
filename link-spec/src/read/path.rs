//! The text of `path`, as in `POST /v1/items/{item}/claim`: a method, and a path in segments.

use crate::{
    distance::closest,
    draft::Field,
    ident::{is_keyword, is_snake, snake},
    model::{Method, Path, Segment},
    report::shown,
    rule_id::RuleId,
    source::At,
};

use super::reader::Reader;

/// Names that the generated code gives to arguments of its own.
const TAKEN: [&str; 5] = ["body", "cx", "input", "query", "state"];

/// Reads method and path. A fault of one leaves the other.
pub(super) fn read(reader: &mut Reader<'_>, text: &At<String>) -> (Field<Method>, Field<Path>) {
    let parts = text.split_once(' ').filter(|(method, path)| {
        !method.is_empty() && !path.is_empty() && !path.contains(char::is_whitespace)
    });
    let Some((method, path)) = parts.filter(|(method, _)| !method.contains('/')) else {
        tell_form(reader, text);
        return (Field::Faulty, Field::Faulty);
    };
    let start = method.len() + 1;
    (
        read_method(reader, text, method),
        Parser {
            reader,
            text,
            start,
            faulty: false,
        }
        .path(path),
    )
}

fn tell_form(reader: &mut Reader<'_>, text: &At<String>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let help = match words.as_slice() {
        [path] if path.starts_with('/') => format!("write its method first: \"GET {path}\""),
        [method, path] if path.starts_with('/') && !method.contains('/') => {
            format!("write \"{method} {path}\"")
        }
        _ => "write a method, a space and a path: \"GET /v1/who\"".to_owned(),
    };
    let message = format!("{} is not a method and a path", shown(text));
    reader
        .problems
        .add_with_help(RuleId::PathForm, text.place, message, help);
}

fn read_method(reader: &mut Reader<'_>, text: &At<String>, method: &str) -> Field<Method> {
    let place = reader.part(text, 0, method.len());
    if let Some(value) = Method::ALL
        .into_iter()
        .find(|known| known.as_str() == method)
    {
        return Field::Given(At { value, place });
    }
    let help = match closest(method, Method::ALL.map(Method::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "a route has GET, POST, PUT, PATCH or DELETE".to_owned(),
    };
    let message = format!("{} is not a method of a route", shown(method));
    reader
        .problems
        .add_with_help(RuleId::UnknownMethod, place, message, help);
    Field::Faulty
}

struct Parser<'r, 's> {
    reader: &'r mut Reader<'s>,
    /// The whole string.
    text: &'r At<String>,
    /// Where the path begins in it.
    start: usize,
    faulty: bool,
}

impl Parser<'_, '_> {
    fn path(mut self, path: &str) -> Field<Path> {
        let Some(inside) = path.strip_prefix('/') else {
            let help = match path.split_once("://") {
                Some(_) => {
                    "the address of the server is not part of it: a client is told it".into()
                }
                None => format!("write `/{path}`"),
            };
            self.tell(
                RuleId::PathStart,
                0,
                path.len(),
                "a path begins with `/`",
                help,
            );
            return Field::Faulty;
        };
        let ends = inside.find(['?', '#']).unwrap_or(inside.len());
        if ends < inside.len() {
            self.tell(
                RuleId::PathQuery,
                1 + ends,
                path.len(),
                "a path has no query and no fragment",
                "what is asked for are the fields of the method's parameter `query`",
            );
        }
        let mut segments = Vec::new();
        let mut at = 1;
        for part in inside
            .get(..ends)
            .unwrap_or("")
            .split('/')
            .filter(|_| ends > 0)
        {
            if let Some(segment) = self.segment(part, at, &segments) {
                segments.push(segment);
            }
            at += part.len() + 1;
        }
        if self.faulty {
            return Field::Faulty;
        }
        let place = self
            .reader
            .part(self.text, self.start, self.start + path.len());
        Field::Given(At {
            value: Path {
                text: path.to_owned(),
                segments,
                place,
            },
            place,
        })
    }

    fn segment(&mut self, part: &str, at: usize, before: &[Segment]) -> Option<Segment> {
        let end = at + part.len();
        if part.is_empty() {
            let help = "write one `/` between two segments, and none at the end";
            self.tell(
                RuleId::EmptySegment,
                at - 1,
                end,
                "a segment of the path is empty",
                help,
            );
            return None;
        }
        let inner = part
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = inner
            && !name.contains(['{', '}'])
        {
            return self.param(name, at + 1, before);
        }
        let foreign = part.strip_prefix(':').filter(|name| is_snake(name));
        if let Some(name) = foreign {
            let message = format!("`{part}` would be a literal");
            self.tell(
                RuleId::ParameterForm,
                at,
                end,
                message,
                format!("write `{{{name}}}`"),
            );
            return None;
        }
        if part.contains(['{', '}']) {
            let help = "put what stands beside it into a segment of its own";
            let message = format!("in {}, a parameter is not a whole segment", shown(part));
            self.tell(RuleId::ParameterForm, at, end, message, help);
            return None;
        }
        if part == "." || part == ".." {
            let message = format!("`{part}` is a step in a path, and no segment");
            self.tell(
                RuleId::PathCharacter,
                at,
                end,
                message,
                "write the path without it",
            );
            return None;
        }
        let foreign = part
            .char_indices()
            .find(|(_, letter)| !letter.is_ascii_alphanumeric() && !"-._~:@".contains(*letter));
        if let Some((index, letter)) = foreign {
            let start = at + index;
            let message = format!("{} does not stand in a path", shown(&letter.to_string()));
            let help = "a segment has ASCII letters and digits and `-._~:@`";
            self.tell(
                RuleId::PathCharacter,
                start,
                start + letter.len_utf8(),
                message,
                help,
            );
            return None;
        }
        Some(Segment::Literal(part.to_owned()))
    }

    fn param(&mut self, name: &str, at: usize, before: &[Segment]) -> Option<Segment> {
        let end = at + name.len();
        if !is_snake(name) || is_keyword(name) {
            let message = if name.is_empty() {
                "a parameter has a name".to_owned()
            } else if is_keyword(name) {
                format!("`{name}` is a word of Rust, and a parameter is an argument of its method")
            } else {
                format!("{} is not the name of a parameter", shown(name))
            };
            let help = snake(name.trim_start_matches('*').split(':').next().unwrap_or(""))
                .map_or_else(
                    || "a name is in snake case: `{item}`, `{item_2}`".to_owned(),
                    |name| format!("write `{{{name}}}`"),
                );
            self.tell(RuleId::ParameterName, at, end, message, help);
            return None;
        }
        if TAKEN.contains(&name) {
            let message = format!("the generated code has an argument `{name}` of its own");
            let help = format!("give it a longer name, such as `{{{name}_id}}`");
            self.tell(RuleId::ParameterName, at, end, message, help);
            return None;
        }
        let twice = before
            .iter()
            .any(|segment| matches!(segment, Segment::Param(other) if *other.value == *name));
        if twice {
            let message = format!("`{{{name}}}` stands twice in this path");
            let help = "a parameter is one argument: give one of the two another name";
            self.tell(RuleId::ParameterTwice, at, end, message, help);
            return None;
        }
        let place = self
            .reader
            .part(self.text, self.start + at, self.start + end);
        Some(Segment::Param(At {
            value: name.to_owned(),
            place,
        }))
    }

    fn tell(
        &mut self,
        rule: RuleId,
        start: usize,
        end: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.faulty = true;
        let place = self
            .reader
            .part(self.text, self.start + start, self.start + end);
        self.reader
            .problems
            .add_with_help(rule, place, message, help);
    }
}
