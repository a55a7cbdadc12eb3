//! One connection of a client: each request in, its fault or its reply out.

use std::{io, sync::Arc};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
};

use crate::{
    Chance, Kind,
    events::{self, Ended, Gone},
    message::{NoRequest, Reader, Reply, Request},
    proxy::Shared,
};

/// How a connection ended, for the one who holds the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is over.
    Done,
    /// It is over, and the port is to be closed for a while.
    Refuse,
}

type Client = Reader<TcpStream>;
type Upstream = Reader<TcpStream>;

/// What becomes of the connection after one request.
enum After {
    /// The next request may come.
    Go(Client),
    /// The proxy ends it.
    End(Next),
}

const CLOSED: After = After::End(Next::Done);

const FRONT_END_PAGE: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n\
    <body><center><h1>502 Bad Gateway</h1></center></body>\r\n</html>\r\n";

/// Serves a client until either side ends the connection.
pub(crate) async fn run(client: TcpStream, shared: Arc<Shared>) -> Next {
    let mut dropped = shared.drop_open();
    let mut client = Reader::new(client);
    loop {
        let request = tokio::select! {
            biased;
            _ = dropped.changed() => return Next::Done,
            request = Request::read(&mut client) => request,
        };
        let request = match request {
            Ok(request) => request,
            Err(NoRequest::Gone) => return Next::Done,
            Err(NoRequest::Unknown(why)) => {
                shared.counts().refused += 1;
                let _ = write_page(&mut client, "501 Not Implemented", "text/plain", why).await;
                finish(client).await;
                return Next::Done;
            }
        };
        match one(client, request, &shared, &mut dropped).await {
            After::Go(same) => client = same,
            After::End(next) => return next,
        }
    }
}

async fn one(
    mut client: Client,
    mut request: Request,
    shared: &Shared,
    dropped: &mut watch::Receiver<()>,
) -> After {
    let (fault, mut details) = shared.draw(&request);
    let _reading = shared.saboteur.reading(&request);
    if let Some(fake) = shared.saboteur.before(&mut request, &mut details) {
        return pass_whole(client, &fake, false).await;
    }
    match fault {
        None => {
            let reply = tokio::select! {
                biased;
                _ = dropped.changed() => {
                    shared.counts().dropped += 1;
                    return CLOSED;
                }
                reply = forward(&request, shared) => reply,
            };
            let Some((reply, upstream)) = reply else {
                return finish(client).await;
            };
            if reply.is_events() {
                shared.saboteur.opened(&request);
                return pass_events(client, upstream, &reply, None, shared, dropped).await;
            }
            shared.saboteur.replied(&request, &reply);
            pass_whole(client, &reply.bytes, reply.is_last()).await
        }
        Some(Kind::CutStream) => {
            let reply = forward(&request, shared).await;
            let Some((reply, upstream)) = reply else {
                return finish(client).await;
            };
            if reply.is_events() {
                shared.saboteur.opened(&request);
                return pass_events(client, upstream, &reply, Some(details), shared, dropped).await;
            }
            // A no to the stream is a reply like others.
            pass_whole(client, &reply.bytes, reply.is_last()).await
        }
        Some(Kind::Refuse) => After::End(Next::Refuse),
        Some(Kind::CutBeforeReply) => {
            if forward(&request, shared).await.is_some() {
                shared.counts().fault(Kind::CutBeforeReply);
            }
            finish(client).await
        }
        Some(Kind::CutInsideReply) => {
            let Some((reply, _)) = forward(&request, shared).await else {
                return finish(client).await;
            };
            let part = 1 + details.index(reply.bytes.len().saturating_sub(1));
            shared.counts().fault(Kind::CutInsideReply);
            let _ = write(&mut client, reply.bytes.get(..part).unwrap_or_default()).await;
            finish(client).await
        }
        Some(Kind::Reset) => reset(client, &request, details, shared).await,
        Some(Kind::Freeze) => {
            let Some((_, held)) = forward(&request, shared).await else {
                return finish(client).await;
            };
            shared.counts().fault(Kind::Freeze);
            client.gone().await;
            drop(held);
            CLOSED
        }
        Some(Kind::FrontEnd502) => {
            if details.hit(0.5) && forward(&request, shared).await.is_none() {
                return finish(client).await;
            }
            shared.counts().fault(Kind::FrontEnd502);
            match write_page(&mut client, "502 Bad Gateway", "text/html", FRONT_END_PAGE).await {
                Ok(()) => After::Go(client),
                Err(_) => CLOSED,
            }
        }
    }
}

