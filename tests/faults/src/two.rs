//! An HTTP/2 server that follows a script, also where a library would not: a `GOAWAY` with any
//! last stream, a refused stream, silence.
//!
//! The crate `h2` does what is normal. What is not goes between its frames on their way out.

mod serve;
mod wire;

use std::{io, sync::Arc, time::Duration};

#[cfg(feature = "tls")]
use tokio::net::TcpStream;

#[cfg(feature = "tls")]
use crate::tls::Identity;
use crate::{
    log::{Gate, Seen, Told},
    running::Running,
};

/// One thing that an [`Origin2`] does for a request, or for its connection.
///
/// A stream whose steps are done before its reply has ended is reset: [`Hang`](Self::Hang) leaves
/// it open.
#[derive(Debug, Clone)]
pub enum Step2 {
    /// Begins the reply: its status and its headers.
    Head(u16, Vec<(&'static str, String)>),
    /// More of its body.
    Data(Vec<u8>),
    /// Ends the reply.
    End,
    /// Refuses the stream: `RST_STREAM` with `REFUSED_STREAM`.
    Refuse,
    /// Resets the stream with this code of RFC 9113, section 7.
    Reset(u32),
    /// Says nothing more on this stream.
    Hang,
    /// Sends a `GOAWAY` with this last stream and this code. The streams go on as before.
    GoAway(u32, u32),
    /// Waits.
    Pause(Duration),
    /// Waits until the test opens the gate.
    Wait(Gate),
    /// Ends the connection after all frames that were made before it.
    Close,
    /// Nothing is read or written on the connection any more: no byte, no FIN, no RST.
    Freeze,
}

impl Step2 {
    /// A whole reply.
    pub fn reply(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> Vec<Self> {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        vec![
            Self::Head(status, headers),
            Self::Data(body.into()),
            Self::End,
        ]
    }
}

type Steps = Arc<dyn Fn(&Seen) -> Vec<Step2> + Send + Sync>;

/// An HTTP/2 server that follows a script. It ends with [`stop`](Self::stop), or when it is
/// dropped.
#[derive(Debug)]
pub struct Origin2 {
    running: Running,
    scheme: &'static str,
}

impl Origin2 {
    /// Opens a free port of 127.0.0.1, without TLS: clients speak HTTP/2 from their first byte.
    /// These steps follow each request that is there whole. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// No port can be had.
    pub fn start(steps: impl Fn(&Seen) -> Vec<Step2> + Send + Sync + 'static) -> io::Result<Self> {
        let steps: Steps = Arc::new(steps);
        let running = Running::start(move |client, number, log| {
            serve::connection(client, number, steps.clone(), log)
        })?;
        Ok(Self {
            running,
            scheme: "http",
        })
    }

    /// As [`start`](Self::start), over TLS.
    ///
    /// # Errors
    /// No port can be had.
    #[cfg(feature = "tls")]
    pub fn start_tls(
        identity: &Identity,
        steps: impl Fn(&Seen) -> Vec<Step2> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let steps: Steps = Arc::new(steps);
        let acceptor = identity.acceptor();
        let running = Running::start(move |client: TcpStream, number, log| {
            let (acceptor, steps) = (acceptor.clone(), steps.clone());
            async move {
                if let Ok(client) = acceptor.accept(client).await {
                    serve::connection(client, number, steps, log).await;
                }
            }
        })?;
        Ok(Self {
            running,
            scheme: "https",
        })
    }

    /// The URL of its root.
    pub fn base(&self) -> String {
        format!(
            "{}://localhost:{}",
            self.scheme,
            self.running.address().port()
        )
    }

    /// Where clients connect to.
    pub fn address(&self) -> std::net::SocketAddr {
        self.running.address()
    }

    /// What was heard and said so far.
    pub fn told(&self) -> Told {
        self.running.log.told()
    }

    /// Closes the port and all connections, and tells what was heard and said.
    pub async fn stop(self) -> Told {
        self.running.stop().await
    }
}
