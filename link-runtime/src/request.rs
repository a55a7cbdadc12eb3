//! An API over a link, and one request of it: what is fixed before the first try.

use std::{
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use link_wire::{CallId, Kind, OutboxRule, Route, Service};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;
use url::Url;

use crate::{
    auth::{Credentials, Shown, TokenError},
    budget::Deadline,
    call::{Call, CommandCall, PendingCall},
    link::{Known, Link},
    outbox::{Entry, Outbox, Queue},
    outcome::{Cause, Evidence, Judge},
    stream::EventStream,
    transport::Outgoing,
};

/// All but the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// One caller's way to one service over a link. Generated clients wrap it.
#[derive(Debug, Clone)]
pub struct Api {
    link: Link,
    credentials: Credentials,
    known: Arc<Known>,
    service: &'static Service,
    outbox: Option<Outboxed>,
}

/// An outbox, and the queue in it of one caller.
#[derive(Debug, Clone)]
struct Outboxed {
    outbox: Outbox,
    queue: Arc<Queue>,
}

impl Api {
    /// The API of `service` over `link`, for the caller that `credentials` prove.
    pub fn new(link: Link, credentials: Credentials, service: &'static Service) -> Self {
        Self {
            known: link.known(&credentials),
            link,
            credentials,
            service,
            outbox: None,
        }
    }

    /// The same API, whose commands stand in an outbox until they have a reply. What earlier
    /// processes of the same caller have left in it is sent from now on, where this is called
    /// inside of a tokio runtime, or else with the first command.
    #[must_use]
    pub fn with_outbox(mut self, outbox: &Outbox) -> Self {
        let proof = self.credentials.proof();
        let queue = outbox.queue(self.service.name, self.link.base(), &proof);
        self.outbox = Some(Outboxed {
            outbox: outbox.clone(),
            queue: Arc::clone(&queue),
        });
        queue.wake(&self);
        self
    }

    /// The outbox, if it has one.
    pub fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref().map(|of| &of.outbox)
    }

    /// Sends what waits in the outbox for this caller, what other processes have left there too,
    /// for so long at most. Gives how many commands still wait: none without an outbox.
    pub async fn flush_outbox(&self, within: Duration) -> usize {
        let Some(queue) = self.queue() else {
            return 0;
        };
        queue.look_again();
        queue.wake(self);
        // What is left is counted, whether the time was over or not.
        let _ = timeout(within, queue.is_empty()).await;
        queue.waiting()
    }

    /// The queue of the outbox.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        self.outbox.as_ref().map(|of| &of.queue)
    }

    /// The link, with its state and its counters.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// A request of `route`, which is one of the service's.
    pub fn request(&self, route: &'static Route) -> Request {
        Request {
            api: self.clone(),
            route,
            path: Vec::new(),
            query: String::new(),
            body: None,
            about: None,
            stored: None,
            fault: None,
        }
    }

    /// A command as it stands in the outbox, byte for byte.
    pub(crate) fn stored(&self, entry: &Entry) -> Request {
        static STORED: Route = Route {
            name: "outbox",
            kind: Kind::Command,
            method: "POST",
            path: "/",
            budget: None,
            outbox: OutboxRule::Keep,
            line: 0,
        };
        Request {
            stored: Some(Box::new(entry.clone())),
            ..self.request(&STORED)
        }
    }

    /// A request that asks about a command. The path has the parameter `call`.
    pub(crate) fn about(&self, route: &'static Route, call: &PendingCall) -> Request {
        let request = self.request(route).path("call", &call.id);
        Request {
            about: Some(Box::new(call.clone())),
            ..request
        }
    }
}

/// Why a try can show nothing of its caller.
pub(crate) enum NotShown {
    /// Nobody has a token, nor will.
    Ends(Cause),
    /// There may be one later.
    Later(Cause),
    /// There was none in time.
    Late(Cause),
}

