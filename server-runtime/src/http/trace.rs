//! The names under which a request is found again: its ID, its trace, and its span.
//!
//! A span never has a token, a query or a body in it.

use http::{HeaderMap, HeaderName, HeaderValue};
use tracing::{Span, field::Empty};

use crate::auth::OneHeader as _;

/// The header of the ID of a request, in both directions.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: &str = "traceparent";
/// The most characters of an ID that is taken over from the client.
const MOST_ID: usize = 128;

/// What one request is called.
#[derive(Debug)]
pub(super) struct Trace {
    /// The client's, or one that was made here.
    pub(super) id: HeaderValue,
    parent: Option<Parent>,
}

/// The trace of the caller, and the span in it that asks (W3C Trace Context, 3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parent {
    trace: String,
    span: String,
    sampled: bool,
}

impl Trace {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let known = headers.one(REQUEST_ID.as_str()).filter(|id| is_sane(id));
        let id = known.and_then(|id| HeaderValue::from_str(id).ok());
        Self {
            id: id.unwrap_or_else(made),
            parent: headers.one(TRACEPARENT).and_then(Parent::parse),
        }
    }

    /// The span of the request. What shows later is recorded into it then.
    pub(super) fn span(&self, method: &http::Method) -> Span {
        let span = tracing::info_span!(
            "http_request",
            http.request.method = %method,
            http.route = Empty,
            http.response.status_code = Empty,
            link.caller = Empty,
            link.call = Empty,
            link.repeat = Empty,
            request_id = self.id.to_str().unwrap_or_default(),
            trace_id = Empty,
            span_id = Empty,
            parent_id = Empty,
            sampled = Empty,
        );
        if let Some(parent) = &self.parent
            && !span.is_disabled()
        {
            span.record("trace_id", &*parent.trace);
            span.record("parent_id", &*parent.span);
            span.record("sampled", parent.sampled);
            let mut own = [0; 8];
            if getrandom::fill(&mut own).is_ok() {
                span.record("span_id", hex(&own));
            }
        }
        span
    }
}

impl Parent {
    /// Reads `00-TRACE-SPAN-FLAGS`. A later version may have more behind it.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '-');
        let [version, trace, span, flags] = [(); 4].map(|()| parts.next().unwrap_or_default());
        let lower = |text: &str, length| {
            text.len() == length
                && text
                    .bytes()
                    .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let zeros = |text: &str| text.bytes().all(|b| b == b'0');
        let formed = lower(version, 2) && lower(trace, 32) && lower(span, 16) && lower(flags, 2);
        if !formed || version == "ff" || zeros(trace) || zeros(span) {
            return None;
        }
        if version == "00" && parts.next().is_some() {
            return None;
        }
        let flags = u8::from_str_radix(flags, 16).ok()?;
        Some(Self {
            trace: trace.into(),
            span: span.into(),
            sampled: flags & 1 == 1,
        })
    }
}

/// What may stand in a log line as it is.
fn is_sane(id: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || b"-_.:/+=@".contains(&b);
    (1..=MOST_ID).contains(&id.len()) && id.bytes().all(known)
}

fn made() -> HeaderValue {
    let mut bytes = [0; 16];
    // An ID that is not random is of less use, and harms nobody.
    let _ = getrandom::fill(&mut bytes);
    HeaderValue::from_str(&hex(&bytes)).unwrap_or_else(|_| HeaderValue::from_static("-"))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| {
        [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]
    });
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_taken_as_the_text_of_w3c_has_it() {
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let read = Parent::parse(&format!("00-{trace}-{span}-01")).unwrap();
        assert_eq!(
            (&*read.trace, &*read.span, read.sampled),
            (trace, span, true)
        );
        let later = Parent::parse(&format!("01-{trace}-{span}-00-more-of-it")).unwrap();
        assert!(!later.sampled);
        for bad in [
            String::new(),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-01-more"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}-{span}-1"),
            format!("0-{trace}-{span}-01"),
        ] {
            assert_eq!(Parent::parse(&bad), None, "{bad}");
        }
    }

    #[test]
    fn an_id_that_could_break_a_line_of_a_log_is_not_taken_over() {
        for id in ["", "a b", "a\"b", "a\\b", "a,b", &"x".repeat(129)] {
            assert!(!is_sane(id), "{id:?}");
        }
        for id in ["a", "01/ab-cd_ef.7:8@x+=", &"x".repeat(128)] {
            assert!(is_sane(id), "{id:?}");
        }
        assert_eq!(made().len(), 32);
        assert_ne!(made(), made());
    }
}
