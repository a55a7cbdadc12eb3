//! The board: threads of messages and items that one caller at a time holds.
//!
//! | module | what |
//! |---|---|
//! | `change` | what the log says |
//! | `handlers` | what a call asks, and when the answer is no |
//! | this one | the state that the log gives, and how a record changes it |

mod change;
mod handlers;

use std::collections::{BTreeMap, VecDeque};

use riff_api::{Changed, Event, ItemId, Message, Thread};
use riff_link::{
    Caller, Page, UnixMillis,
    server::{Record, State},
};
use serde::{Deserialize, Serialize};

pub use self::change::Change;

/// How many messages of a thread, and how many changes of the board, a reader can still catch up
/// with. What is older stays in the log.
pub const KEPT: usize = 10_000;

/// The most items of a page.
pub const PAGE: usize = 200;

/// The state of riff.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    threads: BTreeMap<Thread, Posts>,
    items: BTreeMap<ItemId, Hold>,
    changes: Tail<Changed>,
}

/// A thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Posts {
    messages: Tail<Message>,
    /// How far each caller has read.
    read: BTreeMap<Caller, u64>,
}

/// Who holds an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Hold {
    by: Caller,
    since: UnixMillis,
}

/// The newest of a sequence that is numbered from 1 without a hole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Tail<T> {
    /// The number of the newest; 0 for none.
    newest: u64,
    kept: VecDeque<T>,
}

impl<T> Default for Tail<T> {
    fn default() -> Self {
        Self {
            newest: 0,
            kept: VecDeque::new(),
        }
    }
}

impl<T: Clone> Tail<T> {
    fn next(&self) -> u64 {
        self.newest + 1
    }

    fn push(&mut self, item: T) {
        self.newest += 1;
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(item);
    }

    /// What came after a number, the oldest first.
    fn page(&self, after: u64) -> Page<T> {
        let dropped = self.newest - self.kept.len() as u64;
        let skip = usize::try_from(after.saturating_sub(dropped)).unwrap_or(usize::MAX);
        let mut rest = self.kept.iter().skip(skip);
        let items = rest.by_ref().take(PAGE).cloned().collect();
        Page {
            items,
            lost: dropped.saturating_sub(after),
            more: rest.next().is_some(),
        }
    }
}

impl State for Board {
    type Change = Change;

    fn apply(&mut self, record: &Record<Change>) {
        let (by, at) = (&record.by, record.at);
        self.changes.push(record.change.seen(by, at));
        match &record.change.event {
            Event::Posted { thread, seq, text } => {
                let message = Message {
                    seq: *seq,
                    by: by.clone(),
                    at,
                    text: text.clone(),
                };
                self.threads
                    .entry(thread.clone())
                    .or_default()
                    .messages
                    .push(message);
            }
            Event::Claimed { item } => {
                self.items.insert(
                    item.clone(),
                    Hold {
                        by: by.clone(),
                        since: at,
                    },
                );
            }
            Event::Released { item } => {
                self.items.remove(item);
            }
            Event::Acked { thread, seq } => {
                let posts = self.threads.entry(thread.clone()).or_default();
                posts.read.insert(by.clone(), *seq);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_came_after_and_says_what_is_lost() {
        let mut tail = Tail::default();
        assert_eq!(
            tail.page(0),
            Page {
                items: vec![],
                lost: 0,
                more: false
            }
        );
        for number in 1..=(KEPT as u64 + 5) {
            tail.push(number);
        }
        let page = tail.page(0);
        assert_eq!(
            (page.items[0], page.items.len(), page.lost, page.more),
            (6, PAGE, 5, true)
        );
        let newest = KEPT as u64 + 5;
        assert_eq!(
            tail.page(newest - 1),
            Page {
                items: vec![newest],
                lost: 0,
                more: false
            }
        );
        assert_eq!(
            tail.page(newest),
            Page {
                items: vec![],
                lost: 0,
                more: false
            }
        );
        assert_eq!(
            tail.page(u64::MAX),
            Page {
                items: vec![],
                lost: 0,
                more: false
            }
        );
        let exactly = tail.page(newest - PAGE as u64);
        assert_eq!((exactly.items.len(), exactly.more), (PAGE, false));
    }
}
