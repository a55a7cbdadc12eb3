//! How each answer looks: its status, its headers, its bytes.

use std::time::Duration;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use link_wire::{CallId, Caller, Code, LogPosition, Problem, Service};

use super::metrics::Refusing;
use crate::{
    Reply,
    engine::stage::{Halt, Written},
    log::line::Outcome,
    refusal::KeptRefusal,
};

/// The headers of a service.
pub(super) struct Names {
    pub(super) build: HeaderName,
    pub(super) stamp: HeaderValue,
    pub(super) call: HeaderName,
    pub(super) caller: HeaderName,
    pub(super) attempt: HeaderName,
    pub(super) sent: HeaderName,
    pub(super) repeat: HeaderName,
    pub(super) refused: HeaderName,
    pub(super) log: HeaderName,
    pub(super) ack: HeaderName,
    pub(super) budget: HeaderName,
}

impl Default for Names {
    /// Names for a server whose table is at fault: it answers 500 with them.
    fn default() -> Self {
        let name = HeaderName::from_static;
        Self {
            build: name("link-build"),
            stamp: HeaderValue::from_static("-"),
            call: name("link-call"),
            caller: name("link-caller"),
            attempt: name("link-try"),
            sent: name("link-sent"),
            repeat: name("link-repeat"),
            refused: name("link-refused"),
            log: name("link-log"),
            ack: name("link-ack"),
            budget: name("link-budget"),
        }
    }
}

impl Names {
    pub(super) fn of(service: &Service) -> Result<Self, String> {
        let name = |text: &str| {
            HeaderName::from_bytes(text.as_bytes()).map_err(|error| format!("{text:?}: {error}"))
        };
        let build = service.build.to_string();
        let headers = &service.headers;
        Ok(Self {
            build: name(headers.build)?,
            stamp: HeaderValue::from_str(&build).map_err(|error| format!("{build:?}: {error}"))?,
            call: name(headers.call)?,
            caller: name(headers.caller)?,
            attempt: name(headers.attempt)?,
            sent: name(headers.sent)?,
            repeat: name(headers.repeat)?,
            refused: name(headers.refused)?,
            log: name(headers.log)?,
            ack: name(headers.ack)?,
            budget: name(headers.budget)?,
        })
    }

    /// Says which build answers. On every reply: one without it is not ours.
    pub(super) fn stamp(&self, headers: &mut HeaderMap) {
        headers.insert(self.build.clone(), self.stamp.clone());
    }

    /// Says for whom the request was taken.
    pub(super) fn say_caller(&self, headers: &mut HeaderMap, caller: &Caller) {
        if let Ok(value) = HeaderValue::from_str(caller.as_str()) {
            headers.insert(self.caller.clone(), value);
        }
    }

    /// Says how far the log is written.
    pub(super) fn say_position(&self, headers: &mut HeaderMap, position: LogPosition) {
        if let Ok(value) = HeaderValue::from_str(&position.to_string()) {
            headers.insert(self.log.clone(), value);
        }
    }

    /// Says under which ID the server ran a command that came without one.
    pub(super) fn say_call(&self, headers: &mut HeaderMap, id: &CallId) {
        if let Ok(value) = HeaderValue::from_str(id.as_str()) {
            headers.insert(self.call.clone(), value);
        }
    }

    /// The reply to a command.
    pub(super) fn written(&self, written: &Written) -> Response {
        let mut response = match written.outcome() {
            Outcome::Reply(reply) => json(reply.clone()),
            Outcome::Refused(refusal) => {
                let mut response = refused(refusal);
                if let Ok(code) = HeaderValue::from_str(&refusal.code) {
                    response.headers_mut().insert(self.refused.clone(), code);
                }
                response
            }
            Outcome::Cancelled => Stop::code(
                Code::CallCancelled,
                "the call was settled before it arrived: it never ran, and never will",
            )
            .into_response(),
        };
        if written.is_repeat() {
            response
                .headers_mut()
                .insert(self.repeat.clone(), HeaderValue::from_static("1"));
        }
        response
    }
}

/// A no, before it is a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The server's own.
    Code {
        code: Code,
        detail: String,
        /// Whether the connection cannot be used any more.
        close: bool,
        /// After how long the same request may come again, if it may.
        again: Option<Duration>,
    },
    /// 405, with the methods that the path has.
    OtherMethod { allow: String },
    /// A handler's no to what is not a command.
    Refused(KeptRefusal),
}

impl Stop {
    pub(super) fn code(code: Code, detail: impl Into<String>) -> Self {
        Self::Code {
            code,
            detail: detail.into(),
            close: false,
            again: (code == Code::Busy).then_some(Duration::from_secs(1)),
        }
    }

    /// The same, and the request may come again after this time.
    pub(super) fn and_again(mut self, after: Duration) -> Self {
        if let Self::Code { again, .. } = &mut self {
            *again = Some(after);
        }
        self
    }

