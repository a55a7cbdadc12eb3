//! What a generated method says of itself: route, kind, budget, what a retry means, its line.

use std::time::Duration;

use crate::{
    fitted::Fitted,
    model::{Kind, Spec, Within},
};

/// The paragraph that follows the user's own docs.
pub(crate) fn paragraph(spec: &Spec, one: &Fitted<'_>) -> String {
    let route = one.route;
    let kind = route.kind.as_str();
    let budget = spec.budget_of(route).map_or_else(String::new, |budget| {
        let within = match budget.within {
            Within::Time(within) => duration(within),
            Within::Period => format!("the period of {}", duration(spec.limits.alive_every)),
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
        retry(route.kind),
        spec.source.name,
        spec.line_of(route),
    )
}

/// What a retry of a call of this kind means.
pub(crate) fn retry(kind: Kind) -> &'static str {
    match kind {
        Kind::Query => "It changes nothing, so it is sent again within its budget.",
        Kind::Signal => {
            "It is kept in memory only and the newest wins, so it is sent again within its budget."
        }
        Kind::Command => {
            "Each of its tries carries one call ID, under which the server runs it once."
        }
        Kind::Stream => {
            "It is opened again after each break, for ever, and goes on after the last event seen."
        }
    }
}

fn duration(time: Duration) -> String {
    let ms = time.as_millis();
    match ms {
        _ if !ms.is_multiple_of(1000) => format!("{ms} ms"),
        _ if ms.is_multiple_of(3_600_000) => format!("{} h", ms / 3_600_000),
        _ => format!("{} s", ms / 1000),
    }
}
