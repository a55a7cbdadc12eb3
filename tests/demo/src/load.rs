//! The callers at work, and what each of them was told.

use std::time::Duration;

use riff_api::{Claim, ItemId, Release, RiffApi};
use riff_link::client::CallError;
use tokio::sync::watch;

use crate::work::{Post, Step};

/// How long a command may take. No outage of the demo is near it.
const BUDGET: Duration = Duration::from_secs(30);

/// What a command was about. It is in the log once, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
    /// A message with this text.
    Posted(String),
    /// This item, claimed by this caller.
    Claimed(ItemId, String),
    /// This item, released by this caller.
    Released(ItemId, String),
}

/// What became of a command, as its caller was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It ran.
    Ran,
    /// It did not run: another caller holds the item.
    Held,
    /// It did not run, and the reason is none that the demo gives.
    Refused(String),
    /// It may have run.
    Unknown(String),
    /// It cannot have run.
    NotSent(String),
}

/// A command and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) mark: Mark,
    pub(crate) answer: Answer,
}

/// One caller.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) api: RiffApi,
    pub(crate) steps: Vec<Step>,
    /// How many commands of all callers came to an end.
    pub(crate) done: watch::Sender<u64>,
}

impl Caller {
    /// Does all steps, one after the other.
    pub(crate) async fn run(self) -> Vec<Told> {
        let mut told = Vec::new();
        for step in &self.steps {
            match step {
                Step::Post(post) => told.push(self.post(post).await),
                Step::Contest(item, instead) => {
                    let claimed = self.claim(item).await;
                    let mine = claimed.answer == Answer::Ran;
                    told.push(claimed);
                    let second = if mine {
                        self.release(item).await
                    } else {
                        self.post(instead).await
                    };
                    told.push(second);
                }
            }
        }
        told
    }

    async fn post(&self, post: &Post) -> Told {
        let body = riff_api::Post {
            text: post.text.clone(),
        };
        let reply = self.api.post(&post.thread, &body).within(BUDGET).await;
        self.told(Mark::Posted(post.text.clone()), reply.map(drop))
    }

    async fn claim(&self, item: &ItemId) -> Told {
        let reply = self.api.claim(item, &Claim::default()).within(BUDGET).await;
        self.told(
            Mark::Claimed(item.clone(), self.name.clone()),
            reply.map(drop),
        )
    }

    async fn release(&self, item: &ItemId) -> Told {
        let reply = self
            .api
            .release(item, &Release::default())
            .within(BUDGET)
            .await;
        self.told(
            Mark::Released(item.clone(), self.name.clone()),
            reply.map(drop),
        )
    }

    fn told(&self, mark: Mark, reply: Result<(), CallError>) -> Told {
        self.done.send_modify(|done| *done += 1);
        let answer = match reply {
            Ok(()) => Answer::Ran,
            Err(CallError::Refused(no)) => {
                if no.code == "held" && matches!(mark, Mark::Claimed(..)) {
                    Answer::Held
                } else {
                    Answer::Refused(no.to_string())
                }
            }
            Err(CallError::NotSent { cause }) => Answer::NotSent(cause.to_string()),
            Err(error @ CallError::Unknown { .. }) => Answer::Unknown(error.to_string()),
        };
        Told { mark, answer }
    }
}
