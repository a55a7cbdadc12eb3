//! From what was seen of a try to what follows: the rule of outcomes, pure, over data alone.
//!
//! | seen | [`Class`] |
//! |---|---|
//! | 2xx with the build header | `Reply`, if the build fits or the call is a command |
//! | no connection | `Again`, surely not arrived |
//! | no connection to a loopback port where this process never met anybody | `Nobody` |
//! | cut, or our own limit, before or inside the reply | `Again`, may have arrived |
//! | HTTP/2: GOAWAY below our stream, or `REFUSED_STREAM` | `Unprocessed`: surely not looked at |
//! | our own limit, when the budget had left next to no time | `Brief` |
//! | 502, 503, 504, 429 without the build header | `Again`, may have arrived (a proxy may have passed it on) |
//! | 503, 429 with the build header, whatever the build | `Again`, may have arrived (it may hide a command that went in) |
//! | any other status without the build header, also 200 | `Foreign` |
//! | a no with the build header, but without a problem that says why | `Foreign` |
//! | a build that does not fit, or any other status | `No` |
//! | for a command: any status but a 2xx with build and refused header | `Refused` |
//! | for a command: 410 `call_cancelled` with the build header | `Refused`: it never runs |
//! | for a command: 410 `call_forgotten` or `rolled_back` with the build header | `Unrun` |
//! | for a command: 410 `reply_forgotten` with the build header | `Ran` |
//!
//! A server whose build does not fit is refused, but what it surely knows stands: it looks up
//! a call ID before it checks the build, so its 2xx to a command is the reply of that command.

use std::time::Duration;

use link_wire::{Build, Code, Kind, LogPosition};

pub use self::cause::Cause;
pub(crate) use self::{
    evidence::{Evidence, Head, ServerBuild},
    tries::{End, Next, Tries},
};

mod cause;
mod evidence;
mod tries;

/// The server's no to a call that did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, for a program: a [`Code`] of the server, or one of the application. Empty
    /// when the reply named none.
    pub code: String,
    /// What is wrong this time, for a person. May be empty.
    pub detail: String,
}

impl Refused {
    fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            status,
            code,
            detail,
        } = self;
        match (detail.is_empty(), code.is_empty()) {
            (true, true) => write!(f, "{status}"),
            (true, false) => write!(f, "{status} {code}"),
            (false, true) => write!(f, "{detail} ({status})"),
            (false, false) => write!(f, "{detail} ({code})"),
        }
    }
}

/// What a try is evidence of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Class {
    /// The server's yes: the body is the reply.
    Reply,
    /// The server's no to this very call ID: it did not run and will not.
    Refused(Refused),
    /// A no that tells nothing of earlier tries.
    No(Refused),
    /// Worth another try, after a wait.
    Again {
        cause: Cause,
        arrived: bool,
        retry_after: Option<Duration>,
    },
    /// Surely not looked at by the server: worth another try at once.
    Unprocessed { cause: Cause },
    /// Worth no word: what was seen before it stands.
    Brief { cause: Cause, arrived: bool },
    /// The server did not run this try, and does not know of an earlier one.
    Unrun {
        no: Refused,
        /// What is told when an earlier try may have run.
        cause: Cause,
        /// Where the server's log is now.
        here: Option<LogPosition>,
    },
    /// The command ran, and there is no reply.
    Ran { cause: Cause },
    /// Worth no other try: somebody else answered.
    Foreign { cause: Cause },
    /// Worth no other try: nobody is there, nor ever was.
    Nobody { cause: Cause },
}

/// What the link's state becomes by a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Up,
    Down(Cause),
    Refused(String),
    Same,
}

/// Who judges: the service, and its build in this program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge {
    pub(crate) service: &'static str,
    pub(crate) ours: Build<'static>,
}

