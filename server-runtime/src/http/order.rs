//! The order in which a request is looked at, as one function that reads from top to bottom.
//!
//! A known call is answered before the build check, the rate and the routing: a retry of a command
//! that ran gets its reply even from a server that has moved its route or raised its line.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use axum::{extract::Request, response::Response};
use http::{HeaderMap, request::Parts};
use link_wire::{Build, Caller, Code, Fit};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::{
    Inner,
    call::{self, bad, one},
    limits,
    metrics::{Refusing, Repeat, Row},
    own::{self, Own},
    reply::{self, Stop},
    stream,
    trace::{REQUEST_ID, Trace},
};
use crate::{
    Input, Reply, State,
    engine::{
        calls::{Known, cancelled_before, refused_before},
        stage::Halt,
    },
    handler::Run,
    log::line::Outcome,
    presence::Sent,
};

/// How long a try of a command waits for the write; then it is told to come again.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// One request on its way.
struct Asked<'a> {
    head: &'a Parts,
    body: &'a [u8],
    /// When its head was there.
    since: Instant,
    /// Where it is counted, as soon as that is known.
    row: &'a mut Row,
}

/// Answers a request. Every answer has the build stamp.
pub(super) async fn answer<S: State>(server: &Inner<S>, request: Request) -> Response {
    let since = Instant::now();
    let _held = server.metrics.hold(|metrics| &metrics.in_flight);
    let trace = Trace::of(request.headers());
    let span = trace.span(request.method());
    let mut row = Row::None;
    let answered = take(server, request, since, &mut row);
    let answered = answered.instrument(span.clone()).await;
    let mut response = answered.unwrap_or_else(Stop::into_response);
    server.names.stamp(response.headers_mut());
    response.headers_mut().insert(REQUEST_ID, trace.id);
    let status = response.status().as_u16();
    span.record("http.response.status_code", status);
    let refusing = response.extensions().get::<Refusing>().copied();
    let took = since.elapsed();
    server.metrics.answered(row, status, refusing, took);
    response
}

async fn take<S: State>(
    server: &Inner<S>,
    request: Request,
    since: Instant,
    row: &mut Row,
) -> Result<Response, Stop> {
    let (head, body) = request.into_parts();
    let own = Own::of(head.uri.path());
    if let Some((own, _)) = own
        && own.is_public(server)
    {
        *row = Row::Own(own);
        if let Err(stop) = own.takes(&head.method) {
            return Err(limits::refuse(&head.headers, body, stop).await);
        }
        return Ok(match own {
            Own::Health => own::health(),
            Own::Metrics => own::metrics(server),
            Own::OpenApi => own::openapi(server),
            Own::Ready | Own::Call | Own::Settle => own::ready(server),
        });
    }
    if let Err(stop) = gate(server) {
        return Err(limits::refuse(&head.headers, body, stop).await);
    }
    // Before the body: whoever is nobody takes no memory.
    let caller = match limits::head(&head) {
        Ok(()) => server.ask.caller(&head).await,
        Err(stop) => Err(stop),
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(stop) => return Err(limits::refuse(&head.headers, body, stop).await),
    };
    let body = limits::body(&head.headers, body, server.most_body_bytes).await?;
    server
        .metrics
        .request_bytes
        .fetch_add(body.len() as u64, Relaxed);
    Span::current().record("link.caller", caller.as_str());
    server.engine.touch(&caller);
    let asked = Asked {
        head: &head,
        body: &body,
        since,
        row,
    };
    let answered = take_from(server, &caller, asked, own).await;
    let mut response = answered.unwrap_or_else(Stop::into_response);
    let headers = response.headers_mut();
    server.names.say_caller(headers, &caller);
    // After the write, so that it is no less than what this reply shows.
    server.names.say_position(headers, server.engine.position());
    Ok(response)
}

