//! An HTTP/1.1 client of a few lines, so that a test says each byte that it sends.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

const WITHIN: Duration = Duration::from_secs(30);

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A whole reply, or the head of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} stands there twice");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        assert_eq!(self.json()["status"], self.status);
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

/// A request as text.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    /// A request of ann's.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self::bare(method, path).header("authorization", "Bearer ann-token")
    }

    /// A request without a token.
    pub(crate) fn bare(method: &str, path: &str) -> Self {
        Self {
            head: format!("{method} {path} HTTP/1.1\r\nhost: test\r\n"),
            body: Vec::new(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.extend([name, ": ", value, "\r\n"]);
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }

    pub(crate) fn call(self, id: &str) -> Self {
        self.header("riff-call", id)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone().into_bytes();
        if !self.body.is_empty() {
            bytes.extend(format!("content-length: {}\r\n", self.body.len()).bytes());
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }
}

/// Returns when a call of ann's with this ID is queued: from then on another body is refused.
pub(crate) async fn queued(at: SocketAddr, id: &str) {
    let mut client = Client::connect(at).await;
    let other = Request::new("POST", "/v1/boom").call(id);
    loop {
        let reply = client.ask(&other).await;
        if reply.status == 422 {
            assert_eq!(reply.code(), "call_reused");
            assert_eq!(reply.header("riff-refused"), None, "no handler said it");
            return;
        }
        assert_eq!(reply.status, 500, "not queued yet: the handler panics");
    }
}

impl Client {
    pub(crate) async fn connect(to: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(to).await.unwrap(),
            read: Vec::new(),
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, request: &Request) -> Reply {
        self.send(&request.bytes()).await;
        self.reply().await
    }

    /// The head of a reply; its body follows.
    pub(crate) async fn head(&mut self) -> Reply {
        let head = self.until("\r\n\r\n").await;
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Reply {
            status,
            headers,
            body: String::new(),
        }
    }

    pub(crate) async fn reply(&mut self) -> Reply {
        let mut reply = self.head().await;
        if let Some(length) = reply.header("content-length") {
            let length = length.parse().unwrap();
            reply.body = self.take(length).await;
        }
        reply
    }

    /// The next chunk of a chunked body; none at its end.
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let length = self.until("\r\n").await;
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        let chunk = self.take(length).await;
        self.take(2).await;
        (length > 0).then_some(chunk)
    }

    /// Whether nothing was sent to it yet.
    pub(crate) fn is_unanswered(&self) -> bool {
        let read = self.stream.try_read(&mut [0; 1]);
        matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Whether the server closes the connection.
    pub(crate) async fn is_closed(&mut self) -> bool {
        let mut byte = [0; 1];
        matches!(
            timeout(WITHIN, self.stream.read(&mut byte)).await.unwrap(),
            Ok(0) | Err(_)
        )
    }

    async fn until(&mut self, end: &str) -> String {
        loop {
            let found = self
                .read
                .windows(end.len())
                .position(|window| window == end.as_bytes());
            if let Some(at) = found {
                return self.take(at + end.len()).await;
            }
            self.more().await;
        }
    }

    async fn take(&mut self, bytes: usize) -> String {
        while self.read.len() < bytes {
            self.more().await;
        }
        String::from_utf8(self.read.drain(..bytes).collect()).unwrap()
    }

    async fn more(&mut self) {
        let read = timeout(WITHIN, self.stream.read_buf(&mut self.read)).await;
        let count = read.expect("no byte came").unwrap();
        assert!(
            count > 0,
            "the connection ended after {:?}",
            String::from_utf8_lossy(&self.read)
        );
    }
}
