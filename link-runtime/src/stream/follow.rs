//! The task of one stream: opens it again and again, and gives what it says in order.

use std::{pin::pin, time::Duration};

use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::{
    Given, Plan, StreamError, StreamItem,
    catch_up::{self, NoPage, Place},
    live::{self, Ended, Live, Opened},
    pace::Pace,
    parser::{Event, Item},
};
use crate::{outcome::Evidence, wait};

/// How many catch-ups in a row may say that more follows and give nothing new, before that is
/// the end. The first may have met a server that is about to be replaced.
const MOST_STUCK: u32 = 3;

/// Follows a stream until it ends for good, or until nobody reads it any more.
pub(super) async fn follow<E>(plan: Plan<E>, items: mpsc::Sender<Given<E>>)
where
    E: DeserializeOwned + Send + 'static,
{
    let mut follow = Follow {
        items,
        pace: Pace::new(*plan.request.link().limits()),
        place: plan.order.as_ref().and(plan.after).map(Place::at),
        was_open: false,
        stuck: 0,
        plan,
    };
    loop {
        match follow.once().await {
            Ok(None) => {}
            Ok(Some(wait)) => follow.plan.request.link().nap(wait).await,
            Err(Stop::Ended) => return,
            Err(Stop::Failed(error)) => {
                // Nobody reads it any more, or it is read: the stream has ended either way.
                let _ = follow.items.send(Err(error)).await;
                return;
            }
        }
    }
}

struct Follow<E> {
    plan: Plan<E>,
    items: mpsc::Sender<Given<E>>,
    pace: Pace,
    /// Where the stream stands. None without a cursor, and as long as none is known.
    place: Option<Place>,
    /// Whether the stream was ready before, so that something may have come meanwhile.
    was_open: bool,
    /// Catch-ups in a row that said that more follows and gave nothing new.
    stuck: u32,
}

/// Why there is no other connection.
enum Stop {
    /// By the server's word, or because nobody reads.
    Ended,
    Failed(StreamError),
}

impl From<StreamError> for Stop {
    fn from(error: StreamError) -> Self {
        Self::Failed(error)
    }
}

