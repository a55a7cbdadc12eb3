//! What goes over the wire: what is asked, what is answered, and the events.

use riff_link::{Caller, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::{ItemId, Thread};

/// Asks who is here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {}

/// Who is here, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhoReply {
    /// Each caller that was heard of in the last three minutes.
    pub present: Vec<Present>,
}

/// A caller that is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Present {
    /// The name.
    pub caller: Caller,
    /// When the caller was last heard of.
    pub seen: UnixMillis,
    /// What the caller said to do, where it said something.
    pub doing: Option<String>,
    /// The items that the caller holds.
    pub holds: Vec<ItemId>,
}

/// Asks for the threads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {}

/// The threads that have a message, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadsReply {
    /// Each of them.
    pub threads: Vec<ThreadInfo>,
}

/// A thread, as the asking caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its name.
    pub thread: Thread,
    /// The number of its newest message.
    pub newest: u64,
    /// How many messages the caller has not acknowledged.
    pub unread: u64,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its number in its thread, from 1.
    pub seq: u64,
    /// Who posted it.
    pub by: Caller,
    /// When it was posted.
    pub at: UnixMillis,
    /// What it says.
    pub text: String,
}

/// Posts a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// What it says: 1 to 16,384 bytes.
    pub text: String,
}

/// The message is in its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Its number in its thread.
    pub seq: u64,
}

/// Claims an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {}

/// The caller holds the item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// The item.
    pub item: ItemId,
    /// Since when.
    pub since: UnixMillis,
}

/// Releases an item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {}

/// Nobody holds the item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// The item.
    pub item: ItemId,
}

/// Says how far the caller has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// The number of the last message that was read.
    pub seq: u64,
}

/// The acknowledgement is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acked {
    /// How far the caller has read by now; an older acknowledgement takes nothing back.
    pub seq: u64,
}

/// A sign of life.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alive {
    /// What the caller does, as others shall see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
}

/// What the server asks of a caller that lives. Nothing yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asks {}

/// A change of the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Its number among the changes of the board, from 1.
    pub number: u64,
    /// Who changed it.
    pub by: Caller,
    /// When.
    pub at: UnixMillis,
    /// What.
    pub event: Event,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A message was posted.
    Posted {
        /// The thread.
        thread: Thread,
        /// Its number.
        seq: u64,
        /// What it says.
        text: String,
    },
    /// An item was claimed.
    Claimed {
        /// The item.
        item: ItemId,
    },
    /// An item was released.
    Released {
        /// The item.
        item: ItemId,
    },
    /// A caller has read a thread.
    Acked {
        /// The thread.
        thread: Thread,
        /// The last message that was read.
        seq: u64,
    },
}
