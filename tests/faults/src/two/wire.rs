//! What stands between the HTTP/2 library and the socket: passes on whole frames, and puts others
//! between them.

use std::{io, sync::Arc};

use tokio::{
    io::{
        AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf,
        copy, split,
    },
    sync::mpsc,
};

use crate::log::Log;

/// The length of a frame's head (RFC 9113, section 4.1).
const HEAD: usize = 9;
const GO_AWAY: u8 = 7;

/// What is done to a connection beside the frames of the library.
#[derive(Debug)]
pub(super) enum Order {
    GoAway(u32, u32),
    Close,
    Freeze,
}

/// Passes bytes between the socket and the library until one side ends, or an order says so.
pub(super) async fn pass<C>(
    client: C,
    library: DuplexStream,
    orders: mpsc::UnboundedReceiver<Order>,
    log: Arc<Log>,
) where
    C: AsyncRead + AsyncWrite,
{
    let (mut from_client, to_client) = split(client);
    let (from_library, mut to_library) = split(library);
    let mut out = Out {
        from_library,
        to_client,
        orders,
        ahead: Vec::new(),
        log,
    };
    let frozen = tokio::select! {
        frozen = out.run() => frozen.unwrap_or(false),
        _ = copy(&mut from_client, &mut to_library) => false,
    };
    if frozen {
        std::future::pending::<()>().await;
    }
}

struct Out<C> {
    from_library: ReadHalf<DuplexStream>,
    to_client: WriteHalf<C>,
    orders: mpsc::UnboundedReceiver<Order>,
    ahead: Vec<u8>,
    log: Arc<Log>,
}

impl<C: AsyncRead + AsyncWrite> Out<C> {
    /// Whether it ended because the connection is frozen.
    async fn run(&mut self) -> io::Result<bool> {
        loop {
            while let Some(frame) = self.frame() {
                self.write(&frame).await?;
            }
            tokio::select! {
                // What the library has said comes before an order that was given after it.
                biased;
                read = self.from_library.read_buf(&mut self.ahead) => {
                    if read? == 0 {
                        return Ok(false);
                    }
                }
                Some(order) = self.orders.recv() => match order {
                    Order::GoAway(last, code) => self.write(&go_away(last, code)).await?,
                    Order::Close => {
                        self.to_client.shutdown().await?;
                        return Ok(false);
                    }
                    Order::Freeze => return Ok(true),
                },
            }
        }
    }

    /// The next frame that is whole. What goes to a client has no preface.
    fn frame(&mut self) -> Option<Vec<u8>> {
        let &[high, middle, low, ..] = self.ahead.as_slice() else {
            return None;
        };
        let length = u32::from_be_bytes([0, high, middle, low]);
        let end = HEAD + usize::try_from(length).ok()?;
        (self.ahead.len() >= end).then(|| self.ahead.drain(..end).collect())
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to_client.write_all(bytes).await?;
        self.to_client.flush().await?;
        self.log.sent(bytes.len());
        Ok(())
    }
}

/// The frame `GOAWAY` (RFC 9113, section 6.8).
fn go_away(last: u32, code: u32) -> Vec<u8> {
    let mut frame = vec![0, 0, 8, GO_AWAY, 0, 0, 0, 0, 0];
    frame.extend((last & 0x7fff_ffff).to_be_bytes());
    frame.extend(code.to_be_bytes());
    frame
}