impl<E: DeserializeOwned + Send + 'static> Follow<E> {
    /// One connection, from its open to its end; then the wait before the next, or none.
    async fn once(&mut self) -> Result<Option<Duration>, Stop> {
        let mut live = match live::open(&self.plan.request).await {
            Opened::Live(live) => live,
            Opened::NoContent => return Err(Stop::Ended),
            Opened::Refused(refused) => return Err(StreamError::Refused(refused).into()),
            Opened::NotOurServer { status } => {
                let service = self.plan.request.service().name;
                let stranger = StreamError::NotOurServer { service, status };
                // A front end may stand in for a server that is replaced, once it was there.
                return if self.was_open {
                    Ok(Some(self.later(&stranger.to_string())))
                } else {
                    Err(stranger.into())
                };
            }
            Opened::NoStream { why } => return Err(self.undecodable(why)),
            Opened::Invalid(cause) => return Err(StreamError::NotSent { cause }.into()),
            Opened::Later { retry_after } => {
                return Ok(Some(self.pace.told_to_wait(retry_after, wait::random())));
            }
            Opened::NoAnswer(evidence) => return Ok(self.no_answer(&evidence)),
        };
        self.say(live.evidence());
        let before = self.cursor();
        let again = std::mem::replace(&mut self.was_open, true);
        if let Some(why) = self.catch_up(live.ready(), again).await? {
            return Ok(Some(self.later(&why)));
        }
        let ended = self.live(&mut live).await?;
        let moved = self.cursor() > before;
        match ended {
            Ended::TooLong(error) => Err(self.undecodable(error.to_string())),
            Ended::Over { cut } => {
                if cut.is_some() {
                    self.plan.request.link().count_fault();
                }
                tracing::debug!(route = self.route(), ?cut, "stream ended");
                Ok(self.pace.ended(live.lived(), moved, wait::random()))
            }
            Ended::Idle(cause) => {
                tracing::debug!(route = self.route(), %cause, "stream is silent");
                self.plan.request.link().count_fault();
                self.say(&Evidence::Fault { cause });
                Ok(self.pace.ended(live.lived(), moved, wait::random()))
            }
        }
    }

    /// Gives what the connection says until it ends.
    async fn live(&mut self, live: &mut Live) -> Result<Ended, Stop> {
        let link = self.plan.request.link().clone();
        let idle = link.limits().stream_idle;
        let mut woke = pin!(link.woke());
        loop {
            let item = tokio::select! {
                biased;
                item = live.item(idle) => item,
                // Its connection is of no use any more, and would say so only after its limit.
                () = &mut woke => return Ok(Ended::Over { cut: None }),
            };
            match item {
                Ok(Item::Event(event)) => self.event(&event).await?,
                Ok(Item::Retry(wait)) => self.pace.set_retry(wait),
                Ok(Item::Comment(_)) => {}
                Err(ended) => return Ok(ended),
            }
        }
    }

    /// Gives what came while the stream was not open; `again` if it was open before. A text says
    /// why it could not be read now.
    async fn catch_up(&mut self, ready: Option<u64>, again: bool) -> Result<Option<String>, Stop> {
        let Some(mut place) = self.place else {
            if again {
                self.give(StreamItem::Gap { lost: None }).await?;
            }
            self.place = self.plan.order.as_ref().and(ready).map(Place::at);
            return Ok(None);
        };
        if let Some(ready) = ready.filter(|&ready| ready < place.cursor) {
            // The log is another one. What it has after `ready` comes over this connection.
            self.place = Some(Place::at(ready));
            self.stuck = 0;
            self.give(StreamItem::Gap { lost: None }).await?;
            return Ok(None);
        }
        loop {
            let Some(order) = &self.plan.order else {
                return Ok(None);
            };
            let cursor_of = order.cursor;
            let from = place.cursor;
            let page = match catch_up::page(order, from).await {
                Ok(page) => page,
                Err(NoPage::Fault(why)) => return Ok(Some(why)),
                Err(NoPage::Failed(stranger @ StreamError::NotOurServer { .. })) if again => {
                    return Ok(Some(stranger.to_string()));
                }
                Err(NoPage::Failed(error)) => return Err(error.into()),
            };
            let gap = place.tell(page.lost);
            self.place = Some(place);
            if let Some(lost) = gap {
                self.give(StreamItem::Gap { lost: Some(lost) }).await?;
            }
            for event in page.items {
                if place.advance(cursor_of(&event)) {
                    self.place = Some(place);
                    self.give(StreamItem::Event(event)).await?;
                }
            }
            if place.cursor == from && page.more {
                self.stuck += 1;
                let stuck = StreamError::NoProgress { cursor: from };
                return if self.stuck < MOST_STUCK {
                    Ok(Some(stuck.to_string()))
                } else {
                    Err(stuck.into())
                };
            }
            self.stuck = 0;
            if !page.more {
                break;
            }
        }
        // All that the stream had when it opened is read by now, or lost and told.
        if let Some(ready) = ready {
            place.advance(ready);
            self.place = Some(place);
        }
        Ok(None)
    }

    /// Gives a live event, unless it was given before.
    async fn event(&mut self, event: &Event) -> Result<(), Stop> {
        let event: E = match serde_json::from_str(&event.data) {
            Ok(event) => event,
            Err(error) => {
                tracing::debug!(
                    route = self.route(),
                    cursor = self.cursor(),
                    name = event.name,
                    "the event after it cannot be read"
                );
                return Err(self.undecodable(error.to_string()));
            }
        };
        if let Some(order) = &self.plan.order {
            let cursor = (order.cursor)(&event);
            if self
                .place
                .as_mut()
                .is_some_and(|place| !place.advance(cursor))
            {
                return Ok(());
            }
            self.place.get_or_insert(Place::at(cursor));
        }
        self.give(StreamItem::Event(event)).await
    }

    async fn give(&self, item: StreamItem<E>) -> Result<(), Stop> {
        self.items.send(Ok(item)).await.map_err(|_| Stop::Ended)
    }

    fn no_answer(&mut self, evidence: &Evidence) -> Option<Duration> {
        let wait = self.pace.failed(wait::random());
        tracing::debug!(
            route = self.route(),
            ?evidence,
            ?wait,
            "stream did not open"
        );
        // The first open after an end may fail in silence: a server that was replaced.
        if wait.is_some() {
            self.say(evidence);
        }
        wait
    }

    /// The wait after an answer that a new open may mend.
    fn later(&mut self, why: &str) -> Duration {
        tracing::debug!(route = self.route(), why, "stream is opened later");
        self.pace.told_to_wait(None, wait::random())
    }

    /// Sets the state of the link.
    fn say(&self, evidence: &Evidence) {
        let request = &self.plan.request;
        request.link().set_state(&request.judge(), evidence);
    }

    fn undecodable(&self, why: String) -> Stop {
        StreamError::Undecodable {
            cursor: self.cursor(),
            why,
        }
        .into()
    }

    fn cursor(&self) -> Option<u64> {
        self.place.map(|place| place.cursor)
    }

    fn route(&self) -> &'static str {
        self.plan.request.route().name
    }
}
