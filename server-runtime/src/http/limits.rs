//! The limits that protect the process from one request: its head, its body, and their time.

use std::{io, time::Duration};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{
    HeaderMap,
    header::{CONTENT_LENGTH, EXPECT},
    request::Parts,
};
use link_wire::Code;
use tokio::time::timeout;

use super::reply::Stop;

/// The most bytes of a path with its query.
const MOST_URI_BYTES: usize = 8 * 1024;
/// The most headers. The parser takes more, so that it is this limit which answers.
const MOST_HEADERS: usize = 100;
/// The most bytes of all headers.
const MOST_HEADER_BYTES: usize = 64 * 1024;
/// How long a body may take to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(30);
/// How much of a refused body is read and dropped, and for how long.
const DRAIN_BYTES: usize = 64 * 1024 * 1024;
const DRAIN_WITHIN: Duration = Duration::from_secs(10);

/// Refuses a head that is too large.
pub(super) fn head(head: &Parts) -> Result<(), Stop> {
    let uri = head
        .uri
        .path_and_query()
        .map_or(0, |path| path.as_str().len());
    if uri > MOST_URI_BYTES {
        let detail = format!("a path has at most {MOST_URI_BYTES} bytes, this one {uri}");
        return Err(Stop::code(Code::BadRequest, detail));
    }
    let count = head.headers.len();
    if count > MOST_HEADERS {
        let detail = format!("there are at most {MOST_HEADERS} headers, here {count}");
        return Err(Stop::code(Code::BadRequest, detail));
    }
    let bytes = head
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    let bytes: usize = bytes.sum();
    if bytes > MOST_HEADER_BYTES {
        let detail = format!("the headers have at most {MOST_HEADER_BYTES} bytes, these {bytes}");
        return Err(Stop::code(Code::BadRequest, detail));
    }
    Ok(())
}

/// The whole body, if it is no larger than `most` bytes.
///
/// One that does not arrive is most often the fault of the network, so the no to it is 503
/// `busy`, which says that the same request may fare better; a 4xx would be for good.
pub(super) async fn body(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, Stop> {
    let too_large = || {
        Stop::code(
            Code::TooLarge,
            format!("a body has at most {most} bytes, this one has more"),
        )
    };
    if length(headers).is_some_and(|length| length > most as u64) {
        return Err(refuse(headers, body, too_large()).await);
    }
    let mut pieces = body.into_data_stream();
    let read = async {
        let mut whole = BytesMut::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| broken(&error).and_close())?;
            if whole.len() + piece.len() > most {
                return Ok(None);
            }
            whole.extend_from_slice(&piece);
        }
        Ok(Some(whole.freeze()))
    };
    match timeout(BODY_WITHIN, read).await {
        Ok(Ok(Some(whole))) => Ok(whole),
        Ok(Ok(None)) => {
            let rest = Body::from_stream(pieces);
            Err(refuse(headers, rest, too_large()).await)
        }
        Ok(Err(stop)) => Err(stop),
        Err(_) => {
            let detail = format!("the body did not arrive in {} s", BODY_WITHIN.as_secs());
            Err(Stop::code(Code::Busy, detail).and_close())
        }
    }
}

/// A body that breaks off may fare better the next time; one that is no HTTP never does.
fn broken(error: &(dyn std::error::Error + 'static)) -> Stop {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut causes = causes.filter_map(|cause| cause.downcast_ref::<io::Error>());
    let no_http = [io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData];
    if causes.any(|cause| no_http.contains(&cause.kind())) {
        return Stop::code(
            Code::BadRequest,
            "the body is not HTTP: its chunks cannot be read",
        );
    }
    Stop::code(Code::Busy, "the body does not arrive whole")
}

/// Makes sure that a client which still sends its body gets to read the no.
///
/// A connection that is closed while bytes arrive is reset, and the reset can overtake the reply.
/// So the body is read and dropped, up to a bound; beyond it, and when the client waits for leave
/// to send, the connection ends with the reply.
pub(super) async fn refuse(headers: &HeaderMap, body: Body, stop: Stop) -> Stop {
    if headers.contains_key(EXPECT) {
        return stop.and_close();
    }
    let mut pieces = body.into_data_stream();
    let drain = async {
        let mut bytes = 0;
        while let Some(piece) = pieces.next().await {
            let Ok(piece) = piece else { return false };
            bytes += piece.len();
            if bytes > DRAIN_BYTES {
                return false;
            }
        }
        true
    };
    match timeout(DRAIN_WITHIN, drain).await {
        Ok(true) => stop,
        Ok(false) | Err(_) => stop.and_close(),
    }
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
