//! Rules for the paths of all routes together: a request has one path of the file.
//!
//! The router looks at the path first, and at the method only then; where a literal and a
//! parameter both fit, it takes the literal. That is safe while some other segment tells the two
//! paths apart. It is not when one request fits both: then the value of a parameter decides which
//! route runs, or, with two methods, that none does, and some value can never be asked for.

use crate::{
    draft::{Draft, DraftRoute},
    model::{Method, Path, Segment},
    report::Problems,
    rule_id::RuleId,
    source::At,
};

struct Routed<'a> {
    route: &'a DraftRoute,
    method: Method,
    path: &'a At<Path>,
}

/// Each route with each earlier one. The later one is told.
fn pairs<'a>(draft: &'a Draft<'_>) -> Vec<(Routed<'a>, Routed<'a>)> {
    let routed = |route: &'a DraftRoute| {
        let (method, path) = (route.method.value()?, route.path.given()?);
        Some(Routed {
            route,
            method,
            path,
        })
    };
    let later = draft.routes.iter().enumerate();
    later
        .flat_map(|(index, one)| {
            draft
                .routes
                .iter()
                .take(index)
                .map(move |other| (other, one))
        })
        .filter_map(|(before, one)| Some((routed(before)?, routed(one)?)))
        .collect()
}

fn same_shape(one: &[Segment], other: &[Segment]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

/// Whether two segments are the same to a router, whatever their names.
fn same(one: &Segment, other: &Segment) -> bool {
    match (one, other) {
        (Segment::Literal(one), Segment::Literal(other)) => one == other,
        (Segment::Param(_), Segment::Param(_)) => true,
        (Segment::Literal(_), Segment::Param(_)) | (Segment::Param(_), Segment::Literal(_)) => {
            false
        }
    }
}

/// Whether one segment of a request can fit both.
fn both_fit(one: &Segment, other: &Segment) -> bool {
    match (one, other) {
        (Segment::Literal(one), Segment::Literal(other)) => one == other,
        (Segment::Param(_), _) | (_, Segment::Param(_)) => true,
    }
}

fn line(draft: &Draft<'_>, route: &DraftRoute) -> u32 {
    draft.source.line(route.place.start)
}

pub(super) fn no_two_are_the_same(draft: &Draft<'_>, problems: &mut Problems) {
    for (before, one) in pairs(draft) {
        if before.method == one.method && same_shape(&before.path.segments, &one.path.segments) {
            let message = format!(
                "the route `{}` (line {}) has the same method and path",
                *before.route.name,
                line(draft, before.route)
            );
            let help = "a request cannot tell the two apart: change a path or a method";
            problems.add_with_help(RuleId::SameRoute, one.path.place, message, help);
        }
    }
}

pub(super) fn none_shadows_another(draft: &Draft<'_>, problems: &mut Problems) {
    for (before, one) in pairs(draft) {
        let (theirs, ours) = (&before.path.segments, &one.path.segments);
        let shadows = theirs.len() == ours.len()
            && !same_shape(theirs, ours)
            && theirs
                .iter()
                .zip(ours)
                .all(|(theirs, ours)| both_fit(theirs, ours));
        if shadows {
            let message = format!(
                "`{}` fits this path and that of the route `{}` (line {})",
                common(theirs, ours),
                *before.route.name,
                line(draft, before.route)
            );
            let help = "put a literal of its own into one of the two";
            problems.add_with_help(RuleId::ShadowedPath, one.path.place, message, help);
        }
    }
}

/// A path that fits both, for a person to see.
fn common(one: &[Segment], other: &[Segment]) -> String {
    let mut path = String::new();
    for pair in one.iter().zip(other) {
        path.push('/');
        match pair {
            (Segment::Literal(word), _) | (_, Segment::Literal(word)) => path.push_str(word),
            (Segment::Param(name), Segment::Param(_)) => {
                path.push('{');
                path.push_str(name);
                path.push('}');
            }
        }
    }
    path
}

pub(super) fn a_place_has_one_name(draft: &Draft<'_>, problems: &mut Problems) {
    for (before, one) in pairs(draft) {
        let same_route =
            before.method == one.method && same_shape(&before.path.segments, &one.path.segments);
        if same_route {
            continue;
        }
        let together = before.path.segments.iter().zip(&one.path.segments);
        for (theirs, ours) in together.take_while(|(theirs, ours)| same(theirs, ours)) {
            if let (Segment::Param(theirs), Segment::Param(ours)) = (theirs, ours)
                && theirs.value != ours.value
            {
                let message = format!(
                    "this parameter is `{{{}}}` in the route `{}` (line {})",
                    **theirs,
                    *before.route.name,
                    line(draft, before.route)
                );
                let help = format!(
                    "write `{{{}}}`: one place in the paths has one name",
                    **theirs
                );
                problems.add_with_help(RuleId::ParameterNamesDiffer, ours.place, message, help);
            }
        }
    }
}
