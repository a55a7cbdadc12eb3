//! What a person is told of the link: its state, set only on change, and the one text of it.

use link_wire::UnixMillis;
use tokio::sync::watch;

use crate::{
    clock,
    clock::Spoken,
    outcome::{Cause, Standing},
};

/// How the link to a server stands, by the last try of any call or stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum State {
    /// Nothing was tried yet.
    #[default]
    New,
    /// The server answered.
    Up,
    /// The server cannot be reached, or something else answers in its place. Calls go on within
    /// their budgets, streams for ever, and end only where [`StreamError`](crate::StreamError) or
    /// [`CallError`](crate::CallError) say so.
    Down {
        /// When the first of these faults was seen.
        since: UnixMillis,
        /// The newest of them.
        cause: Cause,
    },
    /// The server takes nothing from this program or this caller; a new try would end the same.
    Refused {
        /// Why, for a person.
        text: String,
    },
}

/// The line that a person is shown when the state of a link goes from `before` to `state`.
///
/// `peer` names the other end, as `riff.example`. None when there is nothing to say: the link is
/// new, or up and was not down. While it is down each call gives the line of `now`, with how
/// long it has been: a span and not a time of day, which would need the reader's time zone.
///
/// ```
/// use link_runtime::{State, link_line};
/// use link_wire::UnixMillis;
///
/// let text = "this program must be replaced by a newer one".to_owned();
/// let refused = State::Refused { text };
/// assert_eq!(link_line("riff.example", &State::New, &State::Up, UnixMillis(0)), None);
/// assert_eq!(
///     link_line("riff.example", &State::Up, &refused, UnixMillis(0)).as_deref(),
///     Some("riff.example refuses: this program must be replaced by a newer one"),
/// );
/// ```
pub fn link_line(peer: &str, before: &State, state: &State, now: UnixMillis) -> Option<String> {
    match (before, state) {
        (State::Down { since, .. }, State::Up) => Some(format!(
            "{peer} is back (down {})",
            Spoken(now.since(*since))
        )),
        (_, State::New | State::Up) => None,
        (_, State::Down { since, cause }) => {
            let down = now.since(*since);
            let how_long = if down.as_secs() == 0 {
                String::new()
            } else {
                format!(" for {}", Spoken(down))
            };
            Some(match cause {
                Cause::NotOurServer { service, status } => {
                    let does_not = if how_long.is_empty() {
                        "does not answer"
                    } else {
                        "has not answered"
                    };
                    format!("{peer} {does_not} as a {service} server{how_long} (status {status})")
                }
                _ => format!("{peer} is not reachable{how_long} ({cause}), trying again"),
            })
        }
        (_, State::Refused { text }) => Some(format!("{peer} refuses: {text}")),
    }
}

/// Changes the state by what a try showed; watchers wake only if something is new.
pub(crate) fn set(state: &watch::Sender<State>, standing: Standing) {
    state.send_if_modified(|state| {
        let next = match standing {
            Standing::Same => return false,
            Standing::Up => State::Up,
            Standing::Refused(text) => State::Refused { text },
            Standing::Down(cause) => {
                let since = match state {
                    State::Down { since, .. } => *since,
                    _ => clock::wall(),
                };
                State::Down { since, cause }
            }
        };
        let changed = *state != next;
        *state = next;
        changed
    });
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn silent(seconds: u64) -> Cause {
        Cause::Silent {
            after: Duration::from_secs(seconds),
        }
    }

    fn down(since: u64) -> State {
        State::Down {
            since: UnixMillis(since),
            cause: silent(20),
        }
    }

    #[test]
    fn the_line_says_what_a_person_can_use() {
        let refused = State::Refused {
            text: "a newer one is needed".into(),
        };
        let [stranger, stranger_for_long] = [181_000, 1_000].map(|since| State::Down {
            since: UnixMillis(since),
            cause: Cause::NotOurServer {
                service: "riff",
                status: 500,
            },
        });
        let table = [
            (
                State::Up,
                stranger,
                Some("riff.example does not answer as a riff server (status 500)"),
            ),
            (
                State::Up,
                stranger_for_long,
                Some("riff.example has not answered as a riff server for 3 min (status 500)"),
            ),
            (State::New, State::Up, None),
            (State::Up, State::Up, None),
            (refused.clone(), State::Up, None),
            (State::New, State::New, None),
            (
                down(1_000),
                State::Up,
                Some("riff.example is back (down 3 min)"),
            ),
            (
                State::Up,
                down(181_000),
                Some("riff.example is not reachable (no reply in 20 s), trying again"),
            ),
            (
                down(1_000),
                down(1_000),
                Some("riff.example is not reachable for 3 min (no reply in 20 s), trying again"),
            ),
            (
                State::Up,
                refused,
                Some("riff.example refuses: a newer one is needed"),
            ),
        ];
        for (before, state, line) in table {
            let got = link_line("riff.example", &before, &state, UnixMillis(181_000));
            assert_eq!(got.as_deref(), line, "{before:?} to {state:?}");
        }
    }

    #[tokio::test]
    async fn watchers_wake_only_on_a_change() {
        let (sender, mut receiver) = watch::channel(State::New);
        set(&sender, Standing::Same);
        assert!(!receiver.has_changed().unwrap());
        set(&sender, Standing::Up);
        assert_eq!(*receiver.borrow_and_update(), State::Up);
        set(&sender, Standing::Up);
        assert!(!receiver.has_changed().unwrap());
    }

    #[tokio::test]
    async fn further_faults_keep_the_moment_of_the_first() {
        let (sender, receiver) = watch::channel(down(7));
        set(&sender, Standing::Down(silent(3)));
        let expected = State::Down {
            since: UnixMillis(7),
            cause: silent(3),
        };
        assert_eq!(*receiver.borrow(), expected);
        set(&sender, Standing::Up);
        set(&sender, Standing::Down(silent(3)));
        assert!(matches!(*receiver.borrow(), State::Down { since, .. } if since > UnixMillis(7)));
    }
}
