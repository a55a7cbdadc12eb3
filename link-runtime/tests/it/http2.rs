//! HTTP/2 from the first byte, against a server whose frames are made by hand: what it says of
//! requests that it has not looked at.

use std::{
    future::IntoFuture as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use link_runtime::{Api, CallError, Cause, Credentials, State, link};
use link_wire::Limits;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::fixture::{LIMITS, PATIENT, SERVICE, claim, soon, who};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const REFUSED_STREAM: u32 = 7;

/// What a server does when a request begins.
#[derive(Debug, Clone, Copy)]
enum Answer {
    /// 200, the number 7.
    Yes,
    /// Nothing yet; what is said later.
    Later,
    /// It goes away: this stream is the last one that it looks at.
    GoAway {
        last: u32,
    },
    Refuse,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The frames of a reply with the number 7.
fn seven(stream: u32) -> Vec<u8> {
    // `:status: 200` stands in the table of HPACK; the build header is a literal.
    let mut head = vec![0x88, 0x00];
    for text in ["riff-build", "1.0 0.1.0 - -"] {
        head.push(u8::try_from(text.len()).unwrap());
        head.extend(text.bytes());
    }
    let mut frames = frame(HEADERS, END_HEADERS, stream, &head);
    frames.extend(frame(0, END_STREAM, stream, b"7"));
    frames
}

/// A server that answers the n-th request of all connections by a script, the dial apart.
struct Server {
    base: String,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

async fn server(script: impl Fn(usize) -> Vec<(u32, Answer)> + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (count, script) = (Arc::clone(&connections), Arc::new(script));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut each = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let (script, requests) = (Arc::clone(&script), Arc::clone(&requests));
            each.spawn(async move {
                // It ends with the client.
                let _ = answer(stream, &*script, &requests).await;
            });
        }
    });
    Server {
        base,
        connections,
        _tasks: tasks,
    }
}

/// `script` gives, for the n-th request, what to say to which stream; 0 is its own.
async fn answer(
    mut stream: TcpStream,
    script: &(dyn Fn(usize) -> Vec<(u32, Answer)> + Send + Sync),
    requests: &AtomicUsize,
) -> std::io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    let mut dialled = false;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await?;
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match head[3] {
            SETTINGS if head[4] & ACK == 0 => {
                stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?;
            }
            PING if head[4] & ACK == 0 => stream.write_all(&frame(PING, ACK, 0, &payload)).await?,
            HEADERS if !std::mem::replace(&mut dialled, true) && id == 1 => {
                stream.write_all(&seven(id)).await?;
            }
            HEADERS => {
                for (of, answer) in script(requests.fetch_add(1, Ordering::SeqCst)) {
                    let of = if of == 0 { id } else { of };
                    let frames = match answer {
                        Answer::Yes => seven(of),
                        Answer::Later => continue,
                        Answer::Refuse => frame(RST_STREAM, 0, of, &REFUSED_STREAM.to_be_bytes()),
                        Answer::GoAway { last } => {
                            frame(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat())
                        }
                    };
                    stream.write_all(&frames).await?;
                }
            }
            _ => {}
        }
    }
}

fn api_of(server: &Server, limits: Limits) -> Api {
    let link = link::h2c(&server.base, limits).unwrap();
    Api::new(link, Credentials::bearer("token"), &SERVICE)
}

#[tokio::test]
async fn calls_share_a_connection_and_one_that_is_dropped_while_it_is_made_fails_no_other() {
    let server = server(|_| vec![(0, Answer::Yes)]).await;
    let api = api_of(&server, PATIENT);
    let mut calls = JoinSet::new();
    let first = calls.spawn(who(&api).into_future());
    for _ in 0..19 {
        calls.spawn(who(&api).into_future());
    }
    first.abort();
    let mut done = 0;
    while let Some(ended) = soon(calls.join_next()).await {
        match ended {
            Ok(ended) => {
                assert_eq!(ended, Ok(7));
                done += 1;
            }
            Err(error) => assert!(error.is_cancelled(), "{error}"),
        }
    }
    assert!(done >= 19, "{done}");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn of_two_calls_around_the_last_stream_one_ends_and_one_is_sent_again_at_once() {
    // The streams are 3 and 5, after the dial on 1.
    let server = server(|n| match n {
        0 => vec![(0, Answer::Later)],
        1 => vec![(0, Answer::GoAway { last: 3 }), (3, Answer::Yes)],
        _ => vec![(0, Answer::Yes)],
    })
    .await;
    let waits = Limits {
        first_wait: Duration::from_secs(3600),
        most_wait: Duration::from_secs(3600),
        ..PATIENT
    };
    let api = api_of(&server, waits);
    let state = api.link().state();
    let (one, two) = tokio::join!(
        soon(claim(&api).into_future()),
        soon(claim(&api).into_future())
    );
    assert_eq!((one, two), (Ok(7), Ok(7)));
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    assert_eq!(*state.borrow(), State::Up);
    let counted = api.link().stats();
    assert_eq!((counted.tries, counted.faults, counted.swaps), (3, 0, 0));
}

#[tokio::test]
async fn a_refused_stream_is_sent_again_at_once_and_one_that_is_refused_for_ever_after_a_wait() {
    let server_once = server(|n| {
        let answer = if n == 0 { Answer::Refuse } else { Answer::Yes };
        vec![(0, answer)]
    })
    .await;
    let api = api_of(&server_once, PATIENT);
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    assert_eq!(api.link().stats().tries, 2);

    let for_ever = server(|_| vec![(0, Answer::Refuse)]).await;
    let api = api_of(&for_ever, LIMITS);
    let call = claim(&api).within(Duration::from_secs(1));
    let ended = soon(call.into_future()).await.unwrap_err();
    assert!(
        matches!(
            &ended,
            CallError::NotSent {
                cause: Cause::CutBefore { .. }
            }
        ),
        "it surely did not run: {ended}"
    );
    let tries = api.link().stats().tries;
    assert!((5..100).contains(&tries), "{tries} tries: no spin");
}
