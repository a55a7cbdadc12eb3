//! Whole requests and replies of HTTP/1.1: where they end, and their bytes as they came.

mod reader;

use std::io;

use tokio::io::AsyncRead;

pub(crate) use self::reader::Reader;

const MOST_BODY: usize = 64 * 1024 * 1024;

/// The first line and the headers of a message.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    first: String,
    headers: Vec<(String, String)>,
}

impl Head {
    fn parse(bytes: &[u8]) -> io::Result<Self> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
        let first = lines
            .next()
            .ok_or_else(|| unreadable("a head without a line"))?
            .to_owned();
        let headers = lines
            .map(|line| {
                let (name, value) = line
                    .split_once(':')
                    .ok_or_else(|| unreadable("a header without a colon"))?;
                Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            })
            .collect::<io::Result<_>>()?;
        Ok(Self { first, headers })
    }

    /// The first value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// All headers in their order, each with its name in lower case.
    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Gives a header another value, if it is there.
    pub(crate) fn replace(&mut self, name: &str, new: &str) {
        for (_, value) in self.headers.iter_mut().filter(|(known, _)| known == name) {
            new.clone_into(value);
        }
    }

    /// The head as it goes over the wire, with the empty line.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\n", self.first);
        for (name, value) in &self.headers {
            text.push_str(name);
            text.push_str(": ");
            text.push_str(value);
            text.push_str("\r\n");
        }
        text.push_str("\r\n");
        text.into_bytes()
    }

    /// A word of the first line: of a request, its method is 0 and its target 1.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.first.split(' ').nth(index).unwrap_or_default()
    }

    fn length(&self) -> io::Result<Option<usize>> {
        let Some(text) = self.header("content-length") else {
            return Ok(None);
        };
        let length = text
            .parse()
            .map_err(|_| unreadable("a content-length that is no number"))?;
        if length > MOST_BODY {
            return Err(unreadable("a body of more than 64 MiB"));
        }
        Ok(Some(length))
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    }
}

/// A request, read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum NoRequest {
    /// The client has closed its side, or broke off.
    Gone,
    /// The proxy does not understand what was sent.
    Unknown(&'static str),
}

impl Request {
    /// Reads the next request of a connection.
    pub(crate) async fn read<R: AsyncRead + Unpin>(
        reader: &mut Reader<R>,
    ) -> Result<Self, NoRequest> {
        let head = match reader.head().await {
            Ok(Some(head)) => head,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(NoRequest::Unknown("the head of the request cannot be read"));
            }
            Ok(None) | Err(_) => return Err(NoRequest::Gone),
        };
        if !head.word(2).starts_with("HTTP/1.") {
            return Err(NoRequest::Unknown("the proxy speaks HTTP/1.1 only"));
        }
        if head.header("transfer-encoding").is_some() || head.header("expect").is_some() {
            return Err(NoRequest::Unknown(
                "the proxy takes a body with a content-length only",
            ));
        }
        let Ok(length) = head.length() else {
            return Err(NoRequest::Unknown("the length of the body cannot be read"));
        };
        let mut body = Vec::new();
        match reader.exactly(length.unwrap_or(0), &mut body).await {
            Ok(()) => Ok(Self { head, body }),
            Err(_) => Err(NoRequest::Gone),
        }
    }

    pub(crate) fn method(&self) -> &str {
        self.head.word(0)
    }

    pub(crate) fn target(&self) -> &str {
        self.head.word(1)
    }

    pub(crate) fn asks_for_events(&self) -> bool {
        self.head
            .header("accept")
            .is_some_and(|value| value.contains("text/event-stream"))
    }
}

/// The head of a reply, and what is known from it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: Head,
    /// The bytes of the head, and of the body once it is read.
    pub(crate) bytes: Vec<u8>,
    frame: Frame,
}

#[derive(Debug, Clone, Copy)]
enum Frame {
    Length(usize),
    Chunks,
    ToTheEnd,
}

