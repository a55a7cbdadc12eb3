//! The line of the link's state, on stderr: the same in each command.

use std::{future::IntoFuture, time::Duration};

use riff_api::{RIFF, RiffApi};
use riff_link::client::{CallError, State, link_line};
use tokio::sync::watch;

use super::end::End;
use crate::{clock::now, output};

/// Waits for a short call. When it takes longer than `line_after` of link.toml, the line of the
/// link is shown once.
pub(super) async fn short<R>(
    api: &RiffApi,
    call: impl IntoFuture<Output = Result<R, CallError>>,
) -> Result<R, End> {
    let call = call.into_future();
    tokio::pin!(call);
    tokio::select! {
        done = &mut call => return Ok(done?),
        () = tokio::time::sleep(RIFF.limits.line_after) => {}
    }
    let state = api.link().state().borrow().clone();
    match link_line(api.link().base(), &State::New, &state, now()) {
        Some(line) => output::talk(line),
        None => output::talk(format_args!("waiting for {}", api.link().base())),
    }
    Ok(call.await?)
}

/// The line of a command that runs until it is stopped: one for each change.
pub(super) struct Line {
    peer: String,
    state: watch::Receiver<State>,
    before: State,
}

/// A break shorter than this is not worth a line: a stream that the server ends is back by then.
const NOTICED: Duration = Duration::from_secs(1);

impl Line {
    pub(super) fn new(api: &RiffApi) -> Self {
        let state = api.link().state();
        let before = state.borrow().clone();
        Self {
            peer: api.link().base().to_owned(),
            state,
            before,
        }
    }

    /// Shows each change, for ever.
    ///
    /// # Cancel safety
    /// A change that was not shown yet is shown by the next call: what was shown last is kept, not
    /// what was seen.
    pub(super) async fn show(&mut self) {
        loop {
            let mut state = self.state.borrow_and_update().clone();
            if is_down(&state) && !is_down(&self.before) {
                tokio::time::sleep(NOTICED).await;
                state = self.state.borrow_and_update().clone();
            }
            // A longer or another fault is not a line of its own.
            if state != self.before && !(is_down(&state) && is_down(&self.before)) {
                if let Some(line) = link_line(&self.peer, &self.before, &state, now()) {
                    output::talk(line);
                }
                self.before = state;
            }
            if self.state.changed().await.is_err() {
                // The link is gone, and with it what could change.
                std::future::pending::<()>().await;
            }
        }
    }
}

fn is_down(state: &State) -> bool {
    matches!(state, State::Down { .. })
}
