//! What tracing sees of a call: a span for all of it, and one for each try by the names that
//! OpenTelemetry has for HTTP clients. A span never has a token, a path with its values, a query or
//! a body in it.

use link_wire::{CallId, Route};
use tracing::{Span, field::Empty, info_span};

use crate::outcome::{Cause, End, Evidence};

/// The span of a call.
pub(super) fn call(route: &Route, id: Option<&CallId>) -> Span {
    info_span!(
        "link.call",
        link.route = route.name,
        link.kind = route.kind.as_str(),
        link.call = id.map(CallId::as_str),
        link.tries = Empty,
        link.outcome = Empty,
    )
}

/// Notes in the span of a call how it ended.
pub(super) fn ended(span: &Span, end: Option<&End>) {
    let outcome = match end {
        None => "reply",
        Some(End::Refused(_)) => "refused",
        Some(End::NotSent(_)) => "not_sent",
        Some(End::Unknown(_)) => "unknown",
    };
    span.record("link.outcome", outcome);
}

/// The span of a try, inside of that of its call.
pub(super) fn attempt(route: &Route, number: u32) -> Span {
    Span::current().record("link.tries", number);
    info_span!(
        "link.try",
        otel.kind = "client",
        http.request.method = route.method,
        http.request.resend_count = number - 1,
        http.response.status_code = Empty,
        url.template = route.path,
        error.r#type = Empty,
    )
}

/// Notes in the span of a try what was seen.
pub(super) fn seen(span: &Span, evidence: &Evidence) {
    let error = match evidence {
        Evidence::Head(head) => {
            span.record("http.response.status_code", head.status);
            return;
        }
        Evidence::NeverSent { .. } => "no_connection",
        Evidence::Unprocessed { .. } => "unprocessed",
        Evidence::Fault {
            cause: Cause::Silent { .. } | Cause::Stalled { .. },
        }
        | Evidence::Brief { .. } => "timeout",
        Evidence::Fault { .. } => "cut",
    };
    span.record("error.type", error);
}
