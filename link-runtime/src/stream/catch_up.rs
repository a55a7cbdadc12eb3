//! What came while a stream was away: pages of its catch-up query, read by the rule of calls.

use link_wire::{After, Page};
use serde::de::DeserializeOwned;

use super::{Order, StreamError};
use crate::{call::CallError, outcome::Cause};

/// Where a stream with a cursor stands, and which gap was told there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The cursor of the last event that was given.
    pub(super) cursor: u64,
    /// How many lost events after this cursor were told.
    told: u64,
}

impl Place {
    pub(super) fn at(cursor: u64) -> Self {
        Self { cursor, told: 0 }
    }

    /// Goes to `cursor`. Whether that is ahead: an event of it is new.
    pub(super) fn advance(&mut self, cursor: u64) -> bool {
        let ahead = cursor > self.cursor;
        if ahead {
            *self = Self::at(cursor);
        }
        ahead
    }

    /// How many of the lost events after this cursor were not told yet; tells them.
    pub(super) fn tell(&mut self, lost: u64) -> Option<u64> {
        let news = lost.checked_sub(self.told).filter(|&news| news > 0)?;
        self.told = lost;
        Some(news)
    }
}

/// Why there is no page.
pub(super) enum NoPage {
    /// A new open may mend it. Says what was seen.
    Fault(String),
    /// Nothing does.
    Failed(StreamError),
}

/// Asks for the events after `cursor`, within the budget of the catch-up query.
pub(super) async fn page<E>(order: &Order<E>, cursor: u64) -> Result<Page<E>, NoPage>
where
    E: DeserializeOwned + Send + 'static,
{
    let request = order.catch_up.clone().query(&After { after: cursor });
    request
        .call::<Page<E>>()
        .await
        .map_err(|error| match error {
            // A server that failed may not fail the next time.
            CallError::Refused(refused) if refused.status >= 500 => {
                NoPage::Fault(refused.to_string())
            }
            CallError::Refused(refused) => NoPage::Failed(StreamError::Refused(refused)),
            CallError::NotSent { cause } | CallError::Unknown { cause, .. } => match cause {
                Cause::Invalid { .. } => NoPage::Failed(StreamError::NotSent { cause }),
                Cause::NotOurServer { service, status } => {
                    NoPage::Failed(StreamError::NotOurServer { service, status })
                }
                Cause::Undecodable { .. } | Cause::TooLarge { .. } => {
                    let why = cause.to_string();
                    NoPage::Failed(StreamError::Undecodable {
                        cursor: Some(cursor),
                        why,
                    })
                }
                cause => NoPage::Fault(cause.to_string()),
            },
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ahead_is_new() {
        let mut place = Place::at(3);
        assert_eq!(
            [2, 3, 4, 4, 9, 5].map(|n| place.advance(n)),
            [false, false, true, false, true, false]
        );
        assert_eq!(place.cursor, 9);
    }

    #[test]
    fn a_gap_is_told_once_at_one_place() {
        let mut place = Place::at(3);
        assert_eq!(
            [0, 5, 5, 7, 6].map(|lost| place.tell(lost)),
            [None, Some(5), None, Some(2), None]
        );
        place.advance(9);
        assert_eq!(place.tell(5), Some(5));
    }
}
