//! One try: from a request to the evidence of what was seen, by our own timers.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, StatusCode, header};
use link_wire::Problem;
use serde::de::IgnoredAny;
use tokio::time::timeout;

use crate::{
    budget::Deadline,
    clock::Spoken,
    outcome::{Cause, Evidence, Head, ServerBuild},
    request::Request,
    transport::{Failure, Incoming, Lease, Outgoing},
    wait,
};

/// The most bytes of a reply. What is larger belongs on a route of another shape.
const MOST_BODY: usize = 64 << 20;

/// What one try came to.
pub(crate) struct Seen {
    pub(crate) evidence: Evidence,
    /// The whole body, where the evidence is a reply.
    pub(crate) body: Result<Bytes, Cause>,
}

impl From<Evidence> for Seen {
    fn from(evidence: Evidence) -> Self {
        Self {
            evidence,
            body: Ok(Bytes::new()),
        }
    }
}

/// Sends one try over `lease`. The try limit holds for the head, then for each pause between
/// two pieces of the body; the deadline for all of it.
pub(super) async fn attempt(
    request: &Request,
    lease: &Lease,
    outgoing: Outgoing,
    deadline: Deadline,
) -> Seen {
    let link = request.link();
    let most = link.limits().attempt;
    let limit = most.min(deadline.left());
    let connect = link.limits().connect.min(limit);
    let sent = timeout(limit, lease.send(outgoing, connect)).await;
    match sent {
        Ok(Ok(incoming)) => whole(request, incoming, most, deadline).await,
        Ok(Err(failure)) => unsent_or_cut(failure, link.nobody_ever()).into(),
        Err(_) => {
            let arrived = lease.may_have_sent();
            let cause = if arrived {
                Cause::Silent { after: limit }
            } else {
                Cause::Connect {
                    why: format!("none in {}", Spoken(limit)),
                }
            };
            // The last try of a budget may get some milliseconds. It says nothing of the server.
            let brief =
                limit < most && limit < link.limits().first_wait && limit < deadline.within() / 2;
            match (brief, arrived) {
                (true, _) => Evidence::Brief { cause, arrived },
                (false, true) => Evidence::Fault { cause },
                (false, false) => Evidence::NeverSent {
                    cause,
                    nobody: false,
                },
            }
            .into()
        }
    }
}

/// What a failure before the head is evidence of.
pub(crate) fn unsent_or_cut(failure: Failure, nobody_ever: bool) -> Evidence {
    let Failure {
        connect,
        refused,
        unprocessed,
        why,
    } = failure;
    if unprocessed {
        Evidence::Unprocessed {
            cause: Cause::CutBefore { why },
        }
    } else if connect {
        let nobody = refused && nobody_ever;
        Evidence::NeverSent {
            cause: Cause::Connect { why },
            nobody,
        }
    } else {
        Evidence::Fault {
            cause: Cause::CutBefore { why },
        }
    }
}

/// Reads the rest of a reply, where it counts.
pub(crate) async fn whole(
    request: &Request,
    mut incoming: Incoming,
    most: Duration,
    deadline: Deadline,
) -> Seen {
    let mut head = read_head(request, &incoming);
    if !head.body_counts() {
        return Evidence::Head(head).into();
    }
    let body = match body(&mut incoming, most, deadline).await {
        Ok(body) => body,
        Err(cause @ Cause::TooLarge { .. }) => {
            return Seen {
                evidence: Evidence::Head(head),
                body: Err(cause),
            };
        }
        Err(cause) => return Evidence::Fault { cause }.into(),
    };
    if looks_cut(&incoming, &body) {
        let why = "it ends with its connection and is not whole".into();
        return Evidence::Fault {
            cause: Cause::CutInside { why },
        }
        .into();
    }
    if !incoming.status().is_success() {
        head.problem = serde_json::from_slice(&body).ok().map(one_line);
    }
    Seen {
        evidence: Evidence::Head(head),
        body: Ok(body),
    }
}

/// Reads the head of a reply: its status, and what its headers say.
pub(crate) fn read_head(request: &Request, incoming: &Incoming) -> Head {
    let (service, headers) = (request.service(), incoming.headers());
    let build = single(headers, service.headers.build);
    let server = build.and_then(|text| ServerBuild::read(text, &service.build));
    let refused = single(headers, service.headers.refused);
    let values = texts(headers, header::RETRY_AFTER);
    // What a stranger says of the log or of the caller is not the server's word.
    let ours = |name| single(headers, name).filter(|_| server.is_some());
    Head {
        status: incoming.status().as_u16(),
        refused: refused.filter(|code| !code.is_empty()).map(Into::into),
        repeat: single(headers, service.headers.repeat) == Some("1"),
        log: ours(service.headers.log).and_then(|text| text.parse().ok()),
        caller: ours(service.headers.caller).and_then(|text| text.parse().ok()),
        retry_after: wait::retry_after(&values, single(headers, header::DATE.as_str())),
        problem: None,
        server,
    }
}

async fn body(incoming: &mut Incoming, most: Duration, deadline: Deadline) -> Result<Bytes, Cause> {
    let mut body = BytesMut::new();
    loop {
        let limit = most.min(deadline.left());
        let piece = match timeout(limit, incoming.piece()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => return Ok(body.freeze()),
            Ok(Err(Failure { why, .. })) => return Err(Cause::CutInside { why }),
            Err(_) if limit < most => {
                return Err(Cause::Budget {
                    within: deadline.within(),
                });
            }
            Err(_) => return Err(Cause::Stalled { after: limit }),
        };
        if body.len() + piece.len() > MOST_BODY {
            return Err(Cause::TooLarge { most: MOST_BODY });
        }
        body.extend_from_slice(&piece);
    }
}

/// Whether a body without a length may be the first part of one. All our bodies are JSON.
fn looks_cut(incoming: &Incoming, body: &[u8]) -> bool {
    incoming.ends_with_its_connection()
        && !matches!(
            incoming.status(),
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED
        )
        && serde_json::from_slice::<IgnoredAny>(body).is_err()
}

/// A problem whose texts a terminal can show on one line.
fn one_line(mut problem: Problem) -> Problem {
    for text in [&mut problem.detail, &mut problem.title, &mut problem.code] {
        if text.contains(char::is_control) {
            *text = text.replace(char::is_control, " ");
        }
    }
    problem
}

/// The value of a header that is there once.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        None
    } else {
        value.to_str().ok()
    }
}

/// All values of a header. One that is no text counts, as an empty one.
fn texts(headers: &HeaderMap, name: HeaderName) -> Vec<&str> {
    headers
        .get_all(name)
        .iter()
        .map(|value| value.to_str().unwrap_or_default())
        .collect()
}
