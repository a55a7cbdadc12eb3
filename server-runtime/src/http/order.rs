//! The order in which a request is looked at, as one function that reads from top to bottom.
//!
//! A known call is answered before the build check and the routing: a retry of a command that ran
//! gets its reply even from a server that has moved its route or raised its line.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use axum::{extract::Request, response::Response};
use http::{HeaderMap, HeaderName, Method, header::AUTHORIZATION, request::Parts};
use link_wire::{Build, CallId, Caller, Code, Fit};

use super::{
    Inner, limits, reply,
    reply::{Names, Stop},
    stream,
};
use crate::{
    Input, State,
    engine::calls::{Call, Fingerprint, Known},
    handler::Run,
    presence::Sent,
};

/// How long a try of a command waits for the write; then it is told to come again.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);
/// What other services call the header of a call ID.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Answers a request. Every answer has the build stamp.
pub(super) async fn answer<S: State>(server: &Inner<S>, request: Request) -> Response {
    let answered = take(server, request).await;
    let mut response = answered.unwrap_or_else(Stop::into_response);
    server.names.stamp(response.headers_mut());
    response
}

async fn take<S: State>(server: &Inner<S>, request: Request) -> Result<Response, Stop> {
    let (head, body) = request.into_parts();
    if let Err(stop) = gate(server) {
        return Err(limits::refuse(&head.headers, body, stop).await);
    }
    let body = limits::body(&head.headers, body, server.most_body_bytes).await?;
    limits::head(&head)?;
    let caller = authenticate(server, &head.headers)?;
    server.engine.touch(&caller);
    let answered = take_from(server, &caller, &head, &body).await;
    let mut response = answered.unwrap_or_else(Stop::into_response);
    server.names.say_caller(response.headers_mut(), &caller);
    Ok(response)
}

async fn take_from<S: State>(
    server: &Inner<S>,
    caller: &Caller,
    head: &Parts,
    body: &[u8],
) -> Result<Response, Stop> {
    let call = call(server, caller, head, body)?;
    if let Some(call) = &call
        && let Some(known) = server.engine.look(call)?
    {
        return became(server, known).await;
    }
    fits(server, &head.headers)?;
    let found = server.routes.find(&head.method, head.uri.path())?;
    let query = head.uri.query().unwrap_or_default();
    let input = Input {
        path: &found.path,
        query,
        body,
    };
    let (engine, route) = (&server.engine, found.handler.route);
    match found.handler.run {
        Run::Query(run) => {
            let reply = engine.read(route, caller, |state, cx| run(state, cx, &input))?;
            Ok(reply::json(reply))
        }
        Run::Signal(run) => {
            let sent = sent(server, &head.headers)?;
            let said = engine.read(route, caller, |state, cx| run(state, cx, &input))?;
            let reply = said.reply.clone();
            engine.hear(caller, said, sent);
            Ok(reply::json(reply))
        }
        Run::Command(run) => {
            if let Some(call) = call {
                return became(server, engine.command(route, run, call, &input)?).await;
            }
            let (names, call) = (&server.names, unnamed(&server.names, caller, head, body)?);
            let id = call.id.clone();
            let known = engine.command(route, run, call, &input)?;
            let answered = became(server, known).await;
            let answered = answered.map_err(|stop| stop.and_named(&names.call, &id));
            let mut response = answered.unwrap_or_else(Stop::into_response);
            names.say_call(response.headers_mut(), &id);
            Ok(response)
        }
        Run::Stream(run) => {
            let live = engine.tail(route, caller, |state, cx| run(state, cx, &input))?;
            Ok(stream::response(route, live, server.draining.subscribe()))
        }
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

/// 401, unless one bearer token names a caller; 500, when the program cannot tell.
fn authenticate<S: State>(server: &Inner<S>, headers: &HeaderMap) -> Result<Caller, Stop> {
    let no = |detail| Stop::code(Code::Unauthenticated, detail);
    let text = one(headers, &AUTHORIZATION)
        .map_err(|_| no("there is more than one authorization header, or one that is not text"))?
        .ok_or_else(|| no("there is no authorization header"))?;
    let bearer = text
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let (_, token) = bearer.ok_or_else(|| no("the authorization header has no bearer token"))?;
    let ask = || server.authenticate.caller(token.trim());
    // It is the program's own, and a panic would end the connection without a reply.
    let caller = catch_unwind(AssertUnwindSafe(ask)).map_err(|_| {
        tracing::error!("to find out who calls panicked");
        Stop::code(Code::Failed, "the server cannot find out who calls")
    })?;
    caller.ok_or_else(|| no("the token is not known"))
}

/// The call that the headers name, if the request can be a command.
fn call<S: State>(
    server: &Inner<S>,
    caller: &Caller,
    head: &Parts,
    body: &[u8],
) -> Result<Option<Call>, Stop> {
    if head.method == Method::GET || head.method == Method::HEAD {
        return Ok(None);
    }
    let (name, headers) = (&server.names.call, &head.headers);
    let attempt = attempt(&server.names.attempt, headers)?;
    let Some(id) = one(headers, name)? else {
        return Ok(None);
    };
    let id: CallId = id.parse().map_err(|why| bad(name, why))?;
    Ok(Some(Call {
        caller: caller.clone(),
        id,
        fingerprint: fingerprint(head, body),
        attempt,
    }))
}

/// A call for a command that names none: it runs once for this request.
///
/// A sender who names it in the header that others use for this believes that a second request
/// runs nothing. It would, so the first one does not run either.
fn unnamed(names: &Names, caller: &Caller, head: &Parts, body: &[u8]) -> Result<Call, Stop> {
    if head.headers.contains_key(IDEMPOTENCY_KEY) {
        let why = format!("it is not read here: put the key into `{}`", names.call);
        return Err(bad(&HeaderName::from_static(IDEMPOTENCY_KEY), why));
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system gives no random bytes");
        Stop::code(Code::Failed, "no call ID can be made")
    })?;
    let (id, fingerprint) = (CallId::from_bytes(bytes), fingerprint(head, body));
    Ok(Call {
        caller: caller.clone(),
        id,
        fingerprint,
        attempt: 1,
    })
}

fn fingerprint(head: &Parts, body: &[u8]) -> Fingerprint {
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    Fingerprint::of(head.method.as_str(), path, body)
}

fn attempt(name: &HeaderName, headers: &HeaderMap) -> Result<u32, Stop> {
    let Some(text) = one(headers, name)? else {
        return Ok(1);
    };
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && *number >= 1);
    number.ok_or_else(|| bad(name, "a try has a number from 1"))
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

/// What became of a call, as soon as it is written.
async fn became<S: State>(server: &Inner<S>, known: Known) -> Result<Response, Stop> {
    let written = match known {
        Known::Kept(written) => written,
        Known::Pending(queued) => queued.written(WRITTEN_WITHIN).await?,
        Known::Reused => {
            let detail = "the call ID was used for another method, path or body";
            return Err(Stop::code(Code::CallReused, detail));
        }
    };
    Ok(server.names.written(&written))
}

/// The one value of a header, without the spaces and tabs around it.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Stop> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(bad(name, "it stands there more than once"));
    }
    let text = value
        .to_str()
        .map_err(|_| bad(name, "it has bytes that are not visible ASCII"))?;
    Ok(Some(text.trim_matches([' ', '\t'])))
}

fn bad(name: &HeaderName, why: impl std::fmt::Display) -> Stop {
    Stop::code(Code::BadRequest, format!("the header `{name}`: {why}"))
}
