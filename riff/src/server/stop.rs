//! How a command of the server ends when it does not succeed, and its exit code.

use std::{error::Error, io};

/// Why it ends with another exit code than 0.
#[derive(Debug)]
pub(super) enum Stop {
    /// Whoever reads the output has what it wanted. Nothing went wrong.
    Enough,
    /// Something is wrong; the text says what, and what to do.
    Failed(String),
    /// What was asked cannot be asked.
    Usage(String),
    /// The server said no.
    Refused(String),
    /// What became of it is not known.
    Unknown(String),
    /// The server cannot be reached.
    Unreachable(String),
    /// A check found something. What it found is on stdout.
    Findings,
}

impl Stop {
    /// An error with all that it comes from, in one line: the last says what the system said.
    pub(super) fn of(error: &dyn Error) -> Self {
        Self::Failed(text(error))
    }

    /// The exit code, as `--help` names them.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Enough => 0,
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Refused(_) => 3,
            Self::Unknown(_) => 4,
            Self::Unreachable(_) => 5,
            Self::Findings => 100,
        }
    }

    /// What the person at the terminal is told.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Enough | Self::Findings => None,
            Self::Failed(text)
            | Self::Usage(text)
            | Self::Refused(text)
            | Self::Unknown(text)
            | Self::Unreachable(text) => Some(text),
        }
    }
}

/// See [`Stop::of`].
pub(super) fn text(error: &dyn Error) -> String {
    let sources = std::iter::successors(Some(error), |&error| error.source());
    let mut text: Vec<String> = sources.map(ToString::to_string).collect();
    // An error that shows its source by itself needs it no second time.
    text.dedup_by(|below, above| above.contains(below.as_str()));
    text.join(": ")
}

impl From<String> for Stop {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Enough,
            _ => Self::Failed(format!("cannot write: {error}")),
        }
    }
}
