//! Requests by hand: their IDs, tries and positions are the test's own.

use std::{fmt::Write as _, io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// How long a reply may take before the try is given up.
const REPLY: Duration = Duration::from_secs(15);

/// A request that can be sent again as it was.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) token: String,
    /// The call ID; none for what is no command.
    pub(crate) call: Option<String>,
    /// What the caller had seen of the log before the first try.
    pub(crate) seen: Option<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Whether the server says that it gave this before.
    pub(crate) repeat: bool,
    /// Whether the server says that the handler refused.
    pub(crate) refused: bool,
    /// How far its log was.
    pub(crate) log: Option<String>,
}

impl Request {
    fn bytes(&self, attempt: u32) -> Vec<u8> {
        let mut head = format!(
            "POST {} HTTP/1.1\r\nhost: riff\r\nauthorization: Bearer {}\r\ncontent-length: {}\r\n\
             connection: close\r\n",
            self.path,
            self.token,
            self.body.len()
        );
        // Writing to a string does not fail.
        if let Some(call) = &self.call {
            let _ = write!(head, "riff-call: {call}\r\nriff-try: {attempt}\r\n");
        }
        if let Some(seen) = &self.seen {
            let _ = write!(head, "riff-log: {seen}\r\n");
        }
        head += "\r\n";
        head += &self.body;
        head.into_bytes()
    }

    /// One try on a connection of its own.
    pub(crate) async fn send(&self, to: SocketAddr, attempt: u32) -> io::Result<Reply> {
        let exchange = async {
            let mut socket = TcpStream::connect(to).await?;
            socket.write_all(&self.bytes(attempt)).await?;
            let mut text = String::new();
            socket.read_to_string(&mut text).await?;
            Reply::parse(&text).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        };
        timeout(REPLY, exchange)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Sends the first `bytes` of it, or all, and goes away without a look at the reply.
    pub(crate) async fn hang_up(&self, to: SocketAddr, bytes: Option<usize>) -> io::Result<()> {
        let mut socket = TcpStream::connect(to).await?;
        let whole = self.bytes(1);
        let part = bytes.map_or(whole.len(), |bytes| bytes.min(whole.len()));
        socket.write_all(&whole[..part]).await?;
        socket.flush().await
    }
}

impl Reply {
    /// A whole reply, or none: one that was cut off is no reply.
    fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut reply = Self {
            status,
            body: body.to_owned(),
            repeat: false,
            refused: false,
            log: None,
        };
        let mut length = None;
        for line in lines {
            let (name, value) = line.split_once(": ")?;
            match name {
                "content-length" => length = value.parse().ok(),
                "riff-repeat" => reply.repeat = value == "1",
                "riff-refused" => reply.refused = true,
                "riff-log" => reply.log = Some(value.to_owned()),
                _ => {}
            }
        }
        (length == Some(body.len())).then_some(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_was_cut_off_is_none() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nriff-repeat: 1\r\n\r\n{}";
        let reply = Reply::parse(whole).unwrap();
        assert_eq!(
            (reply.status, reply.body.as_str(), reply.repeat),
            (200, "{}", true)
        );
        for cut in 0..whole.len() {
            assert_eq!(Reply::parse(&whole[..cut]), None, "{cut}");
        }
    }
}