async fn reset(
    mut client: Client,
    request: &Request,
    mut details: Chance,
    shared: &Shared,
) -> After {
    let at_once = details.hit(0.5);
    let Some(mut upstream) = send(request, shared).await else {
        return finish(client).await;
    };
    if !at_once && reply_of(&mut upstream, request, shared).await.is_none() {
        return finish(client).await;
    }
    // Without lingering, the end of the socket is a reset.
    if client.side().set_zero_linger().is_ok() {
        shared.counts().fault(Kind::Reset);
    }
    drop(client);
    if at_once {
        // The server may still say that its reply was kept.
        let _ = reply_of(&mut upstream, request, shared).await;
    }
    CLOSED
}

/// Sends a request to the server and reads the reply: whole, or the head of an event stream.
///
/// None, and counted, when the server is not there or goes away.
async fn forward(request: &Request, shared: &Shared) -> Option<(Reply, Upstream)> {
    let mut upstream = send(request, shared).await?;
    let reply = reply_of(&mut upstream, request, shared).await?;
    Some((reply, upstream))
}

async fn send(request: &Request, shared: &Shared) -> Option<Upstream> {
    let sent = async {
        let mut upstream = TcpStream::connect(shared.upstream()).await?;
        upstream.set_nodelay(true)?;
        let mut bytes = request.head.bytes();
        bytes.extend_from_slice(&request.body);
        upstream.write_all(&bytes).await?;
        Ok::<_, io::Error>(Reader::new(upstream))
    };
    let sent = sent.await.ok();
    let mut counts = shared.counts();
    match &sent {
        Some(_) => counts.forwarded += 1,
        None => counts.upstream_down += 1,
    }
    sent
}

async fn reply_of(upstream: &mut Upstream, request: &Request, shared: &Shared) -> Option<Reply> {
    let read = async {
        let mut reply = Reply::read_head(upstream, request.method()).await?;
        if !reply.is_events() {
            reply.read_body(upstream).await?;
        }
        Ok::<_, io::Error>(reply)
    };
    let reply = read.await.ok();
    let mut counts = shared.counts();
    match &reply {
        None => counts.upstream_down += 1,
        Some(reply) => {
            let repeat = format!("{}-repeat", shared.plan.header_prefix);
            counts.repeats += u64::from(reply.head.header(&repeat) == Some("1"));
        }
    }
    reply
}

async fn pass_whole(mut client: Client, reply: &[u8], last: bool) -> After {
    match write(&mut client, reply).await {
        Ok(()) if last => finish(client).await,
        Ok(()) => After::Go(client),
        Err(_) => CLOSED,
    }
}

async fn pass_events(
    client: Client,
    upstream: Upstream,
    reply: &Reply,
    cut: Option<Chance>,
    shared: &Shared,
    dropped: &mut watch::Receiver<()>,
) -> After {
    let mut client = client;
    let ended = if shared.saboteur.wants_streams() {
        // Nothing else may happen to a stream that is to lose one event.
        events::pass_but_one(&mut client, upstream, reply, &shared.saboteur).await
    } else {
        let cut = cut.map(|mut chance| (chance.below(shared.plan.most_pieces + 1), chance));
        tokio::select! {
            biased;
            _ = dropped.changed() => {
                shared.counts().dropped += 1;
                return CLOSED;
            }
            ended = events::pass(&mut client, upstream, reply, cut) => ended,
        }
    };
    match ended {
        Ok(Ended::Cut) => shared.counts().fault(Kind::CutStream),
        Ok(Ended::Whole) | Err(Gone::Client) => {}
        Err(Gone::Upstream) => shared.counts().upstream_down += 1,
    }
    finish(client).await
}

async fn write_page(client: &mut Client, status: &str, kind: &str, body: &str) -> io::Result<()> {
    let page = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    write(client, page.as_bytes()).await
}

async fn write(client: &mut Client, bytes: &[u8]) -> io::Result<()> {
    write_all(client.side(), bytes).await
}

pub(crate) async fn write_all<W: AsyncWrite + Unpin>(to: &mut W, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

/// Ends a connection with a FIN.
async fn finish(mut client: Client) -> After {
    let _ = client.side().shutdown().await;
    CLOSED
}
