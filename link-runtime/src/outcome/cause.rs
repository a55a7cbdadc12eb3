//! Why a try or a call gave no reply, in one line for a person.

use std::time::Duration;

use link_wire::Code;

use super::Refused;
use crate::clock::Spoken;

/// What was seen of the last try of a call, or what kept it from being sent.
///
/// `Display` is one line for a person, without a prefix: `no reply in 20 s`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The call itself is at fault: an empty path value, a body that is no JSON, a token that
    /// cannot stand in a header. Another try would end the same.
    #[error("the call cannot be made: {why}")]
    Invalid {
        /// What is wrong with it.
        why: String,
    },
    /// There is no token with which the caller could be proved, so nothing was sent.
    #[error("no token: {why}")]
    Token {
        /// What the source of tokens said.
        why: String,
    },
    /// There was no connection, so nothing was sent.
    #[error("no connection: {why}")]
    Connect {
        /// What the system said, as `Connection refused (os error 111)`.
        why: String,
    },
    /// The request went out, and no reply began before the try had to end.
    #[error("no reply in {}", Spoken(*.after))]
    Silent {
        /// How long the try waited.
        after: Duration,
    },
    /// A reply or a stream began, and then gave no byte.
    #[error("no byte for {}", Spoken(*.after))]
    Stalled {
        /// How long the try waited for the next byte.
        after: Duration,
    },
    /// The connection broke before a reply began.
    #[error("the connection broke before the reply: {why}")]
    CutBefore {
        /// What the system or the HTTP library said.
        why: String,
    },
    /// The connection broke inside a reply or a stream.
    #[error("the connection broke inside the reply: {why}")]
    CutInside {
        /// What the system or the HTTP library said.
        why: String,
    },
    /// Something in front of the server answered 502, 503, 504 or 429 in its place.
    #[error("a front end answered {status}{}", Hint(*.retry_after))]
    FrontEnd {
        /// The HTTP status.
        status: u16,
        /// What it asked to wait, where it did.
        retry_after: Option<Duration>,
    },
    /// The server is up and takes no calls, or too many came.
    #[error("the server is busy{}{}", Detail(.detail), Hint(*.retry_after))]
    Busy {
        /// The HTTP status: 503 or 429.
        status: u16,
        /// What the server says about it; may be empty.
        detail: String,
        /// What it asked to wait, where it did.
        retry_after: Option<Duration>,
    },
    /// Who answered is no server of this service: its reply lacks the build header, or is a no
    /// that does not say why.
    #[error("not a {service} server (status {status})")]
    NotOurServer {
        /// The name of the service.
        service: &'static str,
        /// The HTTP status.
        status: u16,
    },
    /// The server said no, but an earlier try of the command may have run.
    #[error("the server said no ({0}), but an earlier try may have run")]
    NoAfterTry(Refused),
    /// The server forgot calls of the age of this one, so it cannot tell whether an earlier try of
    /// it ran. It runs no later one.
    #[error("the server has forgotten calls of its age")]
    CallForgotten,
    /// The server's log is not the one that was seen before the call: a backup was put in its
    /// place, or it is another's. It cannot tell whether an earlier try ran, and runs no later one.
    #[error("the server's log was rolled back, and says nothing of it")]
    RolledBack,
    /// The command ran, and its reply is no longer kept.
    #[error("the server no longer keeps its reply")]
    ReplyForgotten,
    /// The server said yes with a body that the route's type does not read. A command ran.
    #[error("the reply cannot be read: {why}")]
    Undecodable {
        /// What the decoder said.
        why: String,
    },
    /// The server said yes with a body larger than the link takes. A command ran.
    #[error("the reply is larger than {} MiB", .most >> 20)]
    TooLarge {
        /// The most bytes that a reply may have.
        most: usize,
    },
    /// The outbox does not take the command, so it was not sent.
    #[error("{why}")]
    Outbox {
        /// What is wrong: it is full, or its file cannot be written.
        why: String,
    },
    /// Commands of the same caller that are older wait in the outbox, and none was sent in time.
    #[error("{ahead} older in the outbox wait for their replies", ahead = Commands(*.ahead))]
    Behind {
        /// How many.
        ahead: usize,
    },
    /// The budget left no time for a try.
    #[error("the budget of {} is spent", Spoken(*.within))]
    Budget {
        /// The whole budget.
        within: Duration,
    },
}

impl Cause {
    /// Whether another try would tell no more.
    pub(crate) fn stops(&self) -> bool {
        match self {
            Self::NoAfterTry(_) => !self.pauses(),
            Self::Invalid { .. } | Self::CallForgotten | Self::RolledBack => true,
            _ => self.ran(),
        }
    }

    /// Whether another try tells more only when the credentials or the program are others.
    pub(crate) fn pauses(&self) -> bool {
        matches!(self, Self::NoAfterTry(no) if no.status == 401 || no.is(Code::OtherBuild)
            || no.is(Code::OtherCaller))
    }

    /// Whether the credentials are not those of the command's caller.
    pub(crate) fn is_of_another_caller(&self) -> bool {
        matches!(self, Self::NoAfterTry(no) if no.is(Code::OtherCaller))
    }

    /// Whether a command that ends with it surely ran: only its reply is not there.
    pub fn ran(&self) -> bool {
        matches!(
            self,
            Self::ReplyForgotten | Self::Undecodable { .. } | Self::TooLarge { .. }
        )
    }
}

/// A number of commands.
struct Commands(usize);

impl std::fmt::Display for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            1 => f.write_str("1 command"),
            n => write!(f, "{n} commands"),
        }
    }
}

/// `: TEXT`, or nothing.
struct Detail<'a>(&'a str);

impl std::fmt::Display for Detail<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, ": {}", self.0)
        }
    }
}

/// ` (come again in 2 min)`, or nothing.
struct Hint(Option<Duration>);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(wait) if !wait.is_zero() => write!(f, " (come again in {})", Spoken(wait)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_one_line_for_a_person() {
        let refused = Refused {
            status: 404,
            code: "no_route".into(),
            detail: String::new(),
        };
        let busy = |detail: &str, wait| Cause::Busy {
            status: 503,
            detail: detail.into(),
            retry_after: wait,
        };
        for (cause, text) in [
            (
                Cause::Silent {
                    after: Duration::from_secs(20),
                },
                "no reply in 20 s",
            ),
            (
                Cause::FrontEnd {
                    status: 502,
                    retry_after: None,
                },
                "a front end answered 502",
            ),
            (busy("starting", None), "the server is busy: starting"),
            (
                busy("", Some(Duration::from_secs(120))),
                "the server is busy (come again in 2 min)",
            ),
            (
                Cause::NotOurServer {
                    service: "riff",
                    status: 200,
                },
                "not a riff server (status 200)",
            ),
            (
                Cause::NoAfterTry(refused),
                "the server said no (404 no_route), but an earlier try may have run",
            ),
            (
                Cause::TooLarge { most: 64 << 20 },
                "the reply is larger than 64 MiB",
            ),
        ] {
            assert_eq!(cause.to_string(), text);
        }
    }
}
