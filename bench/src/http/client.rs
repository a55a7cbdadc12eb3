//! The load: connections that are kept, a call at a time on each, and a reader of HTTP/1.1 that
//! takes as little of the cores as it can.

use std::{
    io::Write as _,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{app, load};

/// Where the commands go in turn.
const THREADS: u64 = 100;
const MOST_HEADERS: usize = 32;

/// How a server wants a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A call ID, and what the client has seen of the log (docs/wire.md).
    Riff,
    /// An `idempotency-key`.
    Key,
    /// The same, to an object that is named in the path.
    Restate,
}

/// A server under load.
#[derive(Debug)]
pub(crate) struct Target {
    at: SocketAddr,
    dialect: Dialect,
    /// The number of the next call: none is used twice.
    next: AtomicU64,
    /// The newest position of the log that a reply named, where the dialect has such.
    seen: Mutex<Vec<u8>>,
}

impl Target {
    pub(crate) fn new(at: SocketAddr, dialect: Dialect) -> Self {
        Self {
            at,
            dialect,
            next: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    /// Whether a repeat gets the reply of the first try, and another call another one.
    pub(crate) async fn check(&self) -> Result<(), String> {
        let mut connection = Connection::open(self.at, self.echo()).await?;
        // The same thread and caller each time.
        let (first, other) = (0, THREADS);
        self.next.store(THREADS + 1, Ordering::Relaxed);
        let reply = self.say(&mut connection, 0, first).await?;
        if self.say(&mut connection, 0, first).await? != reply {
            return Err("a repeat ran again".into());
        }
        if self.say(&mut connection, 0, other).await? == reply {
            return Err("a new call got the reply of another one".into());
        }
        Ok(())
    }

    /// Calls a second with so many in flight, measured after a warm-up on the same connections.
    pub(crate) async fn load(
        self: &Arc<Self>,
        in_flight: usize,
        warm: Duration,
        within: Duration,
    ) -> Result<f64, String> {
        let mut connections = Vec::new();
        for _ in 0..in_flight {
            let connection = Connection::open(self.at, self.echo()).await?;
            connections.push(tokio::sync::Mutex::new(connection));
        }
        let connections = Arc::new(connections);
        let target = Arc::clone(self);
        let one = move |worker: usize, _| {
            let (target, connections) = (Arc::clone(&target), Arc::clone(&connections));
            async move {
                let number = target.next.fetch_add(1, Ordering::Relaxed);
                let mut connection = connections[worker].lock().await;
                target.say(&mut connection, worker, number).await.map(drop)
            }
        };
        load::run(in_flight, warm, one.clone()).await?;
        Ok(load::run(in_flight, within, one).await?.rate)
    }

    /// Sends the call of this number, and gives the body of its reply. Anything but 200 is an
    /// error.
    async fn say(
        &self,
        connection: &mut Connection,
        worker: usize,
        number: u64,
    ) -> Result<Vec<u8>, String> {
        let request = &mut connection.request;
        request.clear();
        self.write(request, worker, number)
            .map_err(|error| error.to_string())?;
        let (status, body) = connection.ask().await?;
        if status != 200 {
            let body = String::from_utf8_lossy(&body);
            return Err(format!("a call was answered by {status}: {body}"));
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone_from(&connection.echoed);
        Ok(body)
    }

    fn write(&self, to: &mut Vec<u8>, worker: usize, number: u64) -> std::io::Result<()> {
        let thread = format!("room-{:02}", number % THREADS);
        let body = app::body_in(&thread);
        match self.dialect {
            Dialect::Riff | Dialect::Key => to.extend(b"POST /v1/say"),
            Dialect::Restate => write!(to, "POST /Board/{thread}/say")?,
        }
        let key = match self.dialect {
            Dialect::Riff => "riff-call",
            Dialect::Key | Dialect::Restate => "idempotency-key",
        };
        write!(
            to,
            " HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer token-{}\r\ncontent-type: \
             application/json\r\ncontent-length: {}\r\n{key}: {}\r\n",
            worker % 16,
            body.len(),
            app::id(number),
        )?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.is_empty() {
            to.extend(b"riff-log: ");
            to.extend(seen.as_slice());
            to.extend(b"\r\n");
        }
        to.extend(b"\r\n");
        to.extend(body);
        Ok(())
    }

    /// The header of a reply that goes into the next request.
    fn echo(&self) -> Option<&'static str> {
        (self.dialect == Dialect::Riff).then_some("riff-log")
    }
}

/// A connection that is kept.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// The bytes of the request that is asked next.
    pub(crate) request: Vec<u8>,
    read: Vec<u8>,
    echo: Option<&'static str>,
    /// What the newest reply had in the header `echo`.
    echoed: Vec<u8>,
}

/// What the head of a reply says.
struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
}

impl Connection {
    pub(crate) async fn open(at: SocketAddr, echo: Option<&'static str>) -> Result<Self, String> {
        let stream = TcpStream::connect(at).await;
        let stream = stream.map_err(|error| format!("no connection to {at}: {error}"))?;
        stream
            .set_nodelay(true)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            request: Vec::new(),
            read: Vec::new(),
            echo,
            echoed: Vec::new(),
        })
    }

    /// Sends the request, and gives the status and the body of the reply.
    pub(crate) async fn ask(&mut self) -> Result<(u16, Vec<u8>), String> {
        let sent = self.stream.write_all(&self.request).await;
        sent.map_err(|error| format!("a call cannot be sent: {error}"))?;
        self.read.clear();
        let head = loop {
            self.more().await?;
            if let Some(head) = self.head()? {
                break head;
            }
        };
        while self.read.len() < head.bytes + head.body_bytes {
            self.more().await?;
        }
        Ok((head.status, self.read.split_off(head.bytes)))
    }

    async fn more(&mut self) -> Result<(), String> {
        match self.stream.read_buf(&mut self.read).await {
            Ok(0) => Err("the connection ended before a reply".into()),
            Ok(_) => Ok(()),
            Err(error) => Err(format!("no reply can be read: {error}")),
        }
    }

    /// The head, once it is whole.
    fn head(&mut self) -> Result<Option<Head>, String> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let whole = parsed
            .parse(&self.read)
            .map_err(|error| error.to_string())?;
        let (httparse::Status::Complete(bytes), Some(status)) = (whole, parsed.code) else {
            return Ok(None);
        };
        let mut body_bytes = None;
        for header in parsed.headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let value = std::str::from_utf8(header.value).ok();
                body_bytes = value.and_then(|value| value.parse().ok());
            }
            if self
                .echo
                .is_some_and(|echo| header.name.eq_ignore_ascii_case(echo))
            {
                self.echoed.clear();
                self.echoed.extend_from_slice(header.value);
            }
        }
        let body_bytes = body_bytes.ok_or("a reply does not say how long it is")?;
        Ok(Some(Head {
            status,
            bytes,
            body_bytes,
        }))
    }
}
