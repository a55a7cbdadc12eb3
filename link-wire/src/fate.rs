//! What became of a call, as `GET /v1/calls/{id}` and the settling of a call tell it.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{CallId, Position, UnixMillis};

/// The path at which a server tells what became of a call of the caller who asks.
///
/// `GET` only tells. `POST` to the same path with `/settle` behind it first settles the call: one
/// that is not known is written as cancelled, so that no late try of it can run.
pub const CALLS_PATH: &str = "/v1/calls";

/// What a server knows of one call of one caller. `R` is the JSON of the reply, in the reader's
/// own type.
///
/// ```json
/// {"call":"AAAAAAAAAAAAAAAAAAAAAA","fate":"ran","position":17,"at":1796083200000,
///  "command":"claim","reply":{"item":"i1"}}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
pub struct CallFate<R> {
    /// The call.
    pub call: CallId,
    /// What became of it.
    pub fate: Fate,
    /// The position of its last record, if the log has one and the server still knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// When it was decided, by the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<UnixMillis>,
    /// The name of its route, while the reply or the refusal is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The reply of a command that ran, while it is kept. JSON `null` is a reply, too.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub reply: Option<R>,
    /// The code of the refusal of a command that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The text of that refusal, while it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

fn present<'de, R: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<R>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// It is decided and not written yet: what becomes of it shows soon.
    Pending,
    /// It ran. Without a `reply` that is no longer kept.
    Ran,
    /// A retry of it was refused, and so it never runs.
    Refused,
    /// It was settled before it arrived: it never ran and never runs.
    Cancelled,
    /// It is not known, and may have run: the server forgot calls of that age. It never runs any
    /// more.
    Forgotten,
    /// It is not known, and has not run. It still runs when it arrives.
    Unknown,
}
