//! Queries, signals and commands: a call that is awaited, and the three truths of its end.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin, time::Duration};

use link_wire::CallId;
use serde::de::DeserializeOwned;

pub use crate::outcome::Refused;
use crate::{
    outcome::{Cause, End},
    request::Request,
};

mod attempt;
mod note;
mod owed;
mod pending;
mod run;
mod spans;

pub use self::pending::PendingCall;
pub(crate) use self::{
    attempt::{read_head, unsent_or_cut, whole},
    run::send_again,
};

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
    #[error("{}{cause}{}", ran(.call.as_ref(), .cause), goes_on(*.queued))]
    Unknown {
        /// The command: its call ID, and what [`Api::resolve`](crate::Api::resolve) needs beside
        /// it. None for a query or a signal, which may simply be called again.
        call: Option<PendingCall>,
        /// Whether the outbox sends the command again, until it has a reply or its time is over.
        queued: bool,
        /// What was seen of the last try.
        cause: Cause,
    },
}

impl CallError {
    /// The end of a call that is no command.
    pub(crate) fn unknown(cause: Cause) -> Self {
        Self::of(End::Unknown(cause), None, false)
    }

    fn of(end: End, call: Option<PendingCall>, queued: bool) -> Self {
        match end {
            End::Refused(refused) => Self::Refused(refused),
            End::NotSent(cause) => Self::NotSent { cause },
            End::Unknown(cause) => Self::Unknown {
                call,
                queued,
                cause,
            },
        }
    }
}

fn goes_on(queued: bool) -> &'static str {
    if queued {
        "; it is sent again until it has a reply"
    } else {
        ""
    }
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
    once: bool,
    reply: PhantomData<fn() -> R>,
}

impl<R> Call<R> {
    pub(crate) fn new(request: Request) -> Self {
        Self {
            request,
            within: None,
            once: false,
            reply: PhantomData,
        }
    }

    /// Sets the budget of this call, in place of its route's: from the first try to the end.
    pub fn within(mut self, budget: Duration) -> Self {
        self.within = Some(budget);
        self
    }

    /// Makes it one try that may take so long.
    pub(crate) fn once(mut self, within: Duration) -> Self {
        self.once = true;
        self.within(within)
    }

    /// Sends what other processes of the caller have left in the outbox.
    pub(crate) fn adopt(&self) {
        let api = self.request.api();
        if let Some(queue) = api.queue() {
            queue.look_again();
            queue.wake(api);
        }
    }
}

impl<R: DeserializeOwned + Send + 'static> IntoFuture for Call<R> {
    type Output = Result<R, CallError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let replied = run::run(&self.request, self.within, self.once).await?;
            replied.read()
        })
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
/// With an outbox ([`Api::with_outbox`](crate::Api::with_outbox)) it stands in a file from before
/// its first try until it has a reply or is refused. It waits until no older command of its caller
/// waits there, and one that ends as [`CallError::Unknown`] is sent on, if it says so.
///
/// # Cancel safety
/// Dropping it, or the future that it becomes, ends the open try and its waits. Without an outbox
/// no other try follows; with one, a command of which a try has begun is sent on. Whether the
/// command ran is then not known.
#[must_use = "a command is sent when it is awaited"]
pub struct CommandCall<R> {
    request: Request,
    id: CallId,
    within: Option<Duration>,
    again: bool,
    reply: PhantomData<fn() -> R>,
}

impl<R> CommandCall<R> {
    pub(crate) fn new(request: Request, id: CallId) -> Self {
        Self {
            request,
            id,
            within: None,
            again: false,
            reply: PhantomData,
        }
    }

    /// The call ID, under which each try of this command is sent; but see
    /// [`again`](Self::again).
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Makes it a command of its own, whatever the outbox has.
    ///
    /// Without this, a command that says the same as one in the outbox whose call has ended, or
    /// whose process has, goes on under the call ID of that one: whoever tries again because no
    /// reply came does not run it twice.
    pub fn again(mut self) -> Self {
        self.again = true;
        self
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
            let Self {
                request,
                id,
                within,
                again,
                ..
            } = &self;
            let replied = run::command(request, *within, id, *again).await?;
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