    /// The same, and the connection ends with it.
    pub(super) fn and_close(mut self) -> Self {
        if let Self::Code { close, .. } = &mut self {
            *close = true;
        }
        self
    }

    /// The same, to a command that was queued under an ID which its sender does not know: to send
    /// it again as it was would run it twice.
    pub(super) fn and_named(mut self, header: &HeaderName, id: &CallId) -> Self {
        if let Self::Code { detail, again, .. } = &mut self {
            *again = None;
            let how = format!("what became of it tells the same request with `{header}: {id}`");
            *detail = format!("{detail}; {how}");
        }
        self
    }

    pub(super) fn into_response(self) -> Response {
        match self {
            Self::Code {
                code,
                detail,
                close,
                again,
            } => {
                let mut response = problem(&Problem::of(code, detail));
                response.extensions_mut().insert(Refusing::Server(code));
                let headers = response.headers_mut();
                if code == Code::Unauthenticated {
                    headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                }
                if let Some(after) = again {
                    let whole = after.as_secs() + u64::from(after.subsec_nanos() > 0);
                    headers.insert(RETRY_AFTER, HeaderValue::from(whole.max(1)));
                }
                if close {
                    headers.insert(CONNECTION, HeaderValue::from_static("close"));
                }
                response
            }
            Self::OtherMethod { allow } => {
                let detail = format!("the path takes {allow}");
                let mut response = problem(&Problem::of(Code::OtherMethod, detail));
                response
                    .extensions_mut()
                    .insert(Refusing::Server(Code::OtherMethod));
                if let Ok(allow) = HeaderValue::from_str(&allow) {
                    response.headers_mut().insert(ALLOW, allow);
                }
                response
            }
            Self::Refused(refusal) => refused(&refusal),
        }
    }
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Unavailable => Self::code(Code::Unavailable, "the server takes no calls now"),
            Halt::Busy => Self::code(Code::Busy, "too much is queued: this try did not run"),
            Halt::Full => Self::code(Code::Busy, "the disk is full: this try did not run"),
            Halt::RolledBack => Self::code(
                Code::RolledBack,
                "the client has seen a log that this server does not hold: the command did not run",
            ),
            Halt::Forgotten => Self::code(
                Code::CallForgotten,
                "the server forgot calls of that age: the command may have run, and did not run now",
            ),
            Halt::TooManyKeys { retry_after } => Self::code(
                Code::TooManyKeys,
                "the caller has as many idempotency keys as are kept: the command did not run",
            )
            .and_again(retry_after),
            Halt::Unwritten => Self::code(
                Code::Busy,
                "the command is queued and not written yet: it may run",
            ),
            Halt::Lost => Self::code(
                Code::Unavailable,
                "the write of the command failed: it may be in the log, which the next start tells",
            ),
            Halt::BadInput(detail) => Self::code(Code::BadRequest, detail),
            Halt::Refused(refusal) => Self::Refused(refusal),
            Halt::Failed { route } => Self::code(
                Code::Failed,
                format!("the handler `{route}` failed; what happened stands in the server's log"),
            ),
        }
    }
}

/// 200 with JSON. The bytes are shared with the table of calls, not copied.
pub(super) fn json(reply: Reply) -> Response {
    bytes(StatusCode::OK, "application/json", Bytes::from_owner(reply))
}

fn refused(refusal: &KeptRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::CONFLICT);
    let mut response = problem(&Problem {
        kind: "about:blank".into(),
        title: status.canonical_reason().unwrap_or_default().into(),
        status: status.as_u16(),
        detail: refusal.detail.clone(),
        code: refusal.code.clone(),
    });
    response.extensions_mut().insert(Refusing::Handler);
    response
}

fn problem(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // A problem is strings and a number: its JSON does not fail.
    let body = serde_json::value::to_raw_value(problem)
        .map(|json| Bytes::from(Box::<str>::from(json).into_string()));
    bytes(status, Problem::MEDIA_TYPE, body.unwrap_or_default())
}

/// 200 with this as JSON.
pub(super) fn of(answer: &impl serde::Serialize) -> Result<Response, Stop> {
    let json = serde_json::to_vec(answer).map_err(|error| {
        tracing::error!(%error, "an answer cannot be JSON");
        Stop::code(Code::Failed, "the answer cannot be JSON")
    })?;
    Ok(bytes(StatusCode::OK, "application/json", json.into()))
}

/// An answer with these bytes.
pub(super) fn bytes(status: StatusCode, kind: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_its_status_and_its_headers() {
        for code in Code::ALL {
            let response = Stop::code(*code, "why").into_response();
            assert_eq!(response.status().as_u16(), code.status());
            assert_eq!(response.headers()[CONTENT_TYPE], Problem::MEDIA_TYPE);
            assert_eq!(
                response.headers().contains_key(RETRY_AFTER),
                *code == Code::Busy
            );
            let asks = response.headers().contains_key(WWW_AUTHENTICATE);
            assert_eq!(asks, *code == Code::Unauthenticated);
        }
    }
}
