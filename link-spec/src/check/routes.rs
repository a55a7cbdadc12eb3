//! Rules for one route by itself, and for the budget that it names.

use std::time::Duration;

use crate::{
    distance::closest,
    draft::{Draft, DraftRoute},
    duration::text,
    ident::{is_keyword, is_snake, snake},
    model::{Kind, Method, Outbox, Within},
    report::{Problems, shown},
    rule_id::RuleId,
    source::Place,
};

/// What the generated client and the handlers' trait have for themselves.
const RESERVED: [&str; 6] = ["apply", "clone", "link", "new", "open", "with_outbox"];

pub(super) fn there_is_one(draft: &Draft<'_>, problems: &mut Problems) {
    if !draft.says_routes {
        problems.add_with_help(
            RuleId::NoRoutes,
            draft.routes_place.unwrap_or_default(),
            "the file declares no route",
            "add a table `[routes.who]` with `kind`, `path` and `budget`",
        );
    }
}

pub(super) fn names_are_methods(draft: &Draft<'_>, problems: &mut Problems) {
    for DraftRoute { name, .. } in &draft.routes {
        if is_keyword(name) {
            let message = format!("`{}` is a word of Rust, and a route is a method", **name);
            let help = "give the route another name";
            problems.add_with_help(RuleId::RouteName, name.place, message, help);
        } else if !is_snake(name) {
            let help = snake(name).map_or_else(
                || "a route is a method: its name is in snake case".to_owned(),
                |name| format!("write `{name}`"),
            );
            let message = format!("{} is not the name of a route", shown(name));
            problems.add_with_help(RuleId::RouteName, name.place, message, help);
        } else if RESERVED.contains(&name.as_str()) {
            let message = format!("the generated code has a method `{}` of its own", **name);
            let help = "give the route another name";
            problems.add_with_help(RuleId::ReservedName, name.place, message, help);
        }
    }
}

pub(super) fn kind_and_path_are_there(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        for (key, is_absent, help) in [
            (
                "kind",
                route.kind.is_absent(),
                "add `kind = \"query\"`, or \"signal\", \"command\", \"stream\"".to_owned(),
            ),
            (
                "path",
                route.path.is_absent(),
                format!(
                    "add `path = \"{} /v1/{}\"`",
                    usual_method(route),
                    *route.name
                ),
            ),
        ] {
            if is_absent {
                let message = format!("the route {} has no `{key}`", shown(&route.name));
                problems.add_with_help(RuleId::MissingKey, route.place, message, help);
            }
        }
    }
}

fn usual_method(route: &DraftRoute) -> Method {
    match route.kind.value() {
        Some(Kind::Command | Kind::Signal) => Method::Post,
        Some(Kind::Query | Kind::Stream) | None => Method::Get,
    }
}

pub(super) fn the_method_fits_the_kind(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let (Some(kind), Some(method)) = (route.kind.value(), route.method.given()) else {
            continue;
        };
        let (fits, why, help) = match kind {
            Kind::Command => (
                method.value != Method::Get,
                "a command changes what is logged, and GET changes nothing",
                "write `POST`, or say `kind = \"query\"` if it only reads",
            ),
            Kind::Signal => (
                method.value != Method::Get,
                "a signal says something, and GET says nothing",
                "write `POST`, or say `kind = \"query\"` if it only reads",
            ),
            Kind::Stream => (
                method.value == Method::Get,
                "a stream is read with GET, as server-sent events are",
                "write `GET`",
            ),
            Kind::Query => (
                matches!(method.value, Method::Get | Method::Post),
                "a query reads, with GET or with POST",
                "write `GET`, or `POST` if it asks with a body; what changes is a command",
            ),
        };
        if !fits {
            problems.add_with_help(RuleId::MethodForKind, method.place, why, help);
        }
    }
}

