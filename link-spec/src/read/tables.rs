//! The tables of link.toml: which keys each has, and of which type.

use std::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::{
    draft::{Draft, DraftBudget, DraftLimits, DraftLink, DraftRoute, Field},
    model::{Kind, Limits, Outbox, Rule, Within},
    report::shown,
    rule_id::RuleId,
    source::{At, Place},
};

use super::{
    path,
    reader::{Entry, Reader, find},
};

const TABLES: [&str; 4] = ["link", "limits", "budgets", "routes"];

type Pick = fn(&mut Limits) -> &mut Duration;

/// The durations of `[limits]`, by their keys.
const DURATIONS: [(&str, Pick); 10] = [
    ("connect", |limits| &mut limits.connect),
    ("try", |limits| &mut limits.attempt),
    ("first_wait", |limits| &mut limits.first_wait),
    ("most_wait", |limits| &mut limits.most_wait),
    ("stream_retry", |limits| &mut limits.stream_retry),
    ("stream_idle", |limits| &mut limits.stream_idle),
    ("line_after", |limits| &mut limits.line_after),
    ("alive_every", |limits| &mut limits.alive_every),
    ("call_keep", |limits| &mut limits.call_keep),
    ("outbox_keep", |limits| &mut limits.outbox_keep),
];

const CALL_KEEP_MOST: &str = "call_keep_most";

/// Reads all tables of a file.
pub(super) fn draft<'s>(reader: &mut Reader<'s>, root: &DeTable<'_>) -> Draft<'s> {
    let mut entries = reader.entries(root);
    reader.known_keys(&mut entries, "link.toml", &TABLES);
    let link = link(reader, find(&entries, "link"));
    let limits = limits(reader, find(&entries, "limits"));
    let (budgets, budgets_faulty) = budgets(reader, find(&entries, "budgets"));
    let routes_entry = find(&entries, "routes");
    let help = "write a table for each route: `[routes.who]`";
    let own = routes_entry.map(|entry| reader.table(entry, "a table of routes", help));
    let routes_faulty = matches!(own, Some(None));
    let own = own.flatten().unwrap_or_default();
    let routes = own
        .iter()
        .filter_map(|entry| route(reader, entry))
        .collect();
    Draft {
        source: reader.source,
        link,
        limits,
        budgets,
        routes,
        routes_place: routes_entry.map(|entry| head(reader, entry)),
        says_routes: routes_faulty || !own.is_empty(),
        budgets_faulty,
    }
}

fn link(reader: &mut Reader<'_>, entry: Option<&Entry<'_>>) -> DraftLink {
    let Some(entry) = entry else {
        return DraftLink {
            table: Field::Absent,
            name: Field::Absent,
            line: Field::Absent,
            rule: Field::Absent,
        };
    };
    let Some(mut entries) = reader.table(entry, "a table", "write `[link]`") else {
        return DraftLink {
            table: Field::Faulty,
            name: Field::Faulty,
            line: Field::Faulty,
            rule: Field::Faulty,
        };
    };
    reader.known_keys(&mut entries, "`[link]`", &["name", "line", "rule"]);
    DraftLink {
        table: Field::Given(At {
            value: (),
            place: head(reader, entry),
        }),
        name: reader.string(find(&entries, "name"), "for example `name = \"riff\"`"),
        line: reader.string(
            find(&entries, "line"),
            "write it in quotes: `line = \"1.0\"`",
        ),
        rule: reader.word(
            find(&entries, "rule"),
            RuleId::UnknownRule,
            &Rule::ALL.map(|rule| (rule.as_str(), rule)),
        ),
    }
}

fn limits(reader: &mut Reader<'_>, entry: Option<&Entry<'_>>) -> DraftLimits {
    let mut limits = DraftLimits {
        values: Limits::DEFAULT,
        given: Vec::new(),
        faulty: Vec::new(),
    };
    let mut keys = DURATIONS.map(|(key, _)| key).to_vec();
    keys.push(CALL_KEEP_MOST);
    let Some(entry) = entry else {
        return limits;
    };
    let Some(mut entries) = reader.table(entry, "a table", "write `[limits]`") else {
        limits.faulty = keys;
        return limits;
    };
    reader.known_keys(&mut entries, "`[limits]`", &keys);
    for (key, pick) in DURATIONS {
        match reader.duration(find(&entries, key)) {
            Field::Given(at) => {
                *pick(&mut limits.values) = at.value;
                limits.given.push((key, at.place));
            }
            Field::Faulty => limits.faulty.push(key),
            Field::Absent => {}
        }
    }
    match reader.whole(find(&entries, CALL_KEEP_MOST)) {
        Field::Given(at) => {
            limits.values.call_keep_most = at.value;
            limits.given.push((CALL_KEEP_MOST, at.place));
        }
        Field::Faulty => limits.faulty.push(CALL_KEEP_MOST),
        Field::Absent => {}
    }
    limits
}

fn budgets(reader: &mut Reader<'_>, entry: Option<&Entry<'_>>) -> (Vec<DraftBudget>, bool) {
    let Some(entry) = entry else {
        return (Vec::new(), false);
    };
    let help = "write `[budgets]` and below it `short = \"60s\"`";
    let Some(entries) = reader.table(entry, "a table of budgets", help) else {
        return (Vec::new(), true);
    };
    (
        entries.iter().map(|entry| budget(reader, entry)).collect(),
        false,
    )
}