impl Judge {
    /// The class of a try.
    pub(crate) fn class(&self, evidence: &Evidence, kind: Kind) -> Class {
        let head = match evidence {
            Evidence::NeverSent {
                cause,
                nobody: true,
            } => {
                return Class::Nobody {
                    cause: cause.clone(),
                };
            }
            Evidence::NeverSent {
                cause,
                nobody: false,
            } => {
                return Class::Again {
                    cause: cause.clone(),
                    arrived: false,
                    retry_after: None,
                };
            }
            Evidence::Fault { cause } => {
                return Class::Again {
                    cause: cause.clone(),
                    arrived: true,
                    retry_after: None,
                };
            }
            Evidence::Unprocessed { cause } => {
                return Class::Unprocessed {
                    cause: cause.clone(),
                };
            }
            Evidence::Brief { cause, arrived } => {
                return Class::Brief {
                    cause: cause.clone(),
                    arrived: *arrived,
                };
            }
            Evidence::Head(head) => head,
        };
        let Head {
            status,
            retry_after,
            ..
        } = *head;
        if head.server.is_none() {
            return if matches!(status, 429 | 502..=504) {
                let cause = Cause::FrontEnd {
                    status,
                    retry_after,
                };
                Class::Again {
                    cause,
                    arrived: true,
                    retry_after,
                }
            } else {
                self.foreign(status)
            };
        }
        let command = kind == Kind::Command;
        let other_build = head.other_build(&self.ours);
        if head.is_2xx() {
            return match other_build {
                Some(refused) if !command => Class::No(refused),
                _ => Class::Reply,
            };
        }
        if command && head.refused.is_some() {
            return Class::Refused(head.no());
        }
        if command && let Some(class) = gone(head) {
            return class;
        }
        if matches!(status, 429 | 503) {
            let cause = Cause::Busy {
                status,
                detail: head.detail(),
                retry_after,
            };
            return Class::Again {
                cause,
                arrived: true,
                retry_after,
            };
        }
        if let Some(refused) = other_build {
            return Class::No(refused);
        }
        // Each no of our server says why as a problem. One that does not was put together on the
        // way, whatever headers it kept, and tells nothing of the call.
        if head.problem.is_none() && head.refused.is_none() {
            return self.foreign(status);
        }
        Class::No(head.no())
    }

    fn foreign(&self, status: u16) -> Class {
        Class::Foreign {
            cause: Cause::NotOurServer {
                service: self.service,
                status,
            },
        }
    }

    /// What a try says of the link, whatever the call was.
    ///
    /// A busy server is there, so it changes nothing, unless it says that it takes no calls at
    /// all. A caller that the server does not know is refused like another build.
    pub(crate) fn standing(&self, evidence: &Evidence) -> Standing {
        let head = match evidence {
            Evidence::NeverSent { nobody: true, .. }
            | Evidence::Unprocessed { .. }
            | Evidence::Brief { .. } => {
                return Standing::Same;
            }
            Evidence::NeverSent { cause, .. } | Evidence::Fault { cause } => {
                return Standing::Down(cause.clone());
            }
            Evidence::Head(head) => head,
        };
        match self.class(evidence, Kind::Query) {
            Class::Again { .. } if head.server.is_some() && !head.code_is(Code::Unavailable) => {
                Standing::Same
            }
            Class::Again { cause, .. } | Class::Foreign { cause } => Standing::Down(cause),
            _ => match head.other_build(&self.ours) {
                Some(refused) => Standing::Refused(refused.detail),
                None if head.status == 401 => Standing::Refused(head.no().to_string()),
                None => Standing::Up,
            },
        }
    }
}

/// What a server says of a command whose reply it has not, or no longer.
fn gone(head: &Head) -> Option<Class> {
    let unrun = |cause| Class::Unrun {
        no: head.no(),
        cause,
        here: head.log,
    };
    if head.says(Code::CallCancelled) {
        Some(Class::Refused(head.no()))
    } else if head.says(Code::ReplyForgotten) {
        let cause = Cause::ReplyForgotten;
        Some(Class::Ran { cause })
    } else if head.says(Code::CallForgotten) {
        Some(unrun(Cause::CallForgotten))
    } else if head.says(Code::RolledBack) {
        Some(unrun(Cause::RolledBack))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