impl Reply {
    /// Reads the head of the reply to a request with this method.
    pub(crate) async fn read_head<R: AsyncRead + Unpin>(
        reader: &mut Reader<R>,
        method: &str,
    ) -> io::Result<Self> {
        let head = loop {
            let head = reader.head().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            // 100 and 103 come before the reply.
            if !head.word(1).starts_with('1') {
                break head;
            }
        };
        let frame = if method == "HEAD" || matches!(head.word(1), "204" | "304") {
            Frame::Length(0)
        } else if head.is_chunked() {
            Frame::Chunks
        } else {
            head.length()?.map_or(Frame::ToTheEnd, Frame::Length)
        };
        let bytes = head.bytes();
        Ok(Self { head, bytes, frame })
    }

    /// Reads the body behind the head into `bytes`.
    pub(crate) async fn read_body<R: AsyncRead + Unpin>(
        &mut self,
        reader: &mut Reader<R>,
    ) -> io::Result<()> {
        match self.frame {
            Frame::Length(length) => reader.exactly(length, &mut self.bytes).await,
            Frame::Chunks => {
                while !reader.chunk(&mut self.bytes).await?.is_empty() {
                    if self.bytes.len() > MOST_BODY {
                        return Err(unreadable("a body of more than 64 MiB"));
                    }
                }
                Ok(())
            }
            Frame::ToTheEnd => reader.rest(&mut self.bytes).await,
        }
    }

    pub(crate) fn is_success(&self) -> bool {
        self.head.word(1).starts_with('2')
    }

    /// Whether it is an event stream, which has no end that one could wait for.
    pub(crate) fn is_events(&self) -> bool {
        let events = self
            .head
            .header("content-type")
            .is_some_and(|value| value.starts_with("text/event-stream"));
        events && matches!(self.frame, Frame::Chunks)
    }

    /// Whether the connection ends with it.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.frame, Frame::ToTheEnd)
            || self
                .head
                .header("connection")
                .is_some_and(|v| v.eq_ignore_ascii_case("close"))
    }
}

fn unreadable(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn whole(reply: &str, method: &str) -> io::Result<String> {
        let mut reader = Reader::new(reply.as_bytes());
        let mut read = Reply::read_head(&mut reader, method).await?;
        read.read_body(&mut reader).await?;
        Ok(String::from_utf8_lossy(&read.bytes).into_owned())
    }

    #[tokio::test]
    async fn a_reply_ends_where_its_framing_says() {
        let length = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabHTTP/1.1";
        assert!(whole(length, "GET").await.unwrap().ends_with("\r\n\r\nab"));
        assert!(whole(length, "HEAD").await.unwrap().ends_with("\r\n\r\n"));
        let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                      2;x=1\r\nab\r\nA\r\n0123456789\r\n0\r\nt: 1\r\n\r\nHTTP";
        assert!(
            whole(chunks, "GET")
                .await
                .unwrap()
                .ends_with("0\r\nt: 1\r\n\r\n")
        );
        let early = "HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end";
        let read = whole(early, "GET").await.unwrap();
        assert_eq!(read, "HTTP/1.1 200 OK\r\n\r\nto the end");
    }

    #[tokio::test]
    async fn a_part_of_a_reply_is_no_reply() {
        let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
        for end in 0..chunks.len() {
            assert!(
                whole(&chunks[..end], "GET").await.is_err(),
                "{:?}",
                &chunks[..end]
            );
        }
        assert!(whole(chunks, "GET").await.is_ok());
    }

    #[tokio::test]
    async fn what_is_not_understood_is_told() {
        for head in [
            "PRI * HTTP/2.0\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: two\r\n\r\n",
            "POST / HTTP/1.1\r\nno colon\r\n\r\n",
        ] {
            let read = Request::read(&mut Reader::new(head.as_bytes())).await;
            assert!(matches!(read, Err(NoRequest::Unknown(_))), "{head:?}");
        }
    }
}
