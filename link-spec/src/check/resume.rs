//! Rules for `cursor` and `catch_up`: what a stream needs to lose nothing when it is opened again.

use crate::{
    distance::closest,
    draft::{Draft, DraftRoute},
    ident::{is_keyword, is_snake, snake},
    model::{Kind, Method},
    report::{Problems, shown},
    rule_id::RuleId,
    source::At,
};

fn streams<'a>(draft: &'a Draft<'_>) -> impl Iterator<Item = &'a DraftRoute> {
    draft
        .routes
        .iter()
        .filter(|route| route.kind.value() == Some(Kind::Stream))
}

/// Each stream that names a query which exists, with it.
fn caught_up<'a>(
    draft: &'a Draft<'_>,
) -> impl Iterator<Item = (&'a DraftRoute, &'a At<String>, &'a DraftRoute)> {
    streams(draft).filter_map(|stream| {
        let name = stream.catch_up.given()?;
        let query = draft
            .routes
            .iter()
            .find(|route| route.name.value == name.value)?;
        Some((stream, name, query))
    })
}

pub(super) fn only_a_stream_resumes(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let Some(kind) = route.kind.value().filter(|kind| *kind != Kind::Stream) else {
            continue;
        };
        for (key, field) in [("cursor", &route.cursor), ("catch_up", &route.catch_up)] {
            if let Some(at) = field.given() {
                let message = format!("a {kind} has no `{key}`: only a stream is opened again");
                let help = format!("remove `{key}`");
                problems.add_with_help(RuleId::ResumeNotStream, at.place, message, help);
            }
        }
    }
}

pub(super) fn cursor_and_catch_up_stand_together(draft: &Draft<'_>, problems: &mut Problems) {
    for stream in streams(draft) {
        if let Some(cursor) = stream.cursor.given()
            && stream.catch_up.is_absent()
        {
            problems.add_with_help(
                RuleId::HalfResume,
                cursor.place,
                "a cursor without `catch_up` loses what comes while the stream is down",
                "add `catch_up`, the query that reads what came after a cursor, or remove `cursor`",
            );
        }
        if let Some(catch_up) = stream.catch_up.given()
            && stream.cursor.is_absent()
        {
            problems.add_with_help(
                RuleId::HalfResume,
                catch_up.place,
                "without `cursor`, nothing says what there is to catch up with",
                "add `cursor`, the field of the event that orders it, or remove `catch_up`",
            );
        }
    }
}

pub(super) fn the_cursor_is_a_field(draft: &Draft<'_>, problems: &mut Problems) {
    for cursor in streams(draft).filter_map(|stream| stream.cursor.given()) {
        if !is_snake(cursor) || is_keyword(cursor) {
            let help = snake(cursor).map_or_else(
                || "the event is a struct: write the name of one of its fields".to_owned(),
                |name| format!("write \"{name}\""),
            );
            let message = format!("{} is not the name of a field", shown(cursor));
            problems.add_with_help(RuleId::CursorName, cursor.place, message, help);
        }
    }
}

pub(super) fn the_catch_up_exists(draft: &Draft<'_>, problems: &mut Problems) {
    for name in streams(draft).filter_map(|stream| stream.catch_up.given()) {
        if draft
            .routes
            .iter()
            .all(|route| route.name.value != name.value)
        {
            let queries = draft
                .routes
                .iter()
                .filter(|r| r.kind.value() == Some(Kind::Query));
            let help = match closest(name, queries.map(|query| query.name.as_str())) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "name the query that reads what came after a cursor".to_owned(),
            };
            let message = format!("there is no route {}", shown(name));
            problems.add_with_help(RuleId::UnknownCatchUp, name.place, message, help);
        }
    }
}

pub(super) fn the_catch_up_is_a_query(draft: &Draft<'_>, problems: &mut Problems) {
    for (_, name, query) in caught_up(draft) {
        let (Some(kind), Some(method)) = (query.kind.value(), query.method.value()) else {
            continue;
        };
        if kind != Kind::Query {
            let message = format!("`{}` is a {kind}, and catching up is reading", **name);
            let help = "name a query with GET";
            problems.add_with_help(RuleId::CatchUpNotQuery, name.place, message, help);
        } else if method == Method::Post {
            let message = format!(
                "`{}` asks with POST, and the cursor goes into the URL",
                **name
            );
            let help = "name a query with GET: it is asked with `?after=` and the cursor";
            problems.add_with_help(RuleId::CatchUpNotQuery, name.place, message, help);
        }
    }
}

pub(super) fn the_catch_up_can_be_asked(draft: &Draft<'_>, problems: &mut Problems) {
    for (stream, name, query) in caught_up(draft) {
        let (Some(own), Some(asked)) = (stream.path.given(), query.path.given()) else {
            continue;
        };
        let known: Vec<&str> = own.params().map(|param| param.value.as_str()).collect();
        let missing = asked
            .params()
            .find(|param| !known.contains(&param.value.as_str()));
        if query.kind.value() == Some(Kind::Query)
            && let Some(missing) = missing
        {
            problems.add_with_help(
                RuleId::CatchUpParameter,
                name.place,
                format!(
                    "`{}` needs `{{{}}}`, which the path of `{}` does not have",
                    **name, **missing, *stream.name
                ),
                "the stream asks with the values of its own path: use the same parameters",
            );
        }
    }
}
