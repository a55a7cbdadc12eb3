//! What became of a command: asks the server, which settles it first, so that the answer stands.

use std::{fmt, future::IntoFuture, marker::PhantomData, pin::Pin, time::Duration};

use link_wire::{Attempts, Budget, CallFate, CallId, Code, Fate, Kind, OutboxRule, Route};
use serde::de::DeserializeOwned;

use crate::{
    budget::Deadline,
    call::{Call, CallError, PendingCall},
    outbox::Entry,
    outcome::{Cause, Refused},
    request::{Api, Request},
    wait,
};

/// How long either question may take, unless its asker says otherwise.
const WITHIN: Duration = Duration::from_secs(60);

const BUDGET: Option<Budget> = Some(Budget {
    name: "calls",
    within: WITHIN,
    tries: Attempts::Many,
});

/// Only tells.
static FATE: Route = Route {
    name: "calls",
    kind: Kind::Query,
    method: "GET",
    path: "/v1/calls/{call}",
    budget: BUDGET,
    outbox: OutboxRule::No,
    line: 0,
};

/// Settles, which is the same twice as once: so it is sent again as a query is.
static SETTLE: Route = Route {
    name: "settle",
    kind: Kind::Query,
    method: "POST",
    path: "/v1/calls/{call}/settle",
    budget: BUDGET,
    outbox: OutboxRule::No,
    line: 0,
};

/// What became of a command. It stands: no late try of the command changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolved<R> {
    /// It ran.
    Ran {
        /// Its reply; none when the server no longer keeps it.
        reply: Option<R>,
    },
    /// It was refused and did not run, and never will.
    Refused {
        /// What is wrong, for a program; empty when the server no longer keeps it.
        code: String,
        /// What is wrong, for a person; empty when the server no longer keeps it.
        detail: String,
    },
    /// It never ran, and now it never will.
    NeverRan,
    /// It may have run: the server has forgotten calls of its age, or its log was rolled back. It
    /// does not run any more.
    MayHaveRun,
}

/// Nobody could say what became of a command. It may be asked again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what became of the call {call} is not known: {why}")]
pub struct Unresolved {
    /// The command.
    pub call: PendingCall,
    /// How the question ended. It speaks of the question, not of the command.
    pub why: CallError,
}

impl Api {
    /// Asks the server what became of a command, and settles it first: a command that did not
    /// arrive is given up, so that no late try of it can run. Where it stands in an
    /// outbox no try of it follows, and it leaves when the answer is here. One that another process
    /// holds there, or that is of another caller or for another server, cannot be settled here.
    ///
    /// `R` is the reply of the command's route, or `serde_json::Value` for any. A generated client
    /// gives its `Api` by `as_ref()`: `api.as_ref().resolve::<Claimed>(&call).await`.
    ///
    /// `POST /v1/calls/{id}/settle`, answered with a [`CallFate`].
    pub fn resolve<R>(&self, call: &PendingCall) -> Resolve<R> {
        Resolve {
            request: self.about(&SETTLE, call),
            call: call.clone(),
            within: WITHIN,
            reply: PhantomData,
        }
    }

    /// Asks the server what it knows of a command, and changes nothing: one that is not known
    /// may still arrive and run. `GET /v1/calls/{id}`.
    pub fn fate<R: DeserializeOwned + Send + 'static>(
        &self,
        call: &PendingCall,
    ) -> Call<CallFate<R>> {
        self.about(&FATE, call).call()
    }
}

/// The question of [`Api::resolve`], sent when it is awaited: again and again within 60 s.
///
/// # Cancel safety
/// Dropping it, or the future that it becomes, ends the open try; no other follows. Whether the
/// command is settled is then not known, and it may be asked again.
#[must_use = "it is asked when it is awaited"]
pub struct Resolve<R> {
    request: Request,
    call: PendingCall,
    within: Duration,
    reply: PhantomData<fn() -> R>,
}

impl<R> Resolve<R> {
    /// Sets how long it may take, in place of 60 s.
    pub fn within(mut self, budget: Duration) -> Self {
        self.within = budget;
        self
    }
}

impl<R: DeserializeOwned + Send + 'static> IntoFuture for Resolve<R> {
    type Output = Result<Resolved<R>, Unresolved>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self {
                request,
                call,
                within,
                ..
            } = self;
            let held = match hold_back(&request, &call.id) {
                Ok(held) => held,
                Err(why) => return Err(Unresolved { call, why }),
            };
            let request = held.iter().fold(request, Request::asks_of);
            match ask(&request, within).await {
                Ok(resolved) => {
                    if let (Some(entry), Some(queue)) = (held, request.api().queue()) {
                        queue.settled(&entry);
                    }
                    Ok(resolved)
                }
                Err(why) => Err(Unresolved { call, why }),
            }
        })
    }
}

