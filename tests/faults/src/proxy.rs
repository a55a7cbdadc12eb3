//! The proxy itself: its port, which it can close and open again, and what its connections share.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet},
    time::sleep,
};

use crate::{
    Chance, Counts, Kind, Plan,
    exchange::{self, Next},
    message::Request,
    sabotage::Saboteur,
};

const BACKLOG: u32 = 1024;
/// How often, 10 ms apart, the port is asked for again after it was closed.
const BIND_TRIES: u32 = 500;

/// A proxy that runs. It ends with [`stop`](Self::stop), or when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    running: Option<JoinHandle<io::Result<()>>>,
}

impl Proxy {
    /// Opens a port of 127.0.0.1 and passes on what comes to it to `upstream`, with the faults of
    /// the plan. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// No port can be had.
    pub fn start(upstream: SocketAddr, plan: Plan) -> io::Result<Self> {
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (refuse, refusals) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            saboteur: Saboteur::new(&plan),
            plan,
            upstream: Mutex::new(upstream),
            counts: Mutex::default(),
            calls: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            refuse,
            drop_open: watch::Sender::new(()),
        });
        let running = tokio::spawn(run(listener, address, Arc::clone(&shared), refusals));
        Ok(Self {
            address,
            shared,
            running: Some(running),
        })
    }

    /// Where clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        let mut counts = self.shared.counts().clone();
        counts.sabotaged = self.shared.saboteur.is_done();
        counts
    }

    /// Passes on what comes from now on to another address: a server that was started again.
    pub fn set_upstream(&self, upstream: SocketAddr) {
        *locked(&self.shared.upstream) = upstream;
    }

    /// Ends all connections, frozen ones too, closes the port, and tells what was done.
    ///
    /// # Errors
    /// The proxy had closed its port and could not have it again.
    pub async fn stop(mut self) -> io::Result<Counts> {
        if let Some(running) = self.running.take() {
            running.abort();
            match running.await {
                Ok(ended) => ended?,
                Err(error) if error.is_cancelled() => {}
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(self.counts())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

/// What all connections of one proxy share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) saboteur: Saboteur,
    upstream: Mutex<SocketAddr>,
    counts: Mutex<Counts>,
    calls: AtomicU64,
    streams: AtomicU64,
    refuse: mpsc::Sender<()>,
    drop_open: watch::Sender<()>,
}

impl Shared {
    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        locked(&self.counts)
    }

    pub(crate) fn upstream(&self) -> SocketAddr {
        *locked(&self.upstream)
    }

    /// Draws what this request meets, and the chance of its details.
    pub(crate) fn draw(&self, request: &Request) -> (Option<Kind>, Chance) {
        let number = {
            let mut counts = self.counts();
            counts.requests += 1;
            counts.requests
        };
        let fault = if request.asks_for_events() {
            self.plan
                .of_stream(self.streams.fetch_add(1, Ordering::Relaxed))
        } else {
            self.plan
                .of_call(self.calls.fetch_add(1, Ordering::Relaxed))
        };
        (fault, self.plan.details(number))
    }

    /// Asks for the port to be closed for a while. Two that ask at once get one closing.
    pub(crate) fn ask_to_refuse(&self) {
        // A full channel means that another connection has asked and is not heard yet.
        let _ = self.refuse.try_send(());
    }

    /// Changes when the open connections are to be dropped.
    pub(crate) fn drop_open(&self) -> watch::Receiver<()> {
        self.drop_open.subscribe()
    }
}

async fn run(
    mut listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    mut refusals: mpsc::Receiver<()>,
) -> io::Result<()> {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A client that is gone before it is accepted is no fault of the proxy.
                if let Ok((client, _)) = accepted {
                    let _ = client.set_nodelay(true);
                    open.spawn(exchange::run(client, Arc::clone(&shared)));
                }
            }
            Some(()) = refusals.recv() => {
                drop(listener);
                shared.drop_open.send_replace(());
                shared.counts().fault(Kind::Refuse);
                sleep(shared.plan.refuse_for).await;
                while refusals.try_recv().is_ok() {}
                listener = listen_again(address).await?;
            }
            Some(ended) = open.join_next() => {
                if let Ok(Next::Refuse) = ended {
                    shared.ask_to_refuse();
                }
            }
        }
    }
}

/// Opens this port once it is free.
pub(crate) async fn listen_again(address: SocketAddr) -> io::Result<TcpListener> {
    let mut tries = 0;
    loop {
        match listen(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries < BIND_TRIES => {
                tries += 1;
                sleep(Duration::from_millis(10)).await;
            }
            listening => return listening,
        }
    }
}

pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // Connections that the closing left in TIME_WAIT must not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
