//! Rules for `[link]`.

use crate::{
    draft::{Draft, Field},
    ident::snake,
    model::Rule,
    report::{Problems, shown},
    rule_id::RuleId,
    source::Place,
};

/// Header names stay short enough to be read.
const LONGEST_NAME: usize = 32;

pub(super) fn is_there(draft: &Draft<'_>, problems: &mut Problems) {
    let link = &draft.link;
    let table = match &link.table {
        Field::Given(at) => at.place,
        Field::Faulty => return,
        Field::Absent => {
            problems.add_with_help(
                RuleId::MissingKey,
                Place::default(),
                "the file has no table `[link]`",
                "begin it with `[link]`, and below it `name = \"riff\"` and `line = \"1.0\"`",
            );
            return;
        }
    };
    for (key, is_absent, help) in [
        (
            "name",
            link.name.is_absent(),
            "add `name = \"riff\"`: the headers begin with it",
        ),
        (
            "line",
            link.line.is_absent(),
            "add `line = \"1.0\"`: builds of one line fit together",
        ),
    ] {
        if is_absent {
            let message = format!("`[link]` has no `{key}`");
            problems.add_with_help(RuleId::MissingKey, table, message, help);
        }
    }
}

pub(super) fn name_begins_a_header(draft: &Draft<'_>, problems: &mut Problems) {
    let Some(name) = draft.link.name.given() else {
        return;
    };
    let letters = name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let is_header = letters
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.len() <= LONGEST_NAME;
    if !is_header {
        let help = match snake(name).map(|name| name.replace('_', "-")) {
            Some(near) if near.len() <= LONGEST_NAME => format!("write \"{near}\""),
            _ => format!(
                "a name has lower-case letters, digits and `-`, a letter first, and at most \
                 {LONGEST_NAME} of them"
            ),
        };
        let message = format!("{} cannot begin the name of a header", shown(name));
        problems.add_with_help(RuleId::LinkName, name.place, message, help);
    }
}

pub(super) fn line_is_major_minor(draft: &Draft<'_>, problems: &mut Problems) {
    let Some(line) = draft.link.line.given() else {
        return;
    };
    if super::line(line).is_none() {
        let message = format!("{} is not a wire line", shown(line));
        let help = "a line is MAJOR.MINOR, two whole numbers: \"1.0\"";
        problems.add_with_help(RuleId::LinkLine, line.place, message, help);
    }
}

pub(super) fn rule_is_built(draft: &Draft<'_>, problems: &mut Problems) {
    if let Some(rule) = draft.link.rule.given()
        && rule.value == Rule::Edge
    {
        problems.add_with_help(
            RuleId::RuleNotBuilt,
            rule.place,
            "this version does not run the rule `edge` yet",
            "write `rule = \"deliver\"`, for a server that is built with riff link",
        );
    }
}