/// One request of one route, before it is sent.
///
/// What is wrong with it (a path value that is empty, a body that is no JSON) is told where it
/// is awaited, as a call that was not sent.
#[derive(Clone)]
pub struct Request {
    api: Api,
    route: &'static Route,
    /// Name and encoded value of each path parameter that was set.
    path: Vec<(&'static str, String)>,
    query: String,
    body: Option<Bytes>,
    /// The command that it asks about.
    about: Option<Box<PendingCall>>,
    /// The command of the outbox that it is.
    stored: Option<Box<Entry>>,
    /// The first thing that is wrong with it.
    fault: Option<String>,
}

impl Request {
    /// Sets the path parameter `name`. The value stands as one segment, percent-encoded.
    ///
    /// An empty value, `.` and `..` would make another path, and are at fault.
    #[must_use]
    pub fn path(mut self, name: &'static str, value: &dyn Display) -> Self {
        let value = value.to_string();
        if matches!(value.as_str(), "" | "." | "..") {
            self.blame(|| format!("the path parameter `{name}` is {value:?}"));
        } else if !self.route.path.contains(&format!("{{{name}}}")) {
            self.blame(|| format!("the path has no parameter `{name}`"));
        }
        self.path
            .push((name, utf8_percent_encode(&value, SEGMENT).to_string()));
        self
    }

    /// Adds the fields of `query` to the query of the URL, as
    /// `application/x-www-form-urlencoded`. A field that is `None` is left out.
    #[must_use]
    pub fn query<T: Serialize + ?Sized>(mut self, query: &T) -> Self {
        match serde_urlencoded::to_string(query) {
            Ok(text) if text.is_empty() => {}
            Ok(text) if self.query.is_empty() => self.query = text,
            Ok(text) => {
                self.query.push('&');
                self.query.push_str(&text);
            }
            Err(error) => self.blame(|| format!("the query: {error}")),
        }
        self
    }

    /// Sets the body, as JSON. Each try sends these bytes.
    #[must_use]
    pub fn body<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        match serde_json::to_vec(body) {
            Ok(json) => self.body = Some(json.into()),
            Err(error) => self.blame(|| format!("the body: {error}")),
        }
        self
    }

