//! The table of handlers: what generated code builds, one per route, and the doors it goes through.

use std::{any::Any, fmt, sync::Arc};

use link_wire::{Kind, PathValue, Route};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use crate::{Accepted, Cx, Events, Record, Refusal, State};

/// The shape of a query's handler: it reads the written state.
pub type QueryFn<S> = fn(&S, &Cx<'_>, &Input<'_>) -> Result<Reply, No>;
/// The shape of a signal's handler: it reads the written state and hands over what was said.
pub type SignalFn<S> = fn(&S, &Cx<'_>, &Input<'_>) -> Result<Heard, No>;
/// The shape of a command's handler: it decides against all that is decided so far.
pub type CommandFn<S> = fn(&S, &Cx<'_>, &Input<'_>) -> Result<Decision<<S as State>::Change>, No>;
/// The shape of a stream's handler: it says what each record means to the reader.
pub type StreamFn<S> = fn(&S, &Cx<'_>, &Input<'_>) -> Result<Projection<<S as State>::Change>, No>;

/// The handler of one route.
///
/// Handlers are pure: the same state, context and input give the same answer. In a debug build
/// each command is decided twice, and one that differs fails.
///
/// They must be short, the making of the reply's JSON included: they run on a worker thread, a
/// command while no other command is decided, and all others while no write can be shown. So no
/// input and output, no waiting, and pages instead of lists without an end.
pub struct Handler<S: State> {
    pub(crate) route: &'static Route,
    pub(crate) run: Run<S>,
}

pub(crate) enum Run<S: State> {
    Query(QueryFn<S>),
    Signal(SignalFn<S>),
    Command(CommandFn<S>),
    Stream(StreamFn<S>),
}

impl<S: State> Handler<S> {
    /// The handler of a query.
    pub fn query(route: &'static Route, run: QueryFn<S>) -> Self {
        Self {
            route,
            run: Run::Query(run),
        }
    }

    /// The handler of a signal.
    pub fn signal(route: &'static Route, run: SignalFn<S>) -> Self {
        Self {
            route,
            run: Run::Signal(run),
        }
    }

    /// The handler of a command.
    pub fn command(route: &'static Route, run: CommandFn<S>) -> Self {
        Self {
            route,
            run: Run::Command(run),
        }
    }

    /// The handler of a stream.
    pub fn stream(route: &'static Route, run: StreamFn<S>) -> Self {
        Self {
            route,
            run: Run::Stream(run),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.run {
            Run::Query(_) => Kind::Query,
            Run::Signal(_) => Kind::Signal,
            Run::Command(_) => Kind::Command,
            Run::Stream(_) => Kind::Stream,
        }
    }
}

impl<S: State> fmt::Debug for Handler<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handler({} {})", self.kind(), self.route.name)
    }
}

/// What a request says: its path, query and body, still to be decoded.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The values of the path, percent-decoded.
    pub(crate) path: &'a [(&'static str, String)],
    pub(crate) query: &'a str,
    pub(crate) body: &'a [u8],
}

impl Input<'_> {
    /// A value of the path.
    ///
    /// # Errors
    /// 400 `bad_request` with the name of the parameter when its text is no `T`.
    pub fn path<T: PathValue>(&self, name: &str) -> Result<T, No> {
        let Some((_, value)) = self.path.iter().find(|(known, _)| *known == name) else {
            return Err(No::Failed(format!(
                "the route has no path parameter `{name}`"
            )));
        };
        T::from_segment(value)
            .map_err(|why| No::BadInput(format!("the path parameter `{name}`: {why}")))
    }

    /// The query, `name=value` pairs (`application/x-www-form-urlencoded`).
    ///
    /// # Errors
    /// 400 `bad_request` when it is no `T`.
    pub fn query<T: DeserializeOwned>(&self) -> Result<T, No> {
        serde_urlencoded::from_str(self.query)
            .map_err(|why| No::BadInput(format!("the query: {why}")))
    }

    /// The body, JSON. Its content type is not looked at.
    ///
    /// # Errors
    /// 400 `bad_request` when it is no `T`.
    pub fn body<T: DeserializeOwned>(&self) -> Result<T, No> {
        serde_json::from_slice(self.body).map_err(|why| No::BadInput(format!("the body: {why}")))
    }
}

/// Why a handler gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum No {
    /// The handler said no.
    Refused(Refusal),
    /// The request cannot be decoded: 400 `bad_request`, with this text.
    BadInput(String),
    /// The handler is at fault: 500 `failed`. This text is for the log only.
    Failed(String),
}

impl From<Refusal> for No {
    fn from(refusal: Refusal) -> Self {
        if refusal.has_a_code() {
            Self::Refused(refusal)
        } else {
            Self::Failed(format!(
                "the code of a refusal is 1 to 64 of a-z, 0-9 and _, this one is {:?}",
                refusal.code()
            ))
        }
    }
}

/// A reply: JSON that is sent, kept and given again byte for byte.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reply(pub(crate) Arc<RawValue>);

impl Reply {
    pub(crate) fn json(&self) -> &str {
        self.0.get()
    }
}

impl AsRef<[u8]> for Reply {
    fn as_ref(&self) -> &[u8] {
        self.json().as_bytes()
    }
}

