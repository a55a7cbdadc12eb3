//! The signals of a server that runs.

use std::io;

use riff_link::server::Engine;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::say;
use crate::board::Board;

/// The signals that end a server in order.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// Told when a file would be larger than the process may make one. Nobody waits for it: it is
    /// held so that it kills nobody, and the write fails instead, as on a full disk.
    _file_size: Signal,
}

impl Signals {
    /// From now on the signals do not kill the process. Inside of a tokio runtime.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Waits for one of them; gives its name.
    pub(super) async fn end(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// From now on SIGUSR1 asks for a checkpoint, and kills no process. Inside of a tokio runtime.
pub(super) fn asked() -> io::Result<Signal> {
    signal(SignalKind::user_defined1())
}

/// Makes a checkpoint each time it is asked for one, until it is aborted.
pub(super) async fn checkpoints(mut asked: Signal, engine: Engine<Board>) {
    while asked.recv().await.is_some() {
        say::checkpoint(engine.checkpoint().await);
    }
}
