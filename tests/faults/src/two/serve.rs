//! One connection of an HTTP/2 origin: its requests, and the steps for each.

use std::{sync::Arc, time::Duration};

use h2::{
    Reason, RecvStream, SendStream,
    server::{Builder, SendResponse},
};
use http::{Request, Response};
use tokio::{
    io::{AsyncRead, AsyncWrite, duplex},
    sync::mpsc,
    task::JoinSet,
    time::sleep,
};

use super::{Step2, Steps, wire};
use crate::log::{Log, Seen};

/// How many bytes stand between the library and the socket.
const BETWEEN: usize = 64 * 1024;
/// What a stream may send ahead. It is far more than any request of a test.
const WINDOW: u32 = 16 << 20;

/// Serves one connection to its end.
pub(super) async fn connection<C>(client: C, number: usize, steps: Steps, log: Arc<Log>)
where
    C: AsyncRead + AsyncWrite,
{
    let (outside, inside) = duplex(BETWEEN);
    let (order, orders) = mpsc::unbounded_channel();
    let requests = async {
        let mut builder = Builder::new();
        builder
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        let Ok(mut library) = builder.handshake::<_, bytes::Bytes>(inside).await else {
            return;
        };
        let mut open = JoinSet::new();
        while let Some(Ok((request, respond))) = library.accept().await {
            let exchange = Exchange {
                respond,
                sending: None,
                order: order.clone(),
            };
            open.spawn(exchange.run(request, number, steps.clone(), log.clone()));
        }
    };
    tokio::select! {
        () = wire::pass(client, outside, orders, log.clone()) => {}
        () = async {
            requests.await;
            // The rest of what it has said is passed on; then its side of the duplex has ended.
            std::future::pending::<()>().await;
        } => {}
    }
}

/// One request and its reply.
struct Exchange {
    respond: SendResponse<bytes::Bytes>,
    sending: Option<SendStream<bytes::Bytes>>,
    order: mpsc::UnboundedSender<wire::Order>,
}

impl Exchange {
    async fn run(
        mut self,
        request: Request<RecvStream>,
        connection: usize,
        steps: Steps,
        log: Arc<Log>,
    ) {
        let stream = self.respond.stream_id().as_u32();
        let Some(seen) = read(request, connection, stream).await else {
            return;
        };
        let seen = log.saw(seen);
        for step in steps(&seen) {
            if self.step(step).await.is_none() {
                return;
            }
        }
    }

    /// Does one step; none when the stream has ended.
    async fn step(&mut self, step: Step2) -> Option<()> {
        match step {
            Step2::Head(status, headers) => {
                let mut head = Response::builder().status(status);
                for (name, value) in headers {
                    head = head.header(name, value);
                }
                let sending = self.respond.send_response(head.body(()).ok()?, false);
                self.sending = Some(sending.ok()?);
            }
            Step2::Data(bytes) => {
                self.sending.as_mut()?.send_data(bytes.into(), false).ok()?;
            }
            Step2::End => {
                let nothing = bytes::Bytes::new();
                self.sending.as_mut()?.send_data(nothing, true).ok()?;
            }
            Step2::Refuse => self.respond.send_reset(Reason::REFUSED_STREAM),
            Step2::Reset(code) => self.respond.send_reset(Reason::from(code)),
            Step2::Hang => std::future::pending().await,
            Step2::GoAway(last, code) => self.order.send(wire::Order::GoAway(last, code)).ok()?,
            Step2::Pause(pause) => sleep(pause).await,
            Step2::Wait(gate) => gate.wait().await,
            // The stream is left as it is: to drop it would reset it before that.
            Step2::Close => {
                self.order.send(wire::Order::Close).ok()?;
                std::future::pending::<()>().await;
            }
            Step2::Freeze => {
                self.order.send(wire::Order::Freeze).ok()?;
                std::future::pending::<()>().await;
            }
        }
        Some(())
    }
}

/// Reads a request to its end; none when it has none.
async fn read(request: Request<RecvStream>, connection: usize, stream: u32) -> Option<Seen> {
    let (head, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = incoming.data().await {
        let piece = piece.ok()?;
        incoming.flow_control().release_capacity(piece.len()).ok()?;
        body.extend_from_slice(&piece);
    }
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    let target = head.uri.path_and_query().map_or("/", |path| path.as_str());
    Some(Seen {
        number: 0,
        connection,
        stream,
        method: head.method.to_string(),
        target: target.to_owned(),
        headers,
        body,
        at: Duration::ZERO,
    })
}