pub(super) fn only_a_stream_has_no_budget(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let Some(kind) = route.kind.value() else {
            continue;
        };
        if kind == Kind::Stream {
            if let Some(budget) = route.budget.given() {
                problems.add_with_help(
                    RuleId::StreamWithBudget,
                    budget.place,
                    "a stream has no budget: it lives until someone ends it",
                    "remove `budget`; `stream_idle` in `[limits]` ends a silent connection",
                );
            }
        } else if route.budget.is_absent() {
            let known = draft
                .budgets
                .first()
                .map_or("short", |budget| budget.name.as_str());
            let help = if draft.budgets.is_empty() {
                format!("add `budget = \"{known}\"`, and `{known} = \"60s\"` to `[budgets]`")
            } else {
                format!("add `budget = \"{known}\"`")
            };
            let message = format!("the {kind} {} has no budget", shown(&route.name));
            problems.add_with_help(RuleId::MissingBudget, route.place, message, help);
        }
    }
}

pub(super) fn the_budget_exists(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let Some(name) = route.budget.given() else {
            continue;
        };
        // A stream loses its budget anyway.
        let is_asked = route.kind.value() != Some(Kind::Stream) && !draft.budgets_faulty;
        if is_asked && draft.budget(name).is_none() {
            let known = draft.budgets.iter().map(|budget| budget.name.as_str());
            let help = match closest(name, known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("add to `[budgets]`: {} = \"60s\"", name.escape_debug()),
            };
            let message = format!("there is no budget {}", shown(name));
            problems.add_with_help(RuleId::UnknownBudget, name.place, message, help);
        }
    }
}

pub(super) fn only_a_signal_has_the_period(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        let (Some(kind), Some(name)) = (route.kind.value(), route.budget.given()) else {
            continue;
        };
        let budget = draft.budget(name);
        let is_period = budget.is_some_and(|budget| budget.within.value() == Some(Within::Period));
        if is_period && matches!(kind, Kind::Query | Kind::Command) {
            problems.add_with_help(
                RuleId::PeriodNotSignal,
                name.place,
                format!(
                    "the budget {} is for a sign of life, and this is a {kind}",
                    shown(name)
                ),
                "name a budget with a time",
            );
        }
    }
}

pub(super) fn only_a_command_has_an_outbox(draft: &Draft<'_>, problems: &mut Problems) {
    for route in &draft.routes {
        if let (Some(kind), Some(outbox)) = (route.kind.value(), route.outbox.given())
            && kind != Kind::Command
        {
            problems.add_with_help(
                RuleId::OutboxNotCommand,
                outbox.place,
                format!("a {kind} does not go through the outbox"),
                "remove `outbox`: only a command owes a reply",
            );
        }
    }
}

pub(super) fn an_outbox_keeps_no_longer_than_all(draft: &Draft<'_>, problems: &mut Problems) {
    if !draft.limits.is_sound("outbox_keep") {
        return;
    }
    let most = draft.limits.values.outbox_keep;
    for (time, place) in draft.routes.iter().filter_map(outbox_of_command) {
        if time > most {
            problems.add_with_help(
                RuleId::OutboxTooLong,
                place,
                format!(
                    "`outbox` ({}) is longer than `outbox_keep` ({})",
                    text(time),
                    text(most)
                ),
                format!("write at most \"{}\", or leave it out", text(most)),
            );
        }
    }
}

fn outbox_of_command(route: &DraftRoute) -> Option<(Duration, Place)> {
    let outbox = route.outbox.given()?;
    match outbox.value {
        Outbox::Within(time) if route.kind.value() == Some(Kind::Command) => {
            Some((time, outbox.place))
        }
        Outbox::Within(_) | Outbox::No => None,
    }
}

pub(super) fn since_is_a_line_so_far(draft: &Draft<'_>, problems: &mut Problems) {
    let now = draft.link.line.given().and_then(|line| super::line(line));
    for since in draft.routes.iter().filter_map(|route| route.since.given()) {
        match (super::line(since), now) {
            (None, _) => {
                let message = format!("{} is not a wire line", shown(since));
                let help = "a line is MAJOR.MINOR, two whole numbers: \"1.0\"";
                problems.add_with_help(RuleId::BadSince, since.place, message, help);
            }
            (Some(then), Some(now)) if then > now => {
                let (major, minor) = now;
                let message = format!(
                    "`since` ({}.{}) is above the line of the link",
                    then.0, then.1
                );
                let help = format!("the line is \"{major}.{minor}\": raise it, or lower `since`");
                problems.add_with_help(RuleId::BadSince, since.place, message, help);
            }
            (Some(_), _) => {}
        }
    }
}
