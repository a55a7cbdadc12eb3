//! From what was seen of a try to what follows: the rule of outcomes, pure, over data alone.
//!
//! | seen | [`Class`] |
//! |---|---|
//! | 2xx with the build header | `Reply`, if the build fits or the call is a command |
//! | no connection | `Again`, surely not arrived |
//! | no connection to a loopback port where nobody ever answered | `Nobody` |
//! | cut, or our own limit, before or inside the reply | `Again`, may have arrived |
//! | our own limit, when the budget had left next to no time | `Brief` |
//! | 502, 503, 504, 429 without the build header | `Again`, may have arrived (a proxy may have passed it on) |
//! | 503, 429 with the build header, whatever the build | `Again`, may have arrived (it may hide a command that went in) |
//! | any other status without the build header, also 200 | `Foreign` |
//! | a build that does not fit, or any other status | `No` |
//! | for a command: any status but a 2xx with build and refused header | `Refused` |
//!
//! A server whose build does not fit is refused, but what it surely knows stands: it looks up
//! a call ID before it checks the build, so its 2xx to a command is the reply of that command.

use std::time::Duration;

use link_wire::{Attempts, Build, Code, Fit, Kind, Limits, Problem};

pub use self::cause::Cause;
use crate::wait;

mod cause;

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

/// What was seen of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A head, and the whole body where the class needs it.
    Head(Head),
    /// No connection came about, so no byte of the request was sent.
    NeverSent {
        cause: Cause,
        /// The connect was refused by a loopback address that never answered this process.
        nobody: bool,
    },
    /// Sent, and then no whole reply.
    Fault { cause: Cause },
    /// The budget left this try too little time to tell anything.
    Brief { cause: Cause, arrived: bool },
}

/// The head of a reply, and what its body says where it is a no.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// The build header, read; none when it is missing, double, or no build.
    pub(crate) server: Option<ServerBuild>,
    /// The refused header: the code of a handler's refusal.
    pub(crate) refused: Option<String>,
    /// The repeat header: the reply was kept.
    pub(crate) repeat: bool,
    pub(crate) retry_after: Option<Duration>,
    /// The problem of a reply that is not a 2xx.
    pub(crate) problem: Option<Problem>,
}

/// Which build a server said, against ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerBuild {
    pub(crate) line: String,
    pub(crate) fit: Fit,
}

impl ServerBuild {
    /// Reads the build header of a reply.
    pub(crate) fn read(header: &str, ours: &Build<'_>) -> Option<Self> {
        let server = Build::parse(header)?;
        Some(Self {
            line: server.line.into(),
            fit: ours.fits_server(&server),
        })
    }

    fn fits(&self) -> bool {
        self.fit == Fit::Fits
    }

    fn misfit(&self, ours: &Build<'_>) -> String {
        let (client, server) = (ours.line, &self.line);
        let what = match self.fit {
            Fit::ServerOld => "the server must be replaced by a newer one",
            _ => "this program must be replaced by a newer one",
        };
        format!("this program speaks line {client}, the server {server}: {what}")
    }
}

impl Head {
    fn is_2xx(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the body says something that the rule needs; else it is never read.
    pub(crate) fn body_counts(&self) -> bool {
        self.server.is_some()
    }

    fn code_is(&self, code: Code) -> bool {
        self.problem
            .as_ref()
            .is_some_and(|problem| problem.code == code.as_str())
    }

    fn detail(&self) -> String {
        let Some(problem) = &self.problem else {
            return String::new();
        };
        let text = if problem.detail.is_empty() {
            &problem.title
        } else {
            &problem.detail
        };
        text.clone()
    }

    fn no(&self) -> Refused {
        let code = self
            .refused
            .clone()
            .or_else(|| self.problem.as_ref().map(|p| p.code.clone()));
        Refused {
            status: self.status,
            code: code.unwrap_or_default(),
            detail: self.detail(),
        }
    }

    /// The no of a server whose build does not fit, by its own word or by its header.
    fn other_build(&self, ours: &Build<'_>) -> Option<Refused> {
        if self.status == Code::OtherBuild.status() && self.code_is(Code::OtherBuild) {
            return Some(self.no());
        }
        let server = self.server.as_ref().filter(|server| !server.fits())?;
        Some(Refused {
            status: self.status,
            code: Code::OtherBuild.as_str().into(),
            detail: server.misfit(ours),
        })
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
    /// Worth no word: what was seen before it stands.
    Brief { cause: Cause, arrived: bool },
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
                Class::Foreign {
                    cause: Cause::NotOurServer {
                        service: self.service,
                        status,
                    },
                }
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
        Class::No(other_build.unwrap_or_else(|| head.no()))
    }

    /// What a try says of the link, whatever the call was.
    ///
    /// A busy server is there, so it changes nothing, unless it says that it takes no calls at
    /// all. A caller that the server does not know is refused like another build.
    pub(crate) fn standing(&self, evidence: &Evidence) -> Standing {
        let head = match evidence {
            Evidence::NeverSent { nobody: true, .. } | Evidence::Brief { .. } => {
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

impl Evidence {
    /// Whether the client that saw it is to be replaced: no HTTP reply came over it.
    pub(crate) fn swaps(&self) -> bool {
        matches!(self, Self::NeverSent { .. } | Self::Fault { .. })
    }
}

/// What the tries of one call have come to so far.
#[derive(Debug, Clone)]
pub(crate) struct Tries {
    kind: Kind,
    most: Attempts,
    done: u32,
    /// Whether a try may have reached the server, so that the call may have run.
    arrived: bool,
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
            arrived: false,
            seen: None,
        }
    }

    /// The number of the try that begins now, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.done.saturating_add(1)
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
        let end = match class {
            Class::Reply => return Next::Reply,
            Class::Refused(refused) => End::Refused(refused),
            Class::No(no) if self.kind == Kind::Command && self.arrived => {
                End::Unknown(Cause::NoAfterTry(no))
            }
            Class::No(no) => End::Refused(no),
            Class::Foreign { cause } => End::Unknown(cause),
            Class::Nobody { cause } => self.end(cause),
            Class::Again {
                cause,
                arrived,
                retry_after,
            } => {
                self.arrived |= arrived;
                let ours = wait::wait(self.done, limits, random);
                let wait = retry_after.map_or(ours, |theirs| theirs.max(ours));
                let spent = matches!(self.most, Attempts::AtMost(most) if self.done >= most);
                if !spent && wait < left {
                    self.seen = Some(cause);
                    return Next::Again(wait);
                }
                self.end(cause)
            }
            Class::Brief { cause, arrived } => {
                self.arrived |= arrived;
                self.end(self.seen.clone().unwrap_or(cause))
            }
        };
        Next::End(end)
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

#[cfg(test)]
mod tests;
