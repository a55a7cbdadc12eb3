//! What the log says of a change.
//!
//! Names are never reused and new fields have defaults: a log of any age must load.

use riff_api::{Changed, Event};
use riff_link::{Caller, UnixMillis};
use serde::{Deserialize, Serialize};

/// A change of the board, as in `{"number":7,"claimed":{"item":"issue-12"}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number among the changes, from 1 without a hole.
    pub number: u64,
    /// What changed.
    #[serde(flatten)]
    pub event: Event,
}

impl Change {
    /// The change as a watcher sees it.
    pub fn seen(&self, by: &Caller, at: UnixMillis) -> Changed {
        Changed {
            number: self.number,
            by: by.clone(),
            at,
            event: self.event.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_that_of_the_log() {
        let change = Change {
            number: 7,
            event: Event::Claimed {
                item: "issue-12".parse().unwrap(),
            },
        };
        let json = serde_json::to_string(&change).unwrap();
        assert_eq!(json, r#"{"number":7,"claimed":{"item":"issue-12"}}"#);
        assert_eq!(serde_json::from_str::<Change>(&json).unwrap(), change);
    }
}