fn budget(reader: &mut Reader<'_>, entry: &Entry<'_>) -> DraftBudget {
    let name = At {
        value: entry.name.to_owned(),
        place: entry.key,
    };
    if !matches!(entry.value, DeValue::Table(_)) {
        return DraftBudget {
            name,
            within: within(reader, entry),
            tries: Field::Absent,
        };
    }
    let what = format!("the budget {}", shown(entry.name));
    let mut entries = reader.table(entry, "a budget", "").unwrap_or_default();
    reader.known_keys(&mut entries, &what, &["within", "tries"]);
    let within = if let Some(entry) = find(&entries, "within") {
        within(reader, entry)
    } else {
        reader.problems.add_with_help(
            RuleId::MissingKey,
            head(reader, entry),
            format!("{what} does not say how long a call may take"),
            "add `within = \"60s\"`",
        );
        Field::Faulty
    };
    DraftBudget {
        name,
        within,
        tries: reader.whole(find(&entries, "tries")),
    }
}

fn within(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Field<Within> {
    if let DeValue::String(text) = entry.value
        && text == "period"
    {
        return Field::Given(At {
            value: Within::Period,
            place: entry.place,
        });
    }
    match reader.duration(Some(entry)) {
        Field::Given(at) => Field::Given(At {
            value: Within::Time(at.value),
            place: at.place,
        }),
        Field::Absent => Field::Absent,
        Field::Faulty => Field::Faulty,
    }
}

const ROUTE_KEYS: [&str; 8] = [
    "kind",
    "path",
    "budget",
    "outbox",
    "cursor",
    "catch_up",
    "since",
    "deprecated",
];

fn route(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<DraftRoute> {
    let help = format!("write `[routes.{}]` and its keys below", entry.name);
    let mut entries = reader.table(entry, "a table", &help)?;
    reader.known_keys(
        &mut entries,
        &format!("the route {}", shown(entry.name)),
        &ROUTE_KEYS,
    );
    let kinds = Kind::ALL.map(|kind| (kind.as_str(), kind));
    let kind = reader.word(find(&entries, "kind"), RuleId::UnknownKind, &kinds);
    let path = reader.string(
        find(&entries, "path"),
        "for example `path = \"GET /v1/who\"`",
    );
    let (method, path) = match path {
        Field::Given(text) => path::read(reader, &text),
        Field::Absent => (Field::Absent, Field::Absent),
        Field::Faulty => (Field::Faulty, Field::Faulty),
    };
    let name_of = |key: &str, example: &str| format!("`{key}` is a name, as in `{example}`");
    Some(DraftRoute {
        name: At {
            value: entry.name.to_owned(),
            place: entry.key,
        },
        place: head(reader, entry),
        table: extent(reader, entry, &entries),
        kind,
        method,
        path,
        budget: reader.string(
            find(&entries, "budget"),
            &name_of("budget", "budget = \"short\""),
        ),
        outbox: outbox(reader, find(&entries, "outbox")),
        cursor: reader.string(
            find(&entries, "cursor"),
            &name_of("cursor", "cursor = \"seq\""),
        ),
        catch_up: reader.string(
            find(&entries, "catch_up"),
            &name_of("catch_up", "catch_up = \"history\""),
        ),
        since: reader.string(
            find(&entries, "since"),
            "write it in quotes: `since = \"1.1\"`",
        ),
        deprecated: reader.string(
            find(&entries, "deprecated"),
            "say what to use instead: `deprecated = \"use claim\"`",
        ),
    })
}

fn outbox(reader: &mut Reader<'_>, entry: Option<&Entry<'_>>) -> Field<Outbox> {
    let Some(entry) = entry else {
        return Field::Absent;
    };
    if !entry.is_string() {
        reader.wrong_type(
            entry,
            "a string",
            "write \"no\", or how long the command may wait: \"10m\"",
        );
        return Field::Faulty;
    }
    let text = match reader.string(Some(entry), "") {
        Field::Given(text) => text,
        Field::Absent | Field::Faulty => return Field::Faulty,
    };
    if *text == "no" {
        return Field::Given(At {
            value: Outbox::No,
            place: text.place,
        });
    }
    match reader.duration_text(&text) {
        Field::Given(at) => Field::Given(At {
            value: Outbox::Within(at.value),
            place: at.place,
        }),
        Field::Absent | Field::Faulty => Field::Faulty,
    }
}

/// The header of a table, or its key where it has none.
fn head(reader: &Reader<'_>, entry: &Entry<'_>) -> Place {
    let has_header = matches!(entry.value, DeValue::Table(_))
        && reader.source.slice(entry.place).starts_with('[');
    if has_header { entry.place } else { entry.key }
}

/// All of a table: from its header or key to the end of its last line.
fn extent(reader: &Reader<'_>, entry: &Entry<'_>, entries: &[Entry<'_>]) -> Place {
    let start = head(reader, entry).start;
    let last = entries
        .iter()
        .map(|entry| entry.place.end)
        .fold(entry.place.end, usize::max);
    let line_end = reader.source.line_end(last);
    let rest = reader
        .source
        .slice(Place {
            start: last,
            end: line_end,
        })
        .trim_start();
    // A comment behind the last value belongs to it; the next entry of an inline table does not.
    let end = if rest.is_empty() || rest.starts_with('#') {
        line_end
    } else {
        last
    };
    reader.source.place(start..end)
}
