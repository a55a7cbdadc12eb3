//! An event stream, passed on piece by piece: whole, up to a cut, or without one of its events.

use std::{io, ops::Range};

use tokio::{net::TcpStream, time::Instant};

use crate::{
    Chance,
    exchange::write_all,
    message::{Reader, Reply},
    sabotage::Saboteur,
};

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The server has ended it.
    Whole,
    /// The proxy has cut it.
    Cut,
}

/// Who broke a stream off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    /// The client.
    Client,
    /// The server.
    Upstream,
}

type Side = Reader<TcpStream>;

/// Passes a stream on. `cut` says after how many pieces it is cut, and draws how many bytes of
/// the next piece still go through.
pub(crate) async fn pass(
    client: &mut Side,
    mut upstream: Side,
    reply: &Reply,
    cut: Option<(u64, Chance)>,
) -> Result<Ended, Gone> {
    send(client, &reply.bytes).await?;
    let mut pieces = 0;
    let mut piece = Vec::new();
    loop {
        let data = next(client, &mut upstream, &mut piece).await?;
        if let Some((after, chance)) = &cut
            && pieces >= *after
        {
            let part = chance.clone().index(piece.len());
            send(client, piece.get(..part).unwrap_or_default()).await?;
            return Ok(Ended::Cut);
        }
        send(client, &piece).await?;
        if data.is_empty() {
            return Ok(Ended::Whole);
        }
        pieces += 1;
    }
}

/// Passes a stream on event by event, and takes one out when the saboteur says so.
pub(crate) async fn pass_but_one(
    client: &mut Side,
    mut upstream: Side,
    reply: &Reply,
    saboteur: &Saboteur,
) -> Result<Ended, Gone> {
    send(client, &reply.bytes).await?;
    let opened = Instant::now();
    let mut piece = Vec::new();
    let mut torn = Vec::new();
    let mut held: Option<Vec<u8>> = None;
    loop {
        let data = next(client, &mut upstream, &mut piece).await?;
        if data.is_empty() {
            send(client, &chunk_of(&torn)).await?;
            send(client, &piece).await?;
            return Ok(Ended::Whole);
        }
        torn.extend_from_slice(piece.get(data).unwrap_or_default());
        for event in whole_events(&mut torn) {
            if !has_data(&event) {
                send(client, &chunk_of(&event)).await?;
            } else if let Some(missing) = held.take() {
                // The client is past the missing event only when it has a later one. Of two
                // streams that hold one back, the first to come here drops its own.
                if !(saboteur.may_drop(opened) && saboteur.drop_one()) {
                    send(client, &chunk_of(&missing)).await?;
                }
                send(client, &chunk_of(&event)).await?;
            } else if saboteur.may_drop(opened) {
                held = Some(event);
            } else {
                send(client, &chunk_of(&event)).await?;
            }
        }
    }
}

/// Reads the next chunk, with its framing, unless the client leaves first.
async fn next(
    client: &mut Side,
    upstream: &mut Side,
    piece: &mut Vec<u8>,
) -> Result<Range<usize>, Gone> {
    piece.clear();
    tokio::select! {
        biased;
        data = upstream.chunk(piece) => data.map_err(|_| Gone::Upstream),
        () = client.gone() => Err(Gone::Client),
    }
}

async fn send(client: &mut Side, bytes: &[u8]) -> Result<(), Gone> {
    let written: io::Result<()> = write_all(client.side(), bytes).await;
    written.map_err(|_| Gone::Client)
}

/// Takes the events that are whole out of the text, each with its blank line.
fn whole_events(text: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    while let Some(at) = text.windows(2).position(|pair| pair == b"\n\n") {
        events.push(text.drain(..at + 2).collect());
    }
    events
}

/// Whether an event carries something, and is not a comment.
fn has_data(event: &[u8]) -> bool {
    event
        .split(|&byte| byte == b'\n')
        .any(|line| line.starts_with(b"data"))
}

fn chunk_of(data: &[u8]) -> Vec<u8> {
    if data.is_empty() {
        // An empty chunk would be the last one.
        return Vec::new();
    }
    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
    chunk.extend_from_slice(data);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_taken_whole() {
        let mut text = b": ready 1\n\ndata: a\n\nid: 2\ndata: b".to_vec();
        let events = whole_events(&mut text);
        assert_eq!(events, [b": ready 1\n\n".to_vec(), b"data: a\n\n".to_vec()]);
        assert_eq!(text, b"id: 2\ndata: b");
        assert_eq!(
            events
                .iter()
                .map(|event| has_data(event))
                .collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn a_chunk_is_never_the_last_one_by_accident() {
        assert_eq!(chunk_of(b"data: 0123456789"), b"10\r\ndata: 0123456789\r\n");
        assert!(chunk_of(b"").is_empty());
    }
}