/// Holds the command back in the outbox, so that no try of it follows the answer. It leaves when the
/// answer is here: else it could not be asked again.
fn hold_back(request: &Request, id: &CallId) -> Result<Option<Entry>, CallError> {
    let Some(queue) = request.api().queue() else {
        return Ok(None);
    };
    queue.hold_back(id).map_err(|error| CallError::NotSent {
        cause: Cause::Outbox {
            why: error.to_string(),
        },
    })
}

async fn ask<R: DeserializeOwned + Send + 'static>(
    request: &Request,
    within: Duration,
) -> Result<Resolved<R>, CallError> {
    let deadline = Deadline::of(within);
    let mut asked = 0_u32;
    loop {
        let question: Call<CallFate<R>> = request.clone().call();
        let resolved = match question.within(deadline.left()).await {
            Ok(fate) => told(fate)?,
            Err(CallError::Refused(no)) => Some(refused(no).map_err(CallError::Refused)?),
            Err(error) => return Err(error),
        };
        if let Some(resolved) = resolved {
            return Ok(resolved);
        }
        asked = asked.saturating_add(1);
        let wait = wait::wait(asked, request.link().limits(), wait::random());
        if wait >= deadline.left() {
            let cause = Cause::Budget { within };
            return Err(CallError::unknown(cause));
        }
        request.link().nap(wait).await;
    }
}

/// What a fate says; none while it is not decided.
fn told<R>(fate: CallFate<R>) -> Result<Option<Resolved<R>>, CallError> {
    Ok(Some(match fate.fate {
        Fate::Pending => return Ok(None),
        Fate::Ran => Resolved::Ran { reply: fate.reply },
        Fate::Refused => Resolved::Refused {
            code: fate.code.unwrap_or_default(),
            detail: fate.detail.unwrap_or_default(),
        },
        Fate::Cancelled => Resolved::NeverRan,
        Fate::Forgotten => Resolved::MayHaveRun,
        // A server that settled it knows it.
        other => {
            let why = format!("the server settled the call as {other:?}");
            let cause = Cause::Undecodable { why };
            return Err(CallError::unknown(cause));
        }
    }))
}

/// What a no says: a server may answer the question as it answers a try of the command.
fn refused<R>(no: Refused) -> Result<Resolved<R>, Refused> {
    let is = |code: Code| no.status == code.status() && no.code == code.as_str();
    if is(Code::CallCancelled) {
        Ok(Resolved::NeverRan)
    } else if is(Code::ReplyForgotten) {
        Ok(Resolved::Ran { reply: None })
    } else if is(Code::CallForgotten) || is(Code::RolledBack) {
        Ok(Resolved::MayHaveRun)
    } else {
        Err(no)
    }
}

impl<R> fmt::Debug for Resolve<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Resolve").field(&self.call).finish()
    }
}

#[cfg(test)]
mod tests {
    use link_wire::fate::CALLS_PATH;

    use super::*;

    #[test]
    fn the_paths_are_those_that_a_server_has_for_itself() {
        for route in [&FATE, &SETTLE] {
            assert!(route.path.starts_with(&format!("{CALLS_PATH}/{{call}}")));
        }
    }

    #[test]
    fn each_fate_says_what_became_of_the_call() {
        let told = |fate: &str| {
            let json = format!(r#"{{"call":"a","fate":"{fate}","reply":7,"code":"held"}}"#);
            told(serde_json::from_str::<CallFate<u64>>(&json).unwrap())
        };
        assert_eq!(told("pending"), Ok(None));
        assert_eq!(told("ran"), Ok(Some(Resolved::Ran { reply: Some(7) })));
        let refused = Resolved::Refused {
            code: "held".into(),
            detail: String::new(),
        };
        assert_eq!(told("refused"), Ok(Some(refused)));
        assert_eq!(told("cancelled"), Ok(Some(Resolved::NeverRan)));
        assert_eq!(told("forgotten"), Ok(Some(Resolved::MayHaveRun)));
        assert!(told("unknown").is_err());
    }

    #[test]
    fn a_no_to_the_question_is_a_no_to_the_command_only_if_it_says_so() {
        for &code in Code::ALL {
            let no = Refused {
                status: code.status(),
                code: code.as_str().into(),
                detail: String::new(),
            };
            let expected = match code {
                Code::CallCancelled => Ok(Resolved::<u64>::NeverRan),
                Code::ReplyForgotten => Ok(Resolved::Ran { reply: None }),
                Code::CallForgotten | Code::RolledBack => Ok(Resolved::MayHaveRun),
                _ => Err(no.clone()),
            };
            assert_eq!(refused(no), expected, "{code}");
        }
    }
}
