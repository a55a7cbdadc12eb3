//! How a command ends when it does not succeed, and its exit code.

use std::{fmt, io};

use riff_link::client::{CallError, Cause, Refused, StreamError};

use crate::output;

/// Why a command ends with another exit code than 0.
#[derive(Debug)]
pub(super) enum End {
    /// Whoever reads the output has what it wanted. Nothing went wrong.
    Enough,
    /// What was asked cannot be asked.
    Usage(String),
    /// Something on this machine is wrong.
    Failure(String),
    /// The server said no, and it did not run.
    Refused(String),
    /// It may have run.
    Unknown(String),
    /// The server cannot be reached, and it did not run.
    Unreachable(String),
}

impl End {
    /// The exit code, as `--help` names them.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Enough => 0,
            Self::Failure(_) => 1,
            Self::Usage(_) => 2,
            Self::Refused(_) => 3,
            Self::Unknown(_) => 4,
            Self::Unreachable(_) => 5,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enough => Ok(()),
            Self::Usage(text)
            | Self::Failure(text)
            | Self::Refused(text)
            | Self::Unknown(text)
            | Self::Unreachable(text) => f.write_str(text),
        }
    }
}

impl From<CallError> for End {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refused) => refused.into(),
            CallError::NotSent {
                cause: cause @ Cause::Invalid { .. },
            } => Self::Usage(cause.to_string()),
            CallError::NotSent {
                cause: Cause::Outbox { why },
            } => Self::Failure(format!(
                "it was not sent: {why}; choose another place with --outbox"
            )),
            CallError::NotSent { cause } => {
                Self::Unreachable(format!("riff-server did not get it: {cause}"))
            }
            // A query changes nothing, so nobody has to know whether it ran.
            CallError::Unknown {
                call: None,
                cause: cause @ (Cause::NotOurServer { .. } | Cause::Undecodable { .. }),
                ..
            } => Self::Failure(cause.to_string()),
            CallError::Unknown {
                call: None, cause, ..
            } => Self::Unreachable(format!("no answer: {cause}")),
            CallError::Unknown {
                call: Some(call),
                cause,
                ..
            } if cause.ran() => Self::Unknown(format!(
                "it ran, but {cause}; the server knows the call as {call}"
            )),
            CallError::Unknown {
                call: Some(call),
                cause,
                queued: true,
                ..
            } => Self::Unknown(format!(
                "it may have run, or not: {cause}\n\
                 it is sent again with your next command or by `riff outbox send`, and runs once; \
                 `riff outbox list` shows it as {call}"
            )),
            CallError::Unknown {
                call: Some(call),
                cause,
                ..
            } => Self::Unknown(format!(
                "it may have run, or not: {cause}\n\
                 look before you do it again; the server knows the call as {call}"
            )),
        }
    }
}

impl From<Refused> for End {
    fn from(refused: Refused) -> Self {
        Self::Refused(match refused.code.as_str() {
            "unauthenticated" => format!(
                "the server does not know this token ({}); make one with \
                 `riff-server token NAME --dir DIR` and set RIFF_TOKEN to it",
                refused.detail
            ),
            _ => format!("refused: {}", output::plain(&refused.to_string())),
        })
    }
}

impl From<StreamError> for End {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Refused(refused) => refused.into(),
            StreamError::NotSent { cause } => Self::Usage(cause.to_string()),
            other => Self::Failure(other.to_string()),
        }
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Enough,
            _ => Self::Failure(format!("cannot write: {error}")),
        }
    }
}
