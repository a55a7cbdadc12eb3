//! A server over raw TCP that answers each request by a script, also with what no HTTP library
//! would send: half a reply, silence, a reset.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
    time::sleep,
};

/// The build header of replies that are our server's.
pub(crate) const BUILD: &str = "riff-build: 1.0 0.1.0 - -\r\n";

/// One thing that the server does after a request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Pause(u64),
    /// Waits until the test says so.
    Wait(Arc<Notify>),
    /// Closes the connection after all that was sent.
    Close,
    /// Resets the connection.
    Reset,
    /// Says nothing until the client closes.
    Hang,
}

/// One request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Which request of the server it is, from 0.
    pub(crate) number: usize,
    /// Which connection of the server it came over, from 0.
    pub(crate) connection: usize,
    pub(crate) method: String,
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

#[derive(Debug, Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    /// Connections that the client closed while the server hung.
    left: AtomicUsize,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    log: Arc<Log>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Answers each request by what `script` says for it.
    pub(crate) async fn new(script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), script)
    }

    pub(crate) fn on(
        listener: TcpListener,
        script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let log = Arc::<Log>::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::new(script), log.clone()));
        Self {
            address,
            log,
            _tasks: tasks,
        }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn left(&self) -> usize {
        self.log.left.load(Ordering::SeqCst)
    }
}

type Script = Arc<dyn Fn(&Seen) -> Vec<Step> + Send + Sync>;

async fn accept(listener: TcpListener, script: Script, log: Arc<Log>) {
    let mut tasks = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let connection = log.connections.fetch_add(1, Ordering::SeqCst);
        tasks.spawn(serve(stream, connection, script.clone(), log.clone()));
    }
}

async fn serve(mut stream: TcpStream, connection: usize, script: Script, log: Arc<Log>) {
    let mut bytes = Vec::new();
    while let Some(mut seen) = read(&mut stream, &mut bytes).await {
        seen.connection = connection;
        {
            let mut all = log.seen.lock().unwrap();
            seen.number = all.len();
            all.push(seen.clone());
        }
        for step in script(&seen) {
            match step {
                Step::Send(reply) => {
                    if stream.write_all(&reply).await.is_err() {
                        return;
                    }
                }
                Step::Pause(millis) => sleep(Duration::from_millis(millis)).await,
                Step::Wait(told) => told.notified().await,
                Step::Close => return,
                Step::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
                Step::Hang => {
                    let mut rest = [0; 64];
                    while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
                    log.left.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
        }
    }
}

/// Reads one request; none at the end of the connection.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Seen> {
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<_, _> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let end = head + 4 + length;
    while bytes.len() < end {
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = bytes[head + 4..end].to_vec();
    bytes.drain(..end);
    Some(Seen {
        number: 0,
        connection: 0,
        method,
        path,
        headers,
        body,
    })
}

/// A whole reply, with a length. `headers` are lines that end with CRLF.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> Step {
    let length = body.len();
    Step::Send(
        format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}").into(),
    )
}

/// A yes of our server.
pub(crate) fn yes(body: &str) -> Vec<Step> {
    vec![reply(200, BUILD, body)]
}

/// A no of our server, with these headers beside.
pub(crate) fn no(status: u16, code: &str, headers: &str) -> Vec<Step> {
    let body = format!(r#"{{"status":{status},"code":"{code}","detail":"because"}}"#);
    vec![reply(status, &format!("{BUILD}{headers}"), &body)]
}

/// The head of an event stream, in chunks, and its first ones.
pub(crate) fn stream(text: &str) -> Step {
    let head = format!(
        "HTTP/1.1 200 OK\r\n{BUILD}content-type: text/event-stream\r\n\
         transfer-encoding: chunked\r\n\r\n"
    );
    let Step::Send(first) = chunk(text) else {
        unreachable!()
    };
    Step::Send([head.into_bytes(), first].concat())
}

/// More of an event stream.
pub(crate) fn chunk(text: &str) -> Step {
    Step::Send(format!("{:x}\r\n{text}\r\n", text.len()).into())
}

/// The proper end of an event stream.
pub(crate) fn end() -> Step {
    Step::Send(b"0\r\n\r\n".to_vec())
}
