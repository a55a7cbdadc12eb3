//! The paths that the server has beside those of its service, and what they answer.
//!
//! `/healthz` and `/readyz` are for whoever runs the process, and need no caller: they say nothing
//! of the application. `/metrics` and `/openapi.json` do need one unless the program opens them:
//! the first tells how busy the server is and which routes are used, the second what there is to
//! try. A caller may see both: no number is another caller's.

use axum::response::Response;
use bytes::Bytes;
use http::{Method, StatusCode};
use link_wire::CALLS_PATH;
use serde_json::json;

use super::{
    Inner,
    metrics::Page,
    openapi,
    reply::{self, Stop},
};
use crate::State;

/// A path of the server's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Health,
    Ready,
    Metrics,
    OpenApi,
    Call,
    Settle,
}

impl Own {
    pub(super) const ALL: [Self; 6] = [
        Self::Health,
        Self::Ready,
        Self::Metrics,
        Self::OpenApi,
        Self::Call,
        Self::Settle,
    ];

    /// Which of them a path is, and what stands in the place of the call ID.
    pub(super) fn of(path: &str) -> Option<(Self, &str)> {
        if let Some(rest) = path.strip_prefix(CALLS_PATH) {
            let rest = rest.strip_prefix('/').filter(|rest| !rest.is_empty())?;
            return match rest.split_once('/') {
                None => Some((Self::Call, rest)),
                Some((id, "settle")) if !id.is_empty() => Some((Self::Settle, id)),
                Some(_) => None,
            };
        }
        let own = match path {
            "/healthz" => Self::Health,
            "/readyz" => Self::Ready,
            "/metrics" => Self::Metrics,
            "/openapi.json" => Self::OpenApi,
            _ => return None,
        };
        Some((own, ""))
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Settle => "POST",
            Self::Health | Self::Ready | Self::Metrics | Self::OpenApi | Self::Call => "GET",
        }
    }

    /// The path with its parameter, as it stands in metrics and in the description.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
            Self::OpenApi => "/openapi.json",
            Self::Call => "/v1/calls/{call}",
            Self::Settle => "/v1/calls/{call}/settle",
        }
    }

    /// 405, unless the method is the one of the path.
    pub(super) fn takes(self, method: &Method) -> Result<(), Stop> {
        if method.as_str() == self.method() {
            return Ok(());
        }
        Err(Stop::OtherMethod {
            allow: self.method().into(),
        })
    }

    /// Whether it answers whoever asks.
    pub(super) fn is_public<S: State>(self, server: &Inner<S>) -> bool {
        match self {
            Self::Health | Self::Ready => true,
            Self::Metrics => server.public_metrics,
            Self::OpenApi => server.public_openapi,
            Self::Call | Self::Settle => false,
        }
    }
}

/// The process lives: it takes connections and answers.
pub(super) fn health() -> Response {
    reply::bytes(
        StatusCode::OK,
        "application/json",
        Bytes::from_static(br#"{"live":true}"#),
    )
}

/// Whether the server takes calls: 200, or 503 with the reason.
pub(super) fn ready<S: State>(server: &Inner<S>) -> Response {
    let why = if server.fault.is_some() {
        Some("the server has no sound table of routes")
    } else if *server.draining.borrow() {
        Some("the server stops")
    } else if !server.engine.is_open() {
        Some("the engine has failed, or is closed")
    } else if !server.engine.is_ready() {
        Some("the journal had no room a moment ago")
    } else {
        None
    };
    let status = match why {
        None => StatusCode::OK,
        Some(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let body = json!({ "ready": why.is_none(), "why": why }).to_string();
    reply::bytes(status, "application/json", body.into())
}

pub(super) fn metrics<S: State>(server: &Inner<S>) -> Response {
    let mut page = Page::default();
    server.metrics.write(&mut page);
    super::numbers::write(server, &mut page);
    reply::bytes(
        StatusCode::OK,
        super::metrics::MEDIA_TYPE,
        page.into_text().into(),
    )
}

pub(super) fn openapi<S: State>(server: &Inner<S>) -> Response {
    let body = openapi::describe(server.service).to_string();
    reply::bytes(StatusCode::OK, "application/json", body.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_found_by_what_it_says_of_itself() {
        for (n, own) in Own::ALL.into_iter().enumerate() {
            assert_eq!(own.index(), n);
            let path = own.path().replace("{call}", "abc");
            let (found, id) = Own::of(&path).unwrap();
            assert_eq!(found, own);
            assert_eq!(id, if own.path().contains('{') { "abc" } else { "" });
        }
        assert!(Own::Call.path().starts_with(CALLS_PATH));
        assert!(Own::Settle.path().starts_with(CALLS_PATH));
        for path in [
            "/",
            "/healthz/",
            "/v1/calls",
            "/v1/calls/",
            "/v1/callsx/a",
            "/v1/calls/a/b",
            "/v1/calls//settle",
            "/v1/calls/a/settle/",
        ] {
            assert_eq!(Own::of(path), None, "{path}");
        }
    }
}
