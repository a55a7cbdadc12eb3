//! One connection of an origin: the steps of its script, one after the other.

use std::{sync::Arc, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{sleep, timeout},
};

use super::{Kind, Script, Step};
use crate::{
    log::{Log, Seen},
    message::{Head, Reader, Request},
};

/// Serves one connection to its end.
pub(super) async fn connection(client: TcpStream, number: usize, script: Script, log: Arc<Log>) {
    let mut connection = Connection {
        reader: Reader::new(client),
        number,
        log,
        keep_alive: None,
    };
    match script.0 {
        Kind::Connections(steps) => {
            connection.follow(steps(number)).await;
        }
        Kind::Requests(steps) => {
            while let Some(seen) = connection.request().await {
                if connection.follow(steps(&seen)).await.is_none() {
                    break;
                }
            }
        }
    }
}

struct Connection {
    reader: Reader<TcpStream>,
    number: usize,
    log: Arc<Log>,
    keep_alive: Option<Duration>,
}

impl Connection {
    /// Follows the steps; none when the connection has ended.
    async fn follow(&mut self, steps: Vec<Step>) -> Option<()> {
        for step in steps {
            self.step(step).await?;
        }
        Some(())
    }

    async fn step(&mut self, step: Step) -> Option<()> {
        match step {
            Step::Read => {
                self.request().await?;
            }
            Step::ReadHead => {
                let head = self.reader.head().await.ok()??;
                self.saw(&head, Vec::new());
            }
            Step::Send(bytes) => self.send(&bytes).await?,
            Step::Pieces(bytes, of, pause) => {
                for piece in bytes.chunks(of.max(1)) {
                    self.send(piece).await?;
                    sleep(pause).await;
                }
            }
            Step::Repeat(bytes, times) => {
                for _ in 0..times {
                    self.send(&bytes).await?;
                }
            }
            Step::Pause(pause) => sleep(pause).await,
            Step::Wait(gate) => gate.wait().await,
            Step::KeepAlive(limit) => self.keep_alive = Some(limit),
            Step::Close => {
                let _ = self.reader.side().shutdown().await;
                return None;
            }
            Step::Reset => {
                let _ = self.reader.side().set_zero_linger();
                return None;
            }
            Step::HalfClose => {
                let _ = self.reader.side().shutdown().await;
                self.reader.gone().await;
                return None;
            }
            Step::Freeze => std::future::pending().await,
        }
        Some(())
    }

    /// Reads the next request; none when the client is gone, or too late.
    async fn request(&mut self) -> Option<Seen> {
        let read = Request::read(&mut self.reader);
        let request = match self.keep_alive {
            Some(limit) => timeout(limit, read).await.ok()?,
            None => read.await,
        };
        let Request { head, body } = request.ok()?;
        Some(self.saw(&head, body))
    }

    fn saw(&self, head: &Head, body: Vec<u8>) -> Seen {
        self.log.saw(Seen {
            number: 0,
            connection: self.number,
            stream: 0,
            method: head.word(0).to_owned(),
            target: head.word(1).to_owned(),
            headers: head.headers().to_vec(),
            body,
            at: Duration::ZERO,
        })
    }

    async fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.reader.side().write_all(bytes).await.ok()?;
        self.log.sent(bytes.len());
        Some(())
    }
}