/// A signal that was answered, and what it said.
pub struct Heard {
    pub(crate) reply: Reply,
    pub(crate) body: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heard")
            .field("reply", &self.reply)
            .finish_non_exhaustive()
    }
}

/// A command's yes in the shape in which it is logged.
#[derive(Debug)]
pub struct Decision<C> {
    pub(crate) changes: Vec<Changed<C>>,
    pub(crate) reply: Reply,
}

/// A change as JSON, and as that JSON reads back.
#[derive(Debug)]
pub(crate) struct Changed<C> {
    pub(crate) json: Box<RawValue>,
    pub(crate) change: C,
}

/// One event, as it stands in a stream: the cursor, if it has one, and its JSON.
pub(crate) struct Event {
    pub(crate) cursor: Option<u64>,
    pub(crate) json: Box<RawValue>,
}

pub(crate) type ProjectFn<C> =
    Box<dyn Fn(&Record<C>) -> Option<Result<Event, serde_json::Error>> + Send + Sync>;

/// A stream that was opened: what each record means to its reader, as JSON.
pub struct Projection<C> {
    pub(crate) cursor: Option<u64>,
    pub(crate) project: ProjectFn<C>,
}

impl<C> fmt::Debug for Projection<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection")
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

/// What a query's handler says, as it is sent.
///
/// # Errors
/// The refusal; or a failure, when the reply cannot be JSON.
pub fn reply<R: Serialize>(answer: Result<R, Refusal>) -> Result<Reply, No> {
    let raw = to_raw_value(&answer?).map_err(|why| No::Failed(format!("the reply: {why}")))?;
    Ok(Reply(raw.into()))
}

/// What a signal's handler says, with the signal itself.
///
/// # Errors
/// As [`reply`]. A signal that was refused is not kept.
pub fn heard<R: Serialize, T: Send + Sync + 'static>(
    answer: Result<R, Refusal>,
    body: T,
) -> Result<Heard, No> {
    Ok(Heard {
        reply: reply(answer)?,
        body: Arc::new(body),
    })
}

/// What a command's handler decides, as it is logged.
///
/// Each change is read back from its JSON, and that is what is applied: a change that a restart
/// would read differently, or not at all, shows now.
///
/// # Errors
/// The refusal; or a failure, when a change or the reply cannot be JSON, or does not read back.
pub fn decision<C: Serialize + DeserializeOwned, R: Serialize>(
    answer: Result<Accepted<C, R>, Refusal>,
) -> Result<Decision<C>, No> {
    let accepted = answer?;
    let reply = reply(Ok(accepted.reply))?;
    let changes = accepted.changes.iter().map(|change| {
        let json = to_raw_value(change).map_err(|why| No::Failed(format!("the change: {why}")))?;
        let change = serde_json::from_str(json.get())
            .map_err(|why| No::Failed(format!("the change does not read back: {why}")))?;
        Ok(Changed { json, change })
    });
    Ok(Decision {
        changes: changes.collect::<Result<_, No>>()?,
        reply,
    })
}

/// What a stream's handler says, as it is sent. `cursor` reads the cursor of an event.
///
/// # Errors
/// The refusal.
pub fn projection<C: 'static, E: Serialize + 'static>(
    answer: Result<Events<C, E>, Refusal>,
    cursor: Option<fn(&E) -> u64>,
) -> Result<Projection<C>, No> {
    let Events {
        cursor: start,
        project,
    } = answer?;
    let project = move |record: &Record<C>| {
        let event = project(record)?;
        let json = to_raw_value(&event);
        Some(json.map(|json| Event {
            cursor: cursor.map(|of| of(&event)),
            json,
        }))
    };
    Ok(Projection {
        cursor: start,
        project: Box::new(project),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Ratio {
        of: f64,
    }

    #[test]
    fn a_change_that_does_not_read_back_fails_and_is_not_logged() {
        assert!(decision(Ok(Accepted::new(Ratio { of: 0.5 }, ()))).is_ok());
        let no = decision(Ok(Accepted::new(Ratio { of: f64::NAN }, ()))).unwrap_err();
        assert!(
            matches!(no, No::Failed(ref text) if text.contains("does not read back")),
            "{no:?}"
        );
    }

    #[test]
    fn a_refusal_without_a_proper_code_is_the_handlers_fault() {
        let no = reply::<()>(Err(Refusal::conflict("Not A Code", ""))).unwrap_err();
        assert!(
            matches!(no, No::Failed(ref text) if text.contains("Not A Code")),
            "{no:?}"
        );
    }

    #[test]
    fn bad_input_names_what_it_is_in() {
        let path = [("item", "x".to_owned())];
        let input = Input {
            path: &path,
            query: "n=1&n=2",
            body: b"{",
        };
        assert_eq!(input.path::<String>("item").unwrap(), "x");
        for (no, word) in [
            (input.path::<u64>("item").unwrap_err(), "`item`"),
            (input.query::<Ratio>().unwrap_err(), "query"),
            (input.body::<Ratio>().unwrap_err(), "body"),
        ] {
            assert!(
                matches!(no, No::BadInput(ref text) if text.contains(word)),
                "{no:?}"
            );
        }
    }
}
