//! The one reader of the clock: how long a step took.

use std::time::{Duration, Instant};

/// A time that runs.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn read(&self) -> Duration {
        self.0.elapsed()
    }
}
