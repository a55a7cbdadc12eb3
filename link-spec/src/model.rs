//! A checked link.toml: names, limits, budgets and routes, each with its place.
//!
//! A [`Spec`] exists only when nothing is wrong with its file, so what reads it asks no more.

use std::{fmt, time::Duration};

pub use crate::source::{At, Place, Source};

/// A link.toml in which nothing is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The text that it was read from.
    pub source: Source,
    /// `[link]`.
    pub link: Link,
    /// `[limits]`, with the defaults for what it leaves out.
    pub limits: Limits,
    /// `[budgets]`, in the order of the file.
    pub budgets: Vec<Budget>,
    /// `[routes]`, in the order of the file. At least one.
    pub routes: Vec<Route>,
}

impl Spec {
    /// The route of this name.
    pub fn route(&self, name: &str) -> Option<&Route> {
        self.routes.iter().find(|route| *route.name == name)
    }

    /// The budget of a route; none for a stream.
    pub fn budget_of(&self, route: &Route) -> Option<&Budget> {
        let name = route.budget.as_ref()?;
        self.budgets
            .iter()
            .find(|budget| budget.name.value == name.value)
    }

    /// How long a call with this budget may take, also when it is the period of the heartbeat.
    pub fn within(&self, budget: &Budget) -> Duration {
        match budget.within {
            Within::Time(time) => time,
            Within::Period => self.limits.alive_every,
        }
    }

    /// The line at which a route begins, from 1.
    pub fn line_of(&self, route: &Route) -> u32 {
        self.source.line(route.place.start)
    }

    /// The TOML of one route, from its header to the end of its last line.
    pub fn toml_of(&self, route: &Route) -> &str {
        self.source.slice(route.table).trim()
    }
}

/// `[link]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What the headers begin with: lower-case letters, digits and `-`.
    pub name: At<String>,
    /// The wire line, `MAJOR.MINOR`.
    pub line: At<String>,
    /// How the server treats calls. `deliver` when the file does not say.
    pub rule: Rule,
}

/// How the server treats calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Our own server: it knows call IDs, and runs a command once.
    Deliver,
    /// A server of someone else, behind an edge.
    Edge,
}

impl Rule {
    /// Both, in the order of their description.
    pub const ALL: [Self; 2] = [Self::Deliver, Self::Edge];

    /// The word of link.toml.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Edge => "edge",
        }
    }
}

/// The limits of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One connect.
    pub connect: Duration,
    /// `try`: one try, to the head of the reply.
    pub attempt: Duration,
    /// The wait before the second try. It doubles.
    pub first_wait: Duration,
    /// The longest wait between two tries.
    pub most_wait: Duration,
    /// The wait before a stream is opened again after a fault.
    pub stream_retry: Duration,
    /// How long a stream may give no byte.
    pub stream_idle: Duration,
    /// After how long a short command shows the line of `down`.
    pub line_after: Duration,
    /// The time between two signs of life.
    pub alive_every: Duration,
    /// How long a server keeps a reply.
    pub call_keep: Duration,
    /// How long the outbox keeps a command; less than `call_keep`.
    pub outbox_keep: Duration,
    /// How many replies a server keeps for a caller, at least 1.
    pub call_keep_most: u32,
}

impl Limits {
    /// What holds for a file without `[limits]`.
    pub const DEFAULT: Self = Self {
        connect: Duration::from_secs(5),
        attempt: Duration::from_secs(20),
        first_wait: Duration::from_millis(250),
        most_wait: Duration::from_secs(5),
        stream_retry: Duration::from_secs(5),
        stream_idle: Duration::from_secs(45),
        line_after: Duration::from_secs(1),
        alive_every: Duration::from_secs(60),
        call_keep: Duration::from_secs(24 * 3600),
        outbox_keep: Duration::from_secs(23 * 3600),
        call_keep_most: 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// An entry of `[budgets]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Its key.
    pub name: At<String>,
    /// From the first try of a call to its end.
    pub within: Within,
    /// The most tries of a call; none for as many as fit. One for a period.
    pub tries: Option<u32>,
}

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Within {
    /// A time.
    Time(Duration),
    /// `"period"`: the time between two signs of life, [`Limits::alive_every`].
    Period,
}

/// An entry of `[routes]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Its key, which is also the name of its method: snake case.
    pub name: At<String>,
    /// What it does.
    pub kind: Kind,
    /// Its HTTP method.
    pub method: Method,
    /// Its path.
    pub path: Path,
    /// The name of its budget, which exists; none for a stream only.
    pub budget: Option<At<String>>,
    /// Whether and how long the outbox keeps it; on a command only.
    pub outbox: Option<At<Outbox>>,
    /// The field of a stream's event that orders it. Stands together with `catch_up`.
    pub cursor: Option<At<String>>,
    /// The query that a stream reads what it missed from.
    pub catch_up: Option<At<String>>,
    /// The wire line that brought the route, `MAJOR.MINOR`.
    pub since: Option<String>,
    /// What to use instead of the route.
    pub deprecated: Option<String>,
    /// The header `[routes.NAME]`, or the key for a route that is written without one.
    pub place: Place,
    /// All lines of the route.
    pub(crate) table: Place,
}

/// What a route does, and so what a retry of it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads. Safe to send again.
    Query,
    /// Says something of the moment; the newest wins. Safe to send again.
    Signal,
    /// Changes what is logged. Sent again under its call ID, and run once.
    Command,
    /// Events from the server, resumed for ever.
    Stream,
}

impl Kind {
    /// All four, in the order of their description.
    pub const ALL: [Self; 4] = [Self::Query, Self::Signal, Self::Command, Self::Stream];

    /// The word of link.toml.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Signal => "signal",
            Self::Command => "command",
            Self::Stream => "stream",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The HTTP method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`: safe, and its request has no body.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Method {
    /// All methods that a route can have.
    pub const ALL: [Self; 5] = [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// The method as it goes over the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The path of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// As it is written, `/v1/items/{item}/claim`.
    pub text: String,
    /// Its parts between the slashes. None for `/`.
    pub segments: Vec<Segment>,
    /// Where it stands, behind the method.
    pub place: Place,
}

impl Path {
    /// Its parameters, in their order.
    pub fn params(&self) -> impl Iterator<Item = &At<String>> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Param(name) => Some(name),
            Segment::Literal(_) => None,
        })
    }
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Matches itself: ASCII letters and digits and `-._~:@`.
    Literal(String),
    /// `{name}`: matches any segment that is not empty. A snake-case name.
    Param(At<String>),
}

/// What the outbox does with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outbox {
    /// `"no"`: it is not kept.
    No,
    /// It is not run later than this, however long the outbox keeps others.
    Within(Duration),
}
