//! `riff-server serve`: opens the log and answers until it is told to stop.
//!
//! | module | what |
//! |---|---|
//! | `options` | what can be set, by a flag or a variable of the environment |
//! | `say` | the lines on stderr: in which form, and what a start says |
//! | `signals` | SIGTERM and SIGINT end it, SIGUSR1 asks for a checkpoint |

mod options;
pub(super) mod say;
mod signals;

use std::io;

use riff_api::RiffServer;
use riff_link::server::{Authenticate as _, Engine, FileJournal, auth::FromCertificate};
use tokio::net::TcpListener;

pub(super) use self::options::Options;
use self::signals::Signals;
use super::{place, stop::Stop, tokens::TokenFile};
use crate::{board::Board, output};

pub(super) fn serve(options: &Options) -> Result<(), Stop> {
    say::begin(options.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime does not start: {error}"))?;
    let done = runtime.block_on(answer(options));
    // A handler that hangs must not hold up the end of the process.
    runtime.shutdown_background();
    done
}

async fn answer(options: &Options) -> Result<(), Stop> {
    // Before the log is opened: a signal that comes during a long start must end the server in
    // order, too.
    let mut signals = Signals::new().map_err(|error| Stop::of(&error))?;
    let asked = signals::asked().map_err(|error| Stop::of(&error))?;
    let dir = &options.dir;
    place::free(dir)?;
    let tls = options.transport.tls().map_err(|error| Stop::of(&error))?;
    // Before the log is opened, too: a start writes a record, and one that cannot listen must not.
    // Whoever connects now waits until the log is read.
    let listener = TcpListener::bind(options.listen)
        .await
        .map_err(|error| cannot_listen(options, &error))?;
    let address = listener.local_addr().map_err(|error| Stop::of(&error))?;
    let journal = FileJournal::open(dir).map_err(|error| Stop::of(&error))?;
    let tokens = TokenFile::open(dir)?;
    let engine = Engine::open_with(journal, Board::default(), options.engine())
        .map_err(|error| Stop::of(&error))?;
    say::opened(dir, engine.opened());
    let proxy = options.callers.proxy();
    let shown = options.transport.names_callers();
    if tokens.is_empty() && proxy.is_none() && !shown {
        say::nobody(dir);
    }
    output::data(format_args!("listening on {address}"))?;
    say::listening(address);
    let checkpoints = tokio::spawn(signals::checkpoints(asked, engine.clone()));
    let server = options.requests.limit(RiffServer::new(engine));
    let server = options.transport.speak(server, tls);
    // Without an authority nobody has a certificate that could name them.
    let who = tokens.or(FromCertificate);
    let server = match proxy {
        Some(proxy) => server.authenticate(who.or(proxy)),
        None => server.authenticate(who),
    };
    let stop = async move { say::stopping(signals.end().await) };
    let done = server.serve(listener, stop).await;
    checkpoints.abort();
    done.map_err(|error| Stop::of(&error))
}

fn cannot_listen(options: &Options, error: &io::Error) -> String {
    let address = options.listen;
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
