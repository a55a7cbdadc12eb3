//! What was seen of one try, as data: all that the rule may look at.

use std::time::Duration;

use link_wire::{Build, Caller, Code, Fit, LogPosition, Problem};

use super::{Cause, Refused};

/// What was seen of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A head, and the whole body where the class needs it.
    Head(Head),
    /// No connection came about, so no byte of the request was sent.
    NeverSent {
        cause: Cause,
        /// The connect was refused by a loopback address where this process never met anybody.
        nobody: bool,
    },
    /// The server said that it did not look at it.
    Unprocessed { cause: Cause },
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
    /// Where the server's log is, by its own word. None of a reply that is not our server's.
    pub(crate) log: Option<LogPosition>,
    /// Whose the request was, by the server's word. None of a reply that is not our server's.
    pub(crate) caller: Option<Caller>,
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

    pub(super) fn fits(&self) -> bool {
        self.fit == Fit::Fits
    }

    pub(super) fn misfit(&self, ours: &Build<'_>) -> String {
        let (client, server) = (ours.line, &self.line);
        let what = match self.fit {
            Fit::ServerOld => "the server must be replaced by a newer one",
            _ => "this program must be replaced by a newer one",
        };
        format!("this program speaks line {client}, the server {server}: {what}")
    }
}

impl Head {
    pub(super) fn is_2xx(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the body says something that the rule needs; else it is never read.
    pub(crate) fn body_counts(&self) -> bool {
        self.server.is_some()
    }

    /// Whether it is the no of this code, with its status.
    pub(super) fn says(&self, code: Code) -> bool {
        self.status == code.status() && self.code_is(code)
    }

    pub(super) fn code_is(&self, code: Code) -> bool {
        self.problem
            .as_ref()
            .is_some_and(|problem| problem.code == code.as_str())
    }

    pub(super) fn detail(&self) -> String {
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

    pub(super) fn no(&self) -> Refused {
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
    pub(super) fn other_build(&self, ours: &Build<'_>) -> Option<Refused> {
        if self.says(Code::OtherBuild) {
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

impl Evidence {
    /// Whether the client that saw it is to be replaced: no HTTP reply came over it.
    pub(crate) fn swaps(&self) -> bool {
        matches!(self, Self::NeverSent { .. } | Self::Fault { .. })
    }

    /// Whether the server says that it does not hold the log that the try named.
    pub(crate) fn is_rollback(&self) -> bool {
        matches!(self, Self::Head(head) if head.server.is_some() && head.says(Code::RolledBack))
    }
}
