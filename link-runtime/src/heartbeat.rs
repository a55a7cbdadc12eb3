//! A sign of life: a signal that is sent again and again, one try a period.

use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use crate::call::{Call, CallError};

/// A task that sends a signal each period. It ends when this is dropped.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Heartbeat(JoinHandle<()>);

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends what `beat` makes, now and then once each `every`, and gives `told` what came of it.
///
/// A server forgets a session of which it hears nothing for three minutes: neither this nor a call.
/// An open stream is no sign of life.
///
/// Each is one try that has the period for all of it; one that fails sets the state of the link,
/// and the next is made as always. What the machine slept through is not made up for. Each
/// also looks for commands that other processes of the caller left in the outbox, if the API has
/// one, and sends them.
///
/// ```no_run
/// # use std::time::Duration;
/// # use link_runtime::{Call, heartbeat};
/// # fn alive() -> Call<()> { unimplemented!() }
/// # async fn example() {
/// let beats = heartbeat(Duration::from_secs(30), || alive(), |_| {});
/// # drop(beats);
/// # }
/// ```
///
/// # Panics
/// Outside of a tokio runtime, and when the period is zero.
pub fn heartbeat<R, M, T>(every: Duration, mut beat: M, mut told: T) -> Heartbeat
where
    R: DeserializeOwned + Send + 'static,
    M: FnMut() -> Call<R> + Send + 'static,
    T: FnMut(Result<R, CallError>) + Send + 'static,
{
    Heartbeat(tokio::spawn(async move {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let beat = beat().once(every);
            beat.adopt();
            told(beat.await);
        }
    }))
}