async fn take_from<S: State>(
    server: &Inner<S>,
    caller: &Caller,
    asked: Asked<'_>,
    own: Option<(Own, &str)>,
) -> Result<Response, Stop> {
    let Asked { head, body, .. } = asked;
    let (names, headers) = (&server.names, &head.headers);
    is_the_callers(server, caller, headers)?;
    if let Some((own, id)) = own {
        *asked.row = Row::Own(own);
        own.takes(&head.method)?;
        paced(server, caller)?;
        return take_own(server, caller, own, id, headers).await;
    }
    let with_id = call::of(names, caller, head, body)?;
    if let Some(call) = &with_id {
        Span::current().record("link.call", call.id.as_str());
        if let Some(known) = server.engine.look(call)? {
            // Where it goes does not matter any more; it is counted there all the same.
            if let Ok(found) = server.routes.find(&head.method, head.uri.path()) {
                *asked.row = Row::Route(found.index);
            }
            return became(server, known, WRITTEN_WITHIN).await;
        }
    }
    fits(server, headers)?;
    paced(server, caller)?;
    let found = server.routes.find(&head.method, head.uri.path())?;
    *asked.row = Row::Route(found.index);
    let (engine, route) = (&server.engine, found.handler.route);
    Span::current().record("http.route", route.path);
    let left = left(server, headers, asked.since)?;
    let input = Input {
        path: &found.path,
        query: head.uri.query().unwrap_or_default(),
        body,
    };
    match found.handler.run {
        Run::Query(run) => {
            let reply = engine.read(route, caller, |state, cx| {
                run(state, &cx.within(left), &input)
            })?;
            Ok(replied(server, reply))
        }
        Run::Signal(run) => {
            let sent = sent(server, headers)?;
            let said = engine.read(route, caller, |state, cx| {
                run(state, &cx.within(left), &input)
            })?;
            let reply = said.reply.clone();
            engine.hear(caller, said, sent);
            Ok(replied(server, reply))
        }
        Run::Command(run) => {
            let within = left.map_or(WRITTEN_WITHIN, |left| left.min(WRITTEN_WITHIN));
            let acks = call::acks(names, headers)?;
            if let Some(call) = with_id {
                let known = engine.command(route, run, call, acks, &input);
                return became(
                    server,
                    known.inspect_err(|halt| count(server, halt))?,
                    within,
                )
                .await;
            }
            let call = call::unnamed(caller, head, body)?;
            let id = call.id.clone();
            let known = engine.command(route, run, call, acks, &input)?;
            let answered = became(server, known, within).await;
            let answered = answered.map_err(|stop| stop.and_named(&names.call, &id));
            let mut response = answered.unwrap_or_else(Stop::into_response);
            names.say_call(response.headers_mut(), &id);
            Ok(response)
        }
        Run::Stream(run) => {
            let live = engine.tail(route, caller, |state, cx| run(state, cx, &input))?;
            let held = server.metrics.hold(|metrics| &metrics.streams);
            let draining = server.draining.subscribe();
            Ok(stream::response(route, live, draining, held))
        }
    }
}

/// A path of the server's own that needs a caller.
async fn take_own<S: State>(
    server: &Inner<S>,
    caller: &Caller,
    own: Own,
    id: &str,
    headers: &HeaderMap,
) -> Result<Response, Stop> {
    match own {
        Own::Health => return Ok(own::health()),
        Own::Ready => return Ok(own::ready(server)),
        Own::Metrics => return Ok(own::metrics(server)),
        Own::OpenApi => return Ok(own::openapi(server)),
        Own::Call | Own::Settle => {}
    }
    let id = percent_encoding::percent_decode_str(id).decode_utf8();
    let id = id.ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
        let detail = "a call ID is 1 to 128 visible ASCII characters without a comma";
        Stop::code(Code::BadRequest, detail)
    })?;
    let origin = call::origin(&server.names, headers, &id)?;
    let engine = &server.engine;
    let fate = if own == Own::Settle {
        engine.settle(caller, &id, origin, WRITTEN_WITHIN).await?
    } else {
        engine.fate(caller, &id, origin)?
    };
    reply::of(&fate)
}

