//! The lines of a server on stderr: one an event, as text or as JSON.

use std::{fmt::Display, io, net::SocketAddr, path::Path};

use clap::ValueEnum;
use riff_link::{
    Position,
    server::{CheckpointError, Opened},
};
use tracing_subscriber::EnvFilter;

use crate::server::stop;

/// Where the events of this program are from, for `RIFF_LOG`.
const HERE: &str = "riff_server";

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::server) enum Format {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// From now on events are said. `RIFF_LOG` says which, as `warn` or `riff_server=info,server_runtime=debug`.
pub(in crate::server) fn begin(format: Format) {
    let which = EnvFilter::try_from_env("RIFF_LOG")
        .unwrap_or_else(|_| "warn,riff_server=info,server_runtime::tls=info".into());
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        // A line that cannot be written is lost. To say so on the same stderr would panic.
        .log_internal_errors(false)
        .with_env_filter(which);
    match format {
        Format::Text => lines.init(),
        Format::Json => lines.json().flatten_event(true).init(),
    }
}

/// What a start found. What the journal repaired, the engine says by itself.
pub(super) fn opened(dir: &Path, opened: &Opened) {
    let Opened {
        records,
        read,
        calls,
        checkpoint,
        unknown,
        found,
    } = opened;
    let cut: u64 = found.cut.iter().map(|cut| cut.bytes).sum();
    tracing::info!(
        target: HERE,
        dir = %dir.display(),
        records,
        calls,
        checkpoint = checkpoint.map(|at| at.0),
        read,
        cut_bytes = cut,
        unknown,
        restored = found.restored,
        "opened the log"
    );
}

/// How the checkpoint ended that a signal asked for.
pub(super) fn checkpoint(made: Result<Position, CheckpointError>) {
    match made {
        Ok(position) => tracing::info!(target: HERE, %position, "made a checkpoint"),
        Err(error) => tracing::error!(target: HERE, "no checkpoint: {}", stop::text(&error)),
    }
}

/// That no request can be answered yet.
pub(super) fn nobody(dir: &Path) {
    tracing::warn!(target: HERE, "nobody has a token yet: make one with `riff-server token add NAME --dir {}`",
        dir.display()
    );
}

/// Where it answers.
pub(super) fn listening(address: SocketAddr) {
    tracing::info!(target: HERE, %address, "listening");
}

/// That it ends, and why.
pub(super) fn stopping(signal: impl Display) {
    tracing::info!(target: HERE, %signal, "stopping");
}
