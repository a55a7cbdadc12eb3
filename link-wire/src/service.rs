//! The table that the macros make of `link.toml`, for both runtimes.
//!
//! All of it can stand in a `static`: nothing is read or parsed at run time.

use std::{fmt, time::Duration};

use crate::Build;

/// One link of link.toml: names, limits and routes.
#[derive(Debug)]
pub struct Service {
    /// `name` in `[link]`.
    pub name: &'static str,
    /// The names of its headers.
    pub headers: Headers,
    /// Who the program is that was built from it.
    pub build: Build<'static>,
    /// `[limits]`, with the defaults for what it leaves out.
    pub limits: Limits,
    /// `[routes]`, in the order of the file.
    pub routes: &'static [Route],
}

/// The names of the headers of one service, each `NAME-…` in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// Both: the [`Build`] of the sender. A reply without it is not our server's.
    pub build: &'static str,
    /// Client, commands: the call ID.
    pub call: &'static str,
    /// Server, authenticated replies: the caller. Client, commands: whose the call is.
    pub caller: &'static str,
    /// Client, commands: the number of the try, from 1.
    pub attempt: &'static str,
    /// Client, signals: `LINK.NUMBER`, the order of the signals of one link.
    pub sent: &'static str,
    /// Server: `1`, this reply was kept.
    pub repeat: &'static str,
    /// Server, commands: the code of the handler's refusal.
    pub refused: &'static str,
    /// Both, a [`LogPosition`](crate::LogPosition): the newest written one of the server; that
    /// which a command's client had seen before its first try.
    pub log: &'static str,
    /// Client, commands: the call IDs whose replies arrived, with commas between them.
    pub ack: &'static str,
    /// Client: the milliseconds that are left of the call's budget.
    pub budget: &'static str,
}

/// The limits of a link. All are durations but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One connect.
    pub connect: Duration,
    /// One try, to the head of the reply; then each piece of the body.
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
    /// How many replies a server keeps for a caller.
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

/// One route of link.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Its name, and that of its method.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// The HTTP method, in upper case.
    pub method: &'static str,
    /// The path, with each parameter as `{name}`.
    pub path: &'static str,
    /// How long a call of it may take; none for a stream.
    pub budget: Option<Budget>,
    /// What a client's outbox does with a command of it.
    pub outbox: OutboxRule,
    /// The line of link.toml at which it begins, from 1.
    pub line: u32,
}

/// What a client's outbox does with the commands of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutboxRule {
    /// It keeps them for [`Limits::outbox_keep`].
    #[default]
    Keep,
    /// It keeps them, and does not send them later than this.
    Within(Duration),
    /// It does not keep them.
    No,
}

/// What a route does, and so what a retry of it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads. Safe to send again.
    Query,
    /// Says something of the moment, kept in memory only; the newest wins. Safe to send again.
    Signal,
    /// Changes what is logged. Sent again under its call ID, and run once.
    Command,
    /// Events from the server, resumed for ever.
    Stream,
}

impl Kind {
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

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Its name in `[budgets]`.
    pub name: &'static str,
    /// From the first try to the end of the call.
    pub within: Duration,
    /// How many tries there may be.
    pub tries: Attempts,
}

/// How many tries a call may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempts {
    /// As many as fit into the budget.
    Many,
    /// This many.
    AtMost(u32),
}
