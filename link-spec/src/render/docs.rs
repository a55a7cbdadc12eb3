//! What a generated method says of itself: route, kind, budget, what a retry means, its line.

use crate::{
    duration,
    fitted::Fitted,
    model::{Kind, Route, Spec, Within},
};

/// The paragraph that follows the user's own docs.
pub(crate) fn paragraph(spec: &Spec, one: &Fitted<'_>) -> String {
    let route = one.route;
    let kind = route.kind.as_str();
    let budget = spec.budget_of(route).map_or_else(String::new, |budget| {
        let within = match budget.within {
            Within::Time(within) => duration::text(within),
            Within::Period => format!("the period of {}", duration::text(spec.limits.alive_every)),
        };
        let tries = match budget.tries {
            Some(1) => ", one try".to_owned(),
            Some(most) => format!(", at most {most} tries"),
            None => String::new(),
        };
        format!(" with the budget `{}` ({within}{tries})", budget.name.value)
    });
    format!(
        "`{} {}`: a {kind}{budget}. {}\n\nDeclared at {}:{}.",
        route.method.as_str(),
        route.path.text,
        retry(route, spec.budget_of(route).and_then(|budget| budget.tries)),
        spec.source.name,
        spec.line_of(route),
    )
}

/// What a retry of a call of this route means.
fn retry(route: &Route, tries: Option<u32>) -> &'static str {
    match (route.kind, tries) {
        (Kind::Query, Some(1)) => "It changes nothing, and is not sent again.",
        (Kind::Query, _) => "It changes nothing, so it is sent again within its budget.",
        (Kind::Signal, Some(1)) => {
            "It is kept in memory only and the newest wins. It is not sent again: the next one \
             comes soon."
        }
        (Kind::Signal, _) => {
            "It is kept in memory only and the newest wins, so it is sent again within its budget."
        }
        (Kind::Command, _) => {
            "Each of its tries carries one call ID, under which the server runs it once."
        }
        (Kind::Stream, _) if route.cursor.is_some() => {
            "It is opened again after each break, for ever, and goes on after the last event seen."
        }
        (Kind::Stream, _) => {
            "It is opened again after each break, for ever. What came meanwhile is not read: the \
             break is told as a gap of unknown size."
        }
    }
}
