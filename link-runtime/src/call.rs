//! Queries, signals and commands: a call that is awaited, and the three truths of its end.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin, time::Duration};

use bytes::Bytes;
use link_wire::CallId;
use serde::de::DeserializeOwned;

pub use crate::outcome::Refused;
use crate::{outcome::Cause, request::Request};

mod attempt;
mod run;

pub(crate) use self::{
    attempt::{read_head, unsent_or_cut, whole},
    run::run,
};

/// How a call ended without its reply. It says which of three things is true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server said no, and the call did not run.
    #[error("{0}")]
    Refused(Refused),
    /// No try reached the server: the call cannot have run, and will not.
    #[error("not sent: {cause}")]
    NotSent {
        /// What kept the last try from being sent.
        cause: Cause,
    },
    /// The call may have run: a try was sent, and no reply tells what became of it.
    #[non_exhaustive]
    #[error("{}{cause}", if .call.is_some() { "it may have run: " } else { "" })]
    Unknown {
        /// The call ID of a command. None for a query or a signal, which may simply be called
        /// again.
        call: Option<CallId>,
        /// What was seen of the last try.
        cause: Cause,
    },
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
        Box::pin(async move {
            let reply = run(&self.request, self.within, None).await?;
            decode(&reply, None)
        })
    }
}

/// A command, sent when it is awaited: each try under one call ID, so that it runs once. Its
/// waits are those of a [`Call`].
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
            let reply = run(&self.request, self.within, Some(&self.id)).await?;
            decode(&reply, Some(&self.id))
        })
    }
}

/// Reads the body of a yes. A reply without one is that of a type that JSON writes as `null`.
fn decode<R: DeserializeOwned>(body: &Bytes, id: Option<&CallId>) -> Result<R, CallError> {
    let json: &[u8] = if body.is_empty() { b"null" } else { body };
    serde_json::from_slice(json).map_err(|error| CallError::Unknown {
        call: id.cloned(),
        cause: Cause::Undecodable {
            why: error.to_string(),
        },
    })
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
