//! One connection of a stream: opened, ready, and read item by item under the idle limit.

use std::{collections::VecDeque, time::Duration};

use http::{HeaderValue, header};
use link_wire::Kind;
use tokio::time::{Instant, timeout};

use super::parser::{Item, Parser, TooLong};
use crate::{
    auth::Shown,
    budget::Deadline,
    call,
    outcome::{Cause, Class, Evidence, Refused},
    request::{NotShown, Request},
    transport::{Failure, Incoming},
};

/// What one open came to.
pub(super) enum Opened {
    /// The stream is ready.
    Live(Box<Live>),
    /// The server has nothing for this stream, now or later.
    NoContent,
    /// The server said no.
    Refused(Refused),
    /// Something else answered.
    NotOurServer { status: u16 },
    /// The answer is none of a stream.
    NoStream { why: String },
    /// The request is at fault.
    Invalid(Cause),
    /// An answer that asks to come again, in its own time if it names one.
    Later { retry_after: Option<Duration> },
    /// No answer. Worth another open.
    NoAnswer(Evidence),
}

/// A stream that is open.
pub(super) struct Live {
    incoming: Incoming,
    parser: Parser,
    items: VecDeque<Item>,
    /// What ends the stream once the items before it are given.
    beyond: Option<TooLong>,
    since: Instant,
    /// Where the stream stood when it was opened, if the server said so.
    ready: Option<u64>,
    evidence: Evidence,
}

/// How a stream that was open ended.
pub(super) enum Ended {
    /// By the server, or with its connection.
    Over { cut: Option<Cause> },
    /// No byte for too long.
    Idle(Cause),
    /// Beyond a cap.
    TooLong(TooLong),
}

/// Opens the stream, and waits until it is ready. The try limit holds for all of it. A server that
/// does not know who opens it is asked once more, where there is another token.
pub(super) async fn open(request: &Request) -> Opened {
    let (mut shown, mut renewed) = (None, false);
    loop {
        let evidence = match open_once(request, &mut shown).await {
            Ok(opened) => return opened,
            Err(evidence) => evidence,
        };
        let deadline = Deadline::of(request.link().limits().attempt);
        if let Some(shown) = &shown
            && !renewed
            && request.renew(shown, &evidence, deadline).await
        {
            renewed = true;
            continue;
        }
        return answer(request, evidence);
    }
}

/// One open. An error is the answer of a server that does not open the stream.
async fn open_once(request: &Request, by: &mut Option<Shown>) -> Result<Opened, Evidence> {
    let link = request.link();
    let most = link.limits().attempt;
    let deadline = Deadline::of(most);
    let mut outgoing = match request.outgoing() {
        Ok(outgoing) => outgoing,
        Err(cause) => return Ok(Opened::Invalid(cause)),
    };
    let shown = match request.shown(deadline).await {
        Ok(shown) => shown,
        Err(NotShown::Ends(cause)) => return Ok(Opened::Invalid(cause)),
        Err(NotShown::Later(_) | NotShown::Late(_)) => {
            return Ok(Opened::Later { retry_after: None });
        }
    };
    if let Some(header) = &shown.header {
        let headers = &mut outgoing.headers;
        headers.insert(header::AUTHORIZATION, header.clone());
    }
    *by = Some(shown);
    outgoing
        .headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let evidence = match timeout(most, link.http().open(outgoing)).await {
        Ok(Ok(incoming)) if starts_stream(request, &incoming) => {
            let mut live = Live::new(request, incoming);
            match live.wait_ready(deadline).await {
                Ok(()) => {
                    request.saw(&live.evidence);
                    return Ok(Opened::Live(Box::new(live)));
                }
                Err(cause) => Evidence::Fault { cause },
            }
        }
        Ok(Ok(incoming)) => {
            let seen = call::whole(request, incoming, most, Deadline::of(most)).await;
            request.saw(&seen.evidence);
            return Err(seen.evidence);
        }
        // Nobody there is a fault like others: a stream waits for its server.
        Ok(Err(failure)) => call::unsent_or_cut(failure, false),
        Err(_) => Evidence::Fault {
            cause: Cause::Silent { after: most },
        },
    };
    request.saw(&evidence);
    Ok(Opened::NoAnswer(evidence))
}

fn starts_stream(request: &Request, incoming: &Incoming) -> bool {
    let head = call::read_head(request, incoming);
    let kind = incoming.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let events = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"));
    let class = request.judge().class(&Evidence::Head(head), Kind::Stream);
    incoming.status() == http::StatusCode::OK && class == Class::Reply && events
}

