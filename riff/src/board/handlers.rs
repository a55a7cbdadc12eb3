//! What each call asks, and when the answer is no. Nothing here changes the board.

use riff_api::{
    Ack, Acked, Alive, Asks, Changed, Claim, Claimed, Event, ItemId, Message, Post, Posted,
    Present, Release, Released, RiffHandlers, Thread, ThreadInfo, Threads, ThreadsReply, Who,
    WhoReply,
};
use riff_link::{
    After, Page, riff_handlers, riff_route,
    server::{Accepted, Cx, Events, Record, Refusal},
};

use super::{Board, Change};

/// The most bytes of a message.
const MOST_TEXT: usize = 16 * 1024;

#[riff_handlers]
impl RiffHandlers for Board {
    #[riff_route]
    fn who(&self, cx: &Cx<'_>, _query: Who) -> Result<WhoReply, Refusal> {
        let mut present: Vec<Present> = cx
            .presence()
            .callers()
            .map(|present| Present {
                caller: present.caller().clone(),
                seen: present.seen(),
                doing: present
                    .signal::<Alive>()
                    .and_then(|alive| alive.doing.clone()),
                holds: self.held_by(present.caller()),
            })
            .collect();
        present.sort_by(|a, b| a.caller.cmp(&b.caller));
        Ok(WhoReply { present })
    }

    #[riff_route]
    fn threads(&self, cx: &Cx<'_>, _query: Threads) -> Result<ThreadsReply, Refusal> {
        let threads = self
            .threads
            .iter()
            .map(|(thread, posts)| {
                let newest = posts.messages.newest;
                let read = posts.read.get(cx.caller()).copied().unwrap_or(0);
                ThreadInfo {
                    thread: thread.clone(),
                    newest,
                    unread: newest.saturating_sub(read),
                }
            })
            .collect();
        Ok(ThreadsReply { threads })
    }

    #[riff_route]
    fn history(
        &self,
        _cx: &Cx<'_>,
        thread: Thread,
        query: After,
    ) -> Result<Page<Message>, Refusal> {
        // A thread begins with its first message, so one without any is empty, not unknown.
        let none = Page {
            items: Vec::new(),
            lost: 0,
            more: false,
        };
        Ok(self
            .threads
            .get(&thread)
            .map_or(none, |posts| posts.messages.page(query.after)))
    }

    #[riff_route]
    fn changes(&self, _cx: &Cx<'_>, query: After) -> Result<Page<Changed>, Refusal> {
        Ok(self.changes.page(query.after))
    }

    #[riff_route]
    fn post(
        &self,
        _cx: &Cx<'_>,
        thread: Thread,
        body: Post,
    ) -> Result<Accepted<Change, Posted>, Refusal> {
        let len = body.text.len();
        if len == 0 || len > MOST_TEXT {
            return Err(Refusal::invalid(
                "text_length",
                format!("a message has 1 to {MOST_TEXT} bytes, this one has {len}"),
            ));
        }
        let seq = self
            .threads
            .get(&thread)
            .map_or(1, |posts| posts.messages.next());
        let event = Event::Posted {
            thread,
            seq,
            text: body.text,
        };
        Ok(Accepted::new(self.change(event), Posted { seq }))
    }

    #[riff_route]
    fn claim(
        &self,
        cx: &Cx<'_>,
        item: ItemId,
        _body: Claim,
    ) -> Result<Accepted<Change, Claimed>, Refusal> {
        match self.items.get(&item) {
            Some(hold) if hold.by == *cx.caller() => Ok(Accepted::unchanged(Claimed {
                item,
                since: hold.since,
            })),
            Some(hold) => Err(Refusal::conflict(
                "held",
                format!("{} holds {item}", hold.by),
            )),
            None => {
                let event = Event::Claimed { item: item.clone() };
                Ok(Accepted::new(
                    self.change(event),
                    Claimed {
                        item,
                        since: cx.now(),
                    },
                ))
            }
        }
    }

    #[riff_route]
    fn release(
        &self,
        cx: &Cx<'_>,
        item: ItemId,
        _body: Release,
    ) -> Result<Accepted<Change, Released>, Refusal> {
        match self.items.get(&item) {
            Some(hold) if hold.by == *cx.caller() => {
                let event = Event::Released { item: item.clone() };
                Ok(Accepted::new(self.change(event), Released { item }))
            }
            Some(hold) => Err(Refusal::conflict(
                "held",
                format!("{} holds {item}", hold.by),
            )),
            None => Err(Refusal::conflict(
                "not_held",
                format!("nobody holds {item}"),
            )),
        }
    }

    #[riff_route]
    fn ack(
        &self,
        cx: &Cx<'_>,
        thread: Thread,
        body: Ack,
    ) -> Result<Accepted<Change, Acked>, Refusal> {
        let posts = self.threads.get(&thread);
        let newest = posts.map_or(0, |posts| posts.messages.newest);
        if body.seq > newest {
            return Err(Refusal::invalid(
                "not_posted",
                format!(
                    "{thread} has {newest} messages, so {} cannot have been read",
                    body.seq
                ),
            ));
        }
        let read = posts
            .and_then(|posts| posts.read.get(cx.caller()))
            .copied()
            .unwrap_or(0);
        if body.seq <= read {
            return Ok(Accepted::unchanged(Acked { seq: read }));
        }
        let event = Event::Acked {
            thread,
            seq: body.seq,
        };
        Ok(Accepted::new(self.change(event), Acked { seq: body.seq }))
    }

    #[riff_route]
    fn alive(&self, _cx: &Cx<'_>, _body: Alive) -> Result<Asks, Refusal> {
        Ok(Asks {})
    }

    #[riff_route]
    fn tail(&self, _cx: &Cx<'_>, thread: Thread) -> Result<Events<Change, Message>, Refusal> {
        let newest = self
            .threads
            .get(&thread)
            .map_or(0, |posts| posts.messages.newest);
        Ok(Events::from(
            newest,
            move |record: &Record<Change>| match &record.change.event {
                Event::Posted {
                    thread: posted,
                    seq,
                    text,
                } if *posted == thread => Some(Message {
                    seq: *seq,
                    by: record.by.clone(),
                    at: record.at,
                    text: text.clone(),
                }),
                _ => None,
            },
        ))
    }

    #[riff_route]
    fn watch(&self, _cx: &Cx<'_>) -> Result<Events<Change, Changed>, Refusal> {
        Ok(Events::from(
            self.changes.newest,
            |record: &Record<Change>| Some(record.change.seen(&record.by, record.at)),
        ))
    }
}

impl Board {
    fn change(&self, event: Event) -> Change {
        Change {
            number: self.changes.next(),
            event,
        }
    }

    fn held_by(&self, caller: &riff_link::Caller) -> Vec<ItemId> {
        let held = self.items.iter().filter(|(_, hold)| hold.by == *caller);
        held.map(|(item, _)| item.clone()).collect()
    }
}
