//! A server of riff in this process, on a real socket, and clients that reach it through a proxy.

use std::{net::SocketAddr, path::Path, time::Duration};

use faults::{Plan, Proxy};
use riff::board::Board;
use riff_api::{RiffApi, RiffServer};
use riff_link::{
    Limits,
    client::Credentials,
    link,
    server::{
        Engine, FileJournal, ServeError, Tokens,
        log::{self, Logged},
    },
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

/// Limits that are short enough for a test, and long enough for a slow machine.
pub(crate) const LIMITS: Limits = Limits {
    attempt: Duration::from_millis(500),
    first_wait: Duration::from_millis(10),
    most_wait: Duration::from_millis(100),
    stream_retry: Duration::from_millis(50),
    stream_idle: Duration::from_secs(2),
    ..Limits::DEFAULT
};

/// A server. It ends in order by [`Running::stop`].
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), ServeError>>,
}

impl Running {
    /// Starts it on a directory, with the callers ann and ben, whose tokens are their names.
    pub(crate) async fn start(dir: &Path) -> Self {
        let engine = Engine::open(FileJournal::open(dir).unwrap(), Board::default()).unwrap();
        let tokens = Tokens::new()
            .with("ann".parse().unwrap(), "ann")
            .with("ben".parse().unwrap(), "ben");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = RiffServer::new(engine).authenticate(tokens);
        let ended = tokio::spawn(server.serve(listener, async {
            let _ = stopped.await;
        }));
        Self {
            address,
            stop,
            ended,
        }
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.ended.await.unwrap().unwrap();
    }
}

/// A proxy before a server, and a client through it.
pub(crate) fn through(running: &Running, plan: Plan, caller: &str) -> (Proxy, RiffApi) {
    let proxy = Proxy::start(running.address, plan).unwrap();
    let api = at(proxy.address(), caller);
    (proxy, api)
}

/// A client of an address.
pub(crate) fn at(address: SocketAddr, caller: &str) -> RiffApi {
    let link = link::with(&format!("http://{address}"), LIMITS).unwrap();
    RiffApi::new(link, Credentials::bearer(caller))
}

/// All records of calls of a log.
pub(crate) fn records(dir: &Path) -> Vec<Logged> {
    log::read(dir)
        .unwrap()
        .map(|record| record.unwrap())
        .filter(|record| record.call().is_some())
        .collect()
}

/// The texts that were posted, in the order of the log.
pub(crate) fn posted(dir: &Path) -> Vec<String> {
    records(dir)
        .iter()
        .filter_map(|record| record.change()?.get("posted")?.get("text")?.as_str())
        .map(str::to_owned)
        .collect()
}
