//! How a command of the server ends when it does not succeed.

use std::{error::Error, io};

/// Why it ends.
#[derive(Debug)]
pub(super) enum Stop {
    /// Whoever reads the output has what it wanted. Nothing went wrong.
    Enough,
    /// Something is wrong; the text says what, and what to do.
    Failed(String),
}

impl Stop {
    /// An error with all that it comes from, in one line: the last says what the system said.
    pub(super) fn of(error: &dyn Error) -> Self {
        let sources = std::iter::successors(Some(error), |&error| error.source());
        let mut text: Vec<String> = sources.map(ToString::to_string).collect();
        // An error that shows its source by itself needs it no second time.
        text.dedup_by(|below, above| above.contains(below.as_str()));
        Self::Failed(text.join(": "))
    }
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
