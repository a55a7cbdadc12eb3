//! The steps of a script, and the bytes of replies and event streams.

use std::time::Duration;

use crate::log::Gate;

/// One thing that an [`Origin`](crate::Origin) does on a connection.
#[derive(Debug, Clone)]
pub enum Step {
    /// Reads one request and takes it down. Without one the connection is closed.
    Read,
    /// Reads the head of a request and takes it down; its body stays unread.
    ReadHead,
    /// Writes these bytes.
    Send(Vec<u8>),
    /// Writes these bytes, so many at a time, with this pause after each piece.
    Pieces(Vec<u8>, usize, Duration),
    /// Writes these bytes again and again, so many times: a reply that no memory holds.
    Repeat(Vec<u8>, u64),
    /// Waits.
    Pause(Duration),
    /// Waits until the test opens the gate.
    Wait(Gate),
    /// From now on the connection is closed when no request comes for so long.
    KeepAlive(Duration),
    /// Closes the connection with a FIN, after all that was sent.
    Close,
    /// Closes the connection with a RST.
    Reset,
    /// Sends a FIN, and goes on reading until the client closes.
    HalfClose,
    /// Does nothing any more: no byte, no FIN, no RST, and nothing is read.
    Freeze,
}

/// A whole HTTP/1.1 reply with a length. `headers` are lines that each end with CRLF.
pub fn reply(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A whole HTTP/1.1 reply in chunks of so many bytes, as [`reply`] otherwise.
pub fn reply_in_chunks(status: u16, headers: &str, body: &str, of: usize) -> Vec<u8> {
    let mut bytes =
        format!("HTTP/1.1 {status} X\r\n{headers}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.as_bytes().chunks(of.max(1)) {
        bytes.extend(chunk(piece));
    }
    bytes.extend(LAST_CHUNK);
    bytes
}

const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    chunk
}

/// The answer to the open of an event stream, said part by part.
///
/// ```
/// # use faults::Events;
/// let steps = Events::ready("", Some(4)).event(5, "{}").end();
/// assert_eq!(steps.len(), 4);
/// ```
#[derive(Debug, Clone)]
pub struct Events(Vec<Step>);

impl Events {
    /// The head of the answer, and nothing behind it. `headers` are lines that end with CRLF.
    pub fn head(headers: &str) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{headers}content-type: text/event-stream\r\n\
             transfer-encoding: chunked\r\n\r\n"
        );
        Self(vec![Step::Send(head.into_bytes())])
    }

    /// The head, and the comment that says where the stream stands.
    pub fn ready(headers: &str, cursor: Option<u64>) -> Self {
        let ready = cursor.map_or_else(|| ": ready\n".into(), |at| format!(": ready {at}\n"));
        Self::head(headers).say(ready.as_bytes())
    }

    /// These bytes, in one chunk.
    #[must_use]
    pub fn say(self, bytes: &[u8]) -> Self {
        self.step(Step::Send(chunk(bytes)))
    }

    /// One event.
    #[must_use]
    pub fn event(self, id: u64, data: &str) -> Self {
        self.say(format!("id: {id}\ndata: {data}\n\n").as_bytes())
    }

    /// These bytes in chunks of so many, each torn on the socket too, with a pause after each.
    #[must_use]
    pub fn torn(mut self, bytes: &[u8], of: usize, pause: Duration) -> Self {
        for piece in bytes.chunks(of.max(1)) {
            let chunk = chunk(piece);
            let half = chunk.len() / 2;
            self = self.step(Step::Pieces(chunk, half, pause));
        }
        self
    }

    /// These bytes in one chunk, so many times.
    #[must_use]
    pub fn repeat(self, bytes: &[u8], times: u64) -> Self {
        self.step(Step::Repeat(chunk(bytes), times))
    }

    /// Silence.
    #[must_use]
    pub fn idle(self, pause: Duration) -> Self {
        self.step(Step::Pause(pause))
    }

    /// Silence until the test opens the gate.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// The proper end. The connection stays.
    pub fn end(self) -> Vec<Step> {
        self.step(Step::Send(LAST_CHUNK.into())).0
    }

    /// A FIN inside the stream.
    pub fn cut(self) -> Vec<Step> {
        self.step(Step::Close).0
    }

    /// A RST inside the stream.
    pub fn reset(self) -> Vec<Step> {
        self.step(Step::Reset).0
    }

    /// Silence for ever: no byte, no end.
    pub fn freeze(self) -> Vec<Step> {
        self.step(Step::Freeze).0
    }

    fn step(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}