/// What an answer that is no open stream means.
fn answer(request: &Request, evidence: Evidence) -> Opened {
    let judge = request.judge();
    request.link().set_state(&judge, &evidence);
    let status = match &evidence {
        Evidence::Head(head) => head.status,
        Evidence::NeverSent { .. }
        | Evidence::Fault { .. }
        | Evidence::Unprocessed { .. }
        | Evidence::Brief { .. } => {
            return Opened::NoAnswer(evidence);
        }
    };
    match judge.class(&evidence, Kind::Stream) {
        Class::Reply if status == 204 => Opened::NoContent,
        Class::Reply => Opened::NoStream {
            why: format!("the answer {status} is no event stream"),
        },
        // A server that failed may not fail the next time.
        Class::No(_) if status >= 500 => Opened::Later { retry_after: None },
        Class::Refused(refused) | Class::No(refused) | Class::Unrun { no: refused, .. } => {
            Opened::Refused(refused)
        }
        Class::Foreign { .. } => Opened::NotOurServer { status },
        Class::Again { retry_after, .. } => Opened::Later { retry_after },
        Class::Unprocessed { .. } => Opened::Later { retry_after: None },
        Class::Brief { .. } | Class::Nobody { .. } | Class::Ran { .. } => {
            Opened::NoAnswer(evidence)
        }
    }
}

impl Live {
    fn new(request: &Request, incoming: Incoming) -> Self {
        let evidence = Evidence::Head(call::read_head(request, &incoming));
        Self {
            incoming,
            parser: Parser::new(),
            items: VecDeque::new(),
            beyond: None,
            since: Instant::now(),
            ready: None,
            evidence,
        }
    }

    /// Where the stream stood when it was opened, if the server said so.
    pub(super) fn ready(&self) -> Option<u64> {
        self.ready
    }

    /// The head of its reply.
    pub(super) fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// How long it has been open.
    pub(super) fn lived(&self) -> Duration {
        self.since.elapsed()
    }

    /// Reads up to the comment `ready` or `ready N`. An event before it is as good a sign.
    async fn wait_ready(&mut self, deadline: Deadline) -> Result<(), Cause> {
        let mut retry = None;
        loop {
            while let Some(item) = self.items.pop_front() {
                match item {
                    Item::Comment(text) => {
                        let mut words = text.split_ascii_whitespace();
                        if words.next() == Some("ready") {
                            self.ready = words.next().and_then(|word| word.parse().ok());
                            self.begin(retry);
                            return Ok(());
                        }
                    }
                    Item::Event(_) => {
                        self.begin([item].into_iter().chain(retry));
                        return Ok(());
                    }
                    Item::Retry(_) => retry = Some(item),
                }
            }
            match self.fill(deadline.left()).await {
                Ok(()) => {}
                Err(Ended::Over { cut }) => {
                    let why = "it ended before it was ready".to_owned();
                    return Err(cut.unwrap_or(Cause::CutInside { why }));
                }
                Err(Ended::Idle(_)) => {
                    return Err(Cause::Silent {
                        after: deadline.within(),
                    });
                }
                Err(Ended::TooLong(error)) => {
                    return Err(Cause::CutInside {
                        why: error.to_string(),
                    });
                }
            }
        }
    }

    /// The stream is ready, and these items were read too early.
    fn begin(&mut self, early: impl IntoIterator<Item = Item>) {
        self.since = Instant::now();
        for item in early {
            self.items.push_front(item);
        }
    }

    /// The next item. Only a pending read counts against `idle`.
    pub(super) async fn item(&mut self, idle: Duration) -> Result<Item, Ended> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Ok(item);
            }
            self.fill(idle).await?;
        }
    }

    async fn fill(&mut self, limit: Duration) -> Result<(), Ended> {
        if let Some(beyond) = self.beyond {
            return Err(Ended::TooLong(beyond));
        }
        match timeout(limit, self.incoming.piece()).await {
            Ok(Ok(Some(piece))) => {
                self.beyond = self.parser.push(&piece, &mut self.items).err();
                Ok(())
            }
            Ok(Ok(None)) => Err(Ended::Over { cut: None }),
            Ok(Err(Failure { why, .. })) => Err(Ended::Over {
                cut: Some(Cause::CutInside { why }),
            }),
            Err(_) => Err(Ended::Idle(Cause::Stalled { after: limit })),
        }
    }
}