    /// A query or a signal, whose reply is an `R`.
    pub fn call<R: DeserializeOwned + Send + 'static>(self) -> Call<R> {
        Call::new(self.of_kind(&[Kind::Query, Kind::Signal]))
    }

    /// A command, whose reply is an `R`. Its call ID is made here, so each call of this is a
    /// command of its own.
    pub fn command<R: DeserializeOwned + Send + 'static>(self) -> CommandCall<R> {
        let mut request = self.of_kind(&[Kind::Command]);
        let mut bytes = [0; 16];
        if let Err(error) = getrandom::fill(&mut bytes) {
            request.blame(|| format!("no randomness for a call ID: {error}"));
        }
        CommandCall::new(request, CallId::from_bytes(bytes))
    }

    /// A stream of events `E`, without a cursor: see [`EventStream::ordered`].
    pub fn stream<E: DeserializeOwned + Send + 'static>(self) -> EventStream<E> {
        EventStream::new(self.of_kind(&[Kind::Stream]))
    }

    pub(crate) fn link(&self) -> &Link {
        &self.api.link
    }

    pub(crate) fn route(&self) -> &'static Route {
        self.route
    }

    pub(crate) fn service(&self) -> &'static Service {
        self.api.service
    }

    /// What is known of the caller.
    pub(crate) fn known(&self) -> &Arc<Known> {
        &self.api.known
    }

    /// The command that it asks about.
    pub(crate) fn asks_about(&self) -> Option<&PendingCall> {
        self.about.as_deref()
    }

    /// The same question, with what the outbox knows of the command.
    pub(crate) fn asks_of(mut self, entry: &Entry) -> Self {
        if let Some(about) = &mut self.about {
            about.seen = about.seen.or(entry.seen);
            about.caller = about.caller.take().or_else(|| entry.caller.clone());
        }
        self
    }

    /// The API that it is of.
    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// The command of the outbox that it is.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        self.stored.as_deref()
    }

    /// Takes what was seen of a try: it is counted, and what the reply says of the log and of the
    /// caller is noted. A reply that is not our server's says nothing.
    pub(crate) fn saw(&self, evidence: &Evidence) {
        if let (Evidence::Head(head), Some(queue)) = (evidence, self.api.queue())
            && let Some(seen) = head.log
        {
            queue.saw_log(seen);
        }
        if let Evidence::Head(head) = evidence
            && let Some(caller) = &head.caller
        {
            self.known().saw(caller);
            if let Some(queue) = self.api.queue() {
                queue.saw(caller);
            }
        }
        self.link().count_try(evidence);
    }

    pub(crate) fn judge(&self) -> Judge {
        Judge {
            service: self.service().name,
            ours: self.service().build,
        }
    }

    /// What each try sends, without the headers of a single try: [`prove`](Self::prove) is one.
    pub(crate) fn outgoing(&self) -> Result<Outgoing, Cause> {
        let invalid = |why: String| Cause::Invalid { why };
        if let Some(fault) = &self.fault {
            return Err(invalid(fault.clone()));
        }
        if let Some(entry) = &self.stored {
            let url = format!("{}{}", self.link().base(), entry.path);
            let body = entry.body.clone().map(Bytes::from);
            return Ok(Outgoing {
                method: Method::from_bytes(entry.method.as_bytes())
                    .map_err(|error| invalid(error.to_string()))?,
                url: Url::parse(&url).map_err(|error| invalid(format!("{url}: {error}")))?,
                headers: self.headers(body.is_some())?,
                body,
            });
        }
        let method = Method::from_bytes(self.route.method.as_bytes())
            .map_err(|error| invalid(error.to_string()))?;
        let url = self.url().map_err(invalid)?;
        Ok(Outgoing {
            method,
            url,
            headers: self.headers(self.body.is_some())?,
            body: self.body.clone(),
        })
    }

    fn headers(&self, body: bool) -> Result<HeaderMap, Cause> {
        let service = self.service();
        let mut headers = HeaderMap::new();
        set(
            &mut headers,
            service.headers.build,
            service.build.to_string(),
        )?;
        let stream = self.route.kind == Kind::Stream;
        headers.insert(header::ACCEPT, if stream { EVENTS } else { JSON });
        if body {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        Ok(headers)
    }

    /// What the next try shows of its caller.
    pub(crate) async fn shown(&self, deadline: Deadline) -> Result<Shown, NotShown> {
        let credentials = &self.api.credentials;
        let invalid = |why: &str| NotShown::Ends(Cause::Invalid { why: why.into() });
        if let Some(shown) = credentials.at_once().map_err(invalid)? {
            return Ok(shown);
        }
        match timeout(deadline.left(), credentials.asked()).await {
            Ok(Ok(shown)) => Ok(shown),
            Ok(Err(TokenError::Never { why })) => Err(NotShown::Ends(Cause::Token { why })),
            Ok(Err(TokenError::Later { why })) => Err(NotShown::Later(Cause::Token { why })),
            Err(_) => Err(NotShown::Late(Cause::Token {
                why: "nobody gave one in time".into(),
            })),
        }
    }

    /// After a reply that does not know who calls: whether another token is there to be shown.
    pub(crate) async fn renew(
        &self,
        shown: &Shown,
        evidence: &Evidence,
        deadline: Deadline,
    ) -> bool {
        let unknown = matches!(evidence, Evidence::Head(head)
            if head.server.is_some() && head.status == 401 && head.refused.is_none());
        if !unknown || !shown.can_be_renewed() {
            return false;
        }
        let renewed = timeout(deadline.left(), self.api.credentials.renew(shown)).await;
        match renewed {
            Ok(Ok(renewed)) => renewed,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the server does not know the token any more");
                false
            }
            Err(_) => false,
        }
    }

    fn url(&self) -> Result<Url, String> {
        let mut path = self.route.path.to_owned();
        for (name, value) in &self.path {
            path = path.replace(&format!("{{{name}}}"), value);
        }
        if let Some((_, rest)) = path.split_once('{') {
            let name = rest.split('}').next().unwrap_or(rest);
            return Err(format!("the path parameter `{name}` is not set"));
        }
        let mut url = format!("{}{path}", self.link().base());
        if !self.query.is_empty() {
            url.push('?');
            url.push_str(&self.query);
        }
        Url::parse(&url).map_err(|error| format!("{url}: {error}"))
    }

    fn of_kind(mut self, kinds: &[Kind]) -> Self {
        let Route { name, kind, .. } = *self.route;
        if !kinds.contains(&kind) {
            self.blame(|| format!("`{name}` is a {kind}, and is used as something else"));
        }
        self
    }

    fn blame(&mut self, why: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(why);
    }
}

/// Sets a header whose name and value come from a service table or from this crate.
pub(crate) fn set(
    headers: &mut HeaderMap,
    name: &'static str,
    value: impl AsRef<str>,
) -> Result<(), Cause> {
    let invalid = || Cause::Invalid {
        why: format!("the header `{name}` cannot be sent"),
    };
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
    let value = HeaderValue::from_str(value.as_ref()).map_err(|_| invalid())?;
    headers.insert(header, value);
    Ok(())
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} over {:?})", self.route.name, self.api.link)
    }
}

#[cfg(test)]
mod tests;
