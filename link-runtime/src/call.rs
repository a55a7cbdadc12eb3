//! Queries, signals and commands: a call that is awaited, and the three truths of its end.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin, time::Duration};

use link_wire::CallId;
use serde::de::DeserializeOwned;

pub use crate::outcome::Refused;
use crate::{outcome::Cause, request::Request};

mod attempt;
mod note;
mod pending;
mod run;

pub(crate) use self::attempt::{read_head, unsent_or_cut, whole};
pub use self::pending::PendingCall;
use self::run::run;

/// How a call ended without its reply. It says which of three things is true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server said no, and the call did not run.
    #[error("{0}")]
    Refused(Refused),
    /// No try reached the server, or none that it did not turn away: the call cannot have run, and
    /// will not.
    #[error("not sent: {cause}")]
    NotSent {
        /// What kept the last try from being sent.
        cause: Cause,
    },
    /// The call may have run: a try was sent, and no reply tells what became of it.
    #[non_exhaustive]
    #[error("{}{cause}", ran(.call.as_ref(), .cause))]
    Unknown {
        /// The command: its call ID, and what [`Api::resolve`](crate::Api::resolve) needs beside
        /// it. None for a query or a signal, which may simply be called again.
        call: Option<PendingCall>,
        /// What was seen of the last try.
        cause: Cause,
    },
}

/// What a person is told first: whether a command ran, if that is known.
fn ran(call: Option<&PendingCall>, cause: &Cause) -> &'static str {
    match call {
        None => "",
        Some(_) if cause.ran() => "it ran: ",
        Some(_) => "it may have run: ",
    }
}

/// A query or a signal, sent when it is awaited.
///
/// Without a reply it is sent again, within the budget of its route. A wait that the server asks
/// for by `Retry-After` is kept, and our own comes on top where the budget has room for both; one
/// that the budget has no room for ends the call at once.
///
/// # Cancel safety
/// Dropping it, or the future that it becomes, ends the open try and its waits; no other try
/// follows. Whether the server heard a try that was open is then not known.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<R> {
    request: Request,
    within: Option<Duration>,
    reply: PhantomData<fn() -> R>,
}

impl<R> Call<R> {
    pub(crate) fn new(request: Request) -> Self {
        Self {
            request,
            within: None,
            reply: PhantomData,
        }
    }

    /// Sets the budget of this call, in place of its route's: from the first try to the end.
    pub fn within(mut self, budget: Duration) -> Self {
        self.within = Some(budget);
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> IntoFuture for Call<R> {
    type Output = Result<R, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { run(&self.request, self.within, None).await?.read() })
    }
}

/// A command, sent when it is awaited: each try under one call ID, so that it runs once. Its
/// waits are those of a [`Call`].
///
/// Each try names the place in the server's log that the link had seen before the first one, so
/// that a server which has forgotten the call can tell that it did not run. When it cannot tell, or
/// its log was rolled back, it runs nothing: a command of which no earlier try can have arrived is
/// then sent once more, at once, from the place where the server is now; any other ends as
/// [`CallError::Unknown`].
///
/// A command also tells which replies of commands before it arrived, so that the server need not
/// keep them.
///
/// # Cancel safety
/// Dropping it, or the future that it becomes, ends the open try and its waits; no other try
/// follows. Whether the command ran is then not known.
#[must_use = "a command is sent when it is awaited"]
pub struct CommandCall<R> {
    request: Request,
    id: CallId,
    within: Option<Duration>,
    reply: PhantomData<fn() -> R>,
}

impl<R> CommandCall<R> {
    pub(crate) fn new(request: Request, id: CallId) -> Self {
        Self {
            request,
            id,
            within: None,
            reply: PhantomData,
        }
    }

    /// The call ID, under which each try of this command is sent.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Sets the budget of this call, in place of its route's: from the first try to the end.
    pub fn within(mut self, budget: Duration) -> Self {
        self.within = Some(budget);
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> IntoFuture for CommandCall<R> {
    type Output = Result<R, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let replied = run(&self.request, self.within, Some(&self.id)).await?;
            let reply = replied.read()?;
            replied.acknowledge(&self.request);
            Ok(reply)
        })
    }
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.request).finish()
    }
}

impl<R> fmt::Debug for CommandCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CommandCall")
            .field(&self.request)
            .field(&self.id)
            .finish()
    }
}
