//! The tries of one call: what they have come to so far, and what follows from the next.

use std::time::Duration;

use link_wire::{Attempts, Kind, Limits, LogPosition};

use super::{Cause, Class, Refused};
use crate::wait;

/// So many tries of one call are sent again at once.
const MOST_UNPROCESSED: u32 = 3;

/// What the tries of one call have come to so far.
#[derive(Debug, Clone)]
pub(crate) struct Tries {
    kind: Kind,
    most: Attempts,
    done: u32,
    /// How many of them were not of this call, or not looked at.
    others: u32,
    /// How many of them were sent again at once, as the server did not look at them.
    unprocessed: u32,
    /// Whether a try may have reached the server, so that the call may have run.
    arrived: bool,
    /// Whether the one more try of a call that the server did not run was made. It is not counted.
    again_from_here: bool,
    /// What was seen of the last try that told something.
    seen: Option<Cause>,
}

/// What follows from a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The call ends with the reply of this try.
    Reply,
    /// Another try, after this wait.
    Again(Duration),
    /// One more try, now, that says this position: the call has not run, and nothing of it is
    /// under way.
    AtOnce(LogPosition),
    /// The call ends without a reply.
    End(End),
}

/// Which of three things is true of a call without a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It did not run.
    Refused(Refused),
    /// It cannot have run.
    NotSent(Cause),
    /// It may have run.
    Unknown(Cause),
}

impl Tries {
    /// A call of this kind before its first try.
    pub(crate) fn new(kind: Kind, most: Attempts) -> Self {
        Self {
            kind,
            most,
            done: 0,
            others: 0,
            unprocessed: 0,
            arrived: false,
            again_from_here: false,
            seen: None,
        }
    }

    /// A call of which an earlier try may have arrived, of another process or of a call that
    /// ended.
    pub(crate) fn after_others(kind: Kind, most: Attempts) -> Self {
        Self {
            done: 1,
            arrived: true,
            others: 1,
            ..Self::new(kind, most)
        }
    }

    /// The number of the try that begins now, from 1.
    ///
    /// A try that follows [`Next::AtOnce`] has the next number as any other: 1 is only the first
    /// that was ever sent. Of a later one the server keeps a refusal, so that a copy of the first
    /// that was held up on the way can never run after the caller was told no.
    pub(crate) fn number(&self) -> u32 {
        self.done.saturating_add(1)
    }

    /// Takes a try that the server did not look at, as it did not know who calls: it counts as
    /// none of this call's.
    pub(crate) fn not_looked_at(&mut self) {
        self.done = self.number();
        self.others = self.others.saturating_add(1);
    }

    /// What follows from a try of this class, with `left` of the budget.
    pub(crate) fn next(
        &mut self,
        class: Class,
        left: Duration,
        limits: &Limits,
        random: u32,
    ) -> Next {
        self.done = self.number();
        let class = match class {
            Class::Unprocessed { cause } => {
                // A server that goes away says so once. One that says it again is waited for.
                if self.unprocessed < MOST_UNPROCESSED && !left.is_zero() {
                    self.unprocessed += 1;
                    self.others = self.others.saturating_add(1);
                    self.seen = Some(cause);
                    return Next::Again(Duration::ZERO);
                }
                Class::Again {
                    cause,
                    arrived: false,
                    retry_after: None,
                }
            }
            class => class,
        };
        let end = match class {
            Class::Reply => return Next::Reply,
            Class::Refused(refused) => End::Refused(refused),
            Class::No(no) if self.kind == Kind::Command && self.arrived => {
                End::Unknown(Cause::NoAfterTry(no))
            }
            Class::No(no) => End::Refused(no),
            // Nothing can have run: this try did not, and no earlier one arrived.
            Class::Unrun { no, here, .. } if !self.arrived => match here {
                Some(here) if !self.again_from_here && !left.is_zero() => {
                    self.again_from_here = true;
                    return Next::AtOnce(here);
                }
                _ => End::Refused(no),
            },
            Class::Foreign { cause } | Class::Unrun { cause, .. } | Class::Ran { cause } => {
                End::Unknown(cause)
            }
            Class::Nobody { cause } | Class::Unprocessed { cause } => self.end(cause),
            Class::Again {
                cause,
                arrived,
                retry_after,
            } => {
                self.arrived |= arrived;
                let counted = self.done - self.others - u32::from(self.again_from_here);
                let ours = wait::wait(counted, limits, random);
                let wait =
                    retry_after.map_or(ours, |theirs| wait::theirs_and_ours(theirs, ours, left));
                let spent = matches!(self.most, Attempts::AtMost(most) if counted >= most);
                if !spent && wait < left {
                    self.seen = Some(cause);
                    return Next::Again(wait);
                }
                self.end(cause)
            }
            Class::Brief { cause, arrived } => {
                self.arrived |= arrived;
                self.out_of_time(cause)
            }
        };
        Next::End(end)
    }

    /// The end of a call that has no time for a try that tells anything: the last that did has
    /// the word.
    pub(crate) fn out_of_time(&self, cause: Cause) -> End {
        self.end(self.seen.clone().unwrap_or(cause))
    }

    /// The end of a call whose next try cannot be.
    pub(crate) fn end(&self, cause: Cause) -> End {
        if self.arrived {
            End::Unknown(cause)
        } else {
            End::NotSent(cause)
        }
    }
}
