//! What the servers of tests have in common: a port of loopback, a task, a log, and an end.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::{JoinHandle, JoinSet},
};

use crate::{
    log::{Log, Told},
    proxy::{listen, listen_again},
};

/// A server that runs. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    address: SocketAddr,
    pub(crate) log: Arc<Log>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    /// Serves each connection of a free port of 127.0.0.1.
    pub(crate) fn start<F, S>(serve: F) -> io::Result<Self>
    where
        F: Fn(TcpStream, usize, Arc<Log>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Self::over(listener, serve)
    }

    /// Serves each connection of this port, once it is free.
    pub(crate) async fn start_at<F, S>(address: SocketAddr, serve: F) -> io::Result<Self>
    where
        F: Fn(TcpStream, usize, Arc<Log>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::over(listen_again(address).await?, serve)
    }

    fn over<F, S>(listener: TcpListener, serve: F) -> io::Result<Self>
    where
        F: Fn(TcpStream, usize, Arc<Log>) -> S + Send + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let address = listener.local_addr()?;
        let log = Log::new();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(accept(listener, log.clone(), stopped, serve));
        Ok(Self {
            address,
            log,
            stop: Some(stop),
            task,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and all connections, frozen ones too, and waits until they are closed.
    pub(crate) async fn stop(mut self) -> Told {
        // Without a receiver the task has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = (&mut self.task).await;
        self.log.told()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept<F, S>(
    listener: TcpListener,
    log: Arc<Log>,
    mut stopped: oneshot::Receiver<()>,
    serve: F,
) where
    F: Fn(TcpStream, usize, Arc<Log>) -> S,
    S: Future<Output = ()> + Send + 'static,
{
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            accepted = listener.accept() => {
                if let Ok((client, _)) = accepted {
                    // Pieces are to leave as they are written.
                    let _ = client.set_nodelay(true);
                    open.spawn(serve(client, log.connected(), log.clone()));
                }
            }
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    open.shutdown().await;
}
