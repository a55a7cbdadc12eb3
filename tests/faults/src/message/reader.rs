//! Reads one side of a connection: heads, lines, chunks, and what was read ahead of them.

use std::{io, ops::Range};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Head, MOST_BODY, unreadable};

const MOST_HEAD: usize = 64 * 1024;

/// Reads messages off one side of a connection.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    from: R,
    ahead: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            ahead: Vec::new(),
        }
    }

    /// The side that is read from, to write to it.
    pub(crate) fn side(&mut self) -> &mut R {
        &mut self.from
    }

    /// Reads a head with its empty line; none when the other side ends before its first byte.
    pub(crate) async fn head(&mut self) -> io::Result<Option<Head>> {
        loop {
            if let Some(at) = find(&self.ahead, b"\r\n\r\n") {
                let head: Vec<u8> = self.ahead.drain(..at + 4).collect();
                return Head::parse(&head).map(Some);
            }
            if self.ahead.len() > MOST_HEAD {
                return Err(unreadable("a head of more than 64 KiB"));
            }
            if !self.more().await? {
                if self.ahead.is_empty() {
                    return Ok(None);
                }
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    pub(super) async fn exactly(&mut self, length: usize, into: &mut Vec<u8>) -> io::Result<()> {
        while self.ahead.len() < length {
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        into.extend(self.ahead.drain(..length));
        Ok(())
    }

    async fn line(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        loop {
            if let Some(at) = find(&self.ahead, b"\r\n") {
                into.extend(self.ahead.drain(..at + 2));
                return Ok(());
            }
            if self.ahead.len() > MOST_HEAD {
                return Err(unreadable("a line of more than 64 KiB"));
            }
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Appends one chunk with its framing, and says where its data lies. The last chunk, with its
    /// trailers, has none.
    pub(crate) async fn chunk(&mut self, into: &mut Vec<u8>) -> io::Result<Range<usize>> {
        let start = into.len();
        self.line(into).await?;
        let line = String::from_utf8_lossy(into.get(start..).unwrap_or_default()).into_owned();
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = usize::from_str_radix(digits, 16)
            .ok()
            .filter(|&length| length <= MOST_BODY)
            .ok_or_else(|| unreadable("a chunk without a length"))?;
        let data = into.len();
        if length > 0 {
            self.exactly(length + 2, into).await?;
            return Ok(data..data + length);
        }
        loop {
            let before = into.len();
            self.line(into).await?;
            if into.len() == before + 2 {
                return Ok(data..data);
            }
        }
    }

    pub(super) async fn rest(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        while self.more().await? {
            if self.ahead.len() > MOST_BODY {
                return Err(unreadable("a body of more than 64 MiB"));
            }
        }
        into.append(&mut self.ahead);
        Ok(())
    }

    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.from.read_buf(&mut self.ahead).await? > 0)
    }

    /// Waits until the other side is gone, whatever it still sends.
    pub(crate) async fn gone(&mut self) {
        while matches!(self.more().await, Ok(true)) {
            self.ahead.clear();
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