/// 403, when the request names another caller than its credentials do.
fn is_the_callers<S: State>(
    server: &Inner<S>,
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<(), Stop> {
    match one(headers, &server.names.caller)? {
        Some(named) if named != caller.as_str() => Err(Stop::code(
            Code::OtherCaller,
            "the credentials are those of another caller than the request names: it was not \
             looked up, and did not run",
        )),
        _ => Ok(()),
    }
}

/// 503 from the moment at which the server stops or has failed.
fn gate<S: State>(server: &Inner<S>) -> Result<(), Stop> {
    if let Some(what) = &server.fault {
        return Err(Stop::code(Code::Failed, what.as_str()));
    }
    if *server.draining.borrow() {
        return Err(Stop::code(Code::Unavailable, "the server stops").and_close());
    }
    if !server.engine.is_open() {
        return Err(Stop::code(
            Code::Unavailable,
            "the server takes no calls until it is restarted",
        ));
    }
    Ok(())
}

/// 429, when the caller sends more than it may.
fn paced<S: State>(server: &Inner<S>, caller: &Caller) -> Result<(), Stop> {
    let Some(rate) = &server.rate else {
        return Ok(());
    };
    rate.take(caller, Instant::now()).map_err(|after| {
        let detail = "the caller sends too many requests: this one did not run";
        Stop::code(Code::TooFast, detail).and_again(after)
    })
}

/// What is left of the caller's budget, if it says it. 503 when nothing is: nobody waits for it.
fn left<S: State>(
    server: &Inner<S>,
    headers: &HeaderMap,
    since: Instant,
) -> Result<Option<Duration>, Stop> {
    let name = &server.names.budget;
    let Some(text) = one(headers, name)? else {
        return Ok(None);
    };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let millis = text.parse().ok().filter(|_| digits);
    let budget = Duration::from_millis(millis.ok_or_else(|| bad(name, "it is milliseconds"))?);
    match budget.checked_sub(since.elapsed()) {
        Some(left) if !left.is_zero() => Ok(Some(left)),
        _ => Err(Stop::code(
            Code::Busy,
            "the budget of the call was over before it was looked at: it did not run",
        )),
    }
}

fn sent<S: State>(server: &Inner<S>, headers: &HeaderMap) -> Result<Option<Sent>, Stop> {
    let name = &server.names.sent;
    let Some(text) = one(headers, name)? else {
        return Ok(None);
    };
    Sent::parse(text)
        .map(Some)
        .ok_or_else(|| bad(name, "it is LINK.NUMBER"))
}

/// 412, when the client speaks another line of the wire. A client that does not say may pass.
fn fits<S: State>(server: &Inner<S>, headers: &HeaderMap) -> Result<(), Stop> {
    let name = &server.names.build;
    let Some(text) = one(headers, name)? else {
        return Ok(());
    };
    let client = Build::parse(text).ok_or_else(|| bad(name, "it does not begin with a line"))?;
    let who = match client.fits_server(&server.service.build) {
        Fit::Fits => return Ok(()),
        Fit::ClientOld => "the client is too old",
        Fit::ServerOld => "the server is too old",
        Fit::Unreadable => "the server does not know its own line",
    };
    let detail = format!(
        "the client speaks {}, the server {}: {who}",
        client.line, server.service.build.line
    );
    Err(Stop::code(Code::OtherBuild, detail))
}

fn count<S: State>(server: &Inner<S>, halt: &Halt) {
    if matches!(halt, Halt::Forgotten | Halt::RolledBack) {
        server.metrics.repeat(Repeat::Forgotten);
    }
}

/// What became of a call, as soon as it is written.
async fn became<S: State>(
    server: &Inner<S>,
    known: Known,
    within: Duration,
) -> Result<Response, Stop> {
    let (written, repeat) = match known {
        Known::Kept(written) => (written, Repeat::Kept),
        Known::Pending(queued) => {
            let written = queued.written(within).await?;
            let repeat = if written.is_repeat() {
                Repeat::Waited
            } else {
                Repeat::New
            };
            (written, repeat)
        }
        Known::RefusedThin { status, code } => (refused_before(status, code), Repeat::Kept),
        Known::Cancelled => (cancelled_before(), Repeat::Cancelled),
        Known::Reused => {
            server.metrics.repeat(Repeat::Reused);
            let detail = "the call ID was used for another method, path or body";
            return Err(Stop::code(Code::CallReused, detail));
        }
        Known::ReplyForgotten => {
            server.metrics.repeat(Repeat::Forgotten);
            let detail = "the command ran, and its reply is no longer kept";
            return Err(Stop::code(Code::ReplyForgotten, detail));
        }
    };
    server.metrics.repeat(repeat);
    Span::current().record("link.repeat", written.is_repeat());
    if let Outcome::Reply(reply) = written.outcome() {
        said(server, reply);
    }
    Ok(server.names.written(&written))
}

fn replied<S: State>(server: &Inner<S>, reply: Reply) -> Response {
    said(server, &reply);
    reply::json(reply)
}

fn said<S: State>(server: &Inner<S>, reply: &Reply) {
    let bytes = reply.json().len() as u64;
    server.metrics.response_bytes.fetch_add(bytes, Relaxed);
}
