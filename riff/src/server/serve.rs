//! `riff-server serve`: opens the log and answers until it is told to stop.

use std::{io, net::SocketAddr, path::Path};

use riff_api::RiffServer;
use riff_link::server::{Engine, FileJournal, Opened};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use super::{stop::Stop, tokens::TokenFile};
use crate::{board::Board, output};

pub(super) fn serve(dir: &Path, listen: SocketAddr) -> Result<(), Stop> {
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("RIFF_LOG")
                .unwrap_or_else(|_| "warn".into()),
        )
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    let done = runtime.block_on(answer(dir, listen));
    // A handler that hangs must not hold up the end of the process.
    runtime.shutdown_background();
    done
}

async fn answer(dir: &Path, listen: SocketAddr) -> Result<(), Stop> {
    // Before the log is opened: a signal that comes during a long start must end the server in
    // order, too.
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| Stop::of(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| Stop::of(&error))?;
    let journal = FileJournal::open(dir).map_err(|error| Stop::of(&error))?;
    let tokens = TokenFile::open(dir)?;
    if tokens.is_empty() {
        output::talk(format_args!(
            "nobody has a token yet: make one with `riff-server token NAME --dir {}`",
            dir.display()
        ));
    }
    let engine = Engine::open(journal, Board::default()).map_err(|error| Stop::of(&error))?;
    let Opened { records, calls, .. } = engine.opened();
    output::talk(format_args!(
        "the log has {records} records of {calls} calls"
    ));
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| cannot_listen(listen, &error))?;
    let address = listener.local_addr().map_err(|error| Stop::of(&error))?;
    output::data(format_args!("listening on {address}"))?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        output::talk("stopping");
    };
    let server = RiffServer::new(engine).authenticate(tokens);
    server
        .serve(listener, stop)
        .await
        .map_err(|error| Stop::of(&error))
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => {
            ": another program has this port; choose one with --listen, or 0 for a free one"
        }
        io::ErrorKind::AddrNotAvailable => ": this machine has no such address",
        io::ErrorKind::PermissionDenied => ": ports below 1024 are not for every user",
        _ => "",
    };
    format!("cannot listen on {address}{hint} ({error})")
}
