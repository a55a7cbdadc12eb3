//! The servers that follow a script, as raw clients see them.

use std::{io, time::Duration};

use faults::{Events, Gate, Origin, Origin2, Script, Step, Step2, reply};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};

const ASK: &[u8] = b"POST /a?b HTTP/1.1\r\nB: 1\r\nA: 2\r\nB: 3\r\ncontent-length: 2\r\n\r\nhi";

async fn asked(origin: &Origin) -> TcpStream {
    let mut client = TcpStream::connect(origin.address()).await.unwrap();
    client.write_all(ASK).await.unwrap();
    client
}

async fn rest(client: &mut TcpStream) -> io::Result<String> {
    let mut text = String::new();
    let read = client.read_to_string(&mut text);
    timeout(Duration::from_secs(20), read).await.unwrap()?;
    Ok(text)
}

#[tokio::test]
async fn a_request_is_taken_down_with_its_headers_in_order() {
    let origin = Origin::start(Script::connections(|_| {
        vec![
            Step::Read,
            Step::Pieces(reply(200, "", "yes"), 3, Duration::ZERO),
        ]
    }))
    .unwrap();
    let text = rest(&mut asked(&origin).await).await.unwrap();
    assert_eq!(text, "HTTP/1.1 200 X\r\ncontent-length: 3\r\n\r\nyes");
    let told = origin.stop().await;
    let [seen] = &told.requests[..] else {
        unreachable!("{told:?}")
    };
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("POST", "/a?b")
    );
    let names: Vec<_> = seen
        .headers
        .iter()
        .map(|(name, value)| format!("{name}{value}"))
        .collect();
    assert_eq!(names, ["b1", "a2", "b3", "content-length2"]);
    assert_eq!((seen.header("b"), seen.body.as_slice()), ("1", &b"hi"[..]));
    assert_eq!((told.connections, told.sent), (1, 40));
}

#[tokio::test]
async fn each_end_of_a_connection_is_another() {
    let origin = Origin::start(Script::connections(|number| {
        let end = [Step::Close, Step::Reset, Step::HalfClose, Step::Freeze];
        vec![Step::ReadHead, Step::Send(b"x".into()), end[number].clone()]
    }))
    .unwrap();
    let ends = async |body: &[u8]| {
        let mut client = TcpStream::connect(origin.address()).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        client.write_all(body).await.unwrap();
        let end = timeout(Duration::from_millis(200), rest(&mut client)).await;
        (client, end)
    };
    let (_, closed) = ends(b"").await;
    assert_eq!(closed.unwrap().unwrap(), "x");
    let (_, reset) = ends(b"").await;
    let kind = reset.unwrap().unwrap_err().kind();
    assert_eq!(kind, io::ErrorKind::ConnectionReset);
    let (mut half, closed) = ends(b"").await;
    assert_eq!(closed.unwrap().unwrap(), "x");
    half.write_all(b"still there").await.unwrap();
    let (mut frozen, silent) = ends(b"").await;
    assert!(silent.is_err());
    assert_eq!(origin.stop().await.connections, 4);
    // A frozen connection ends with its server.
    assert!(rest(&mut frozen).await.is_ok_and(|text| text.is_empty()));
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_and_its_port_is_had_again() {
    let script = Script::requests(|_| {
        vec![
            Step::KeepAlive(Duration::from_millis(20)),
            Step::Send(reply(204, "", "")),
        ]
    });
    let origin = Origin::start(script.clone()).unwrap();
    let address = origin.address();
    assert!(
        rest(&mut asked(&origin).await)
            .await
            .unwrap()
            .contains("204")
    );
    origin.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
    let again = Origin::start_at(address, script).await.unwrap();
    assert!(
        rest(&mut asked(&again).await)
            .await
            .unwrap()
            .contains("204")
    );
    assert_eq!(again.told().requests.len(), 1);
}

#[tokio::test]
async fn events_are_said_in_chunks_when_the_gate_opens() {
    let gate = Gate::shut();
    let waits = gate.clone();
    let origin = Origin::start(Script::streams(
        move |_, _| {
            let events = Events::ready("a: b\r\n", Some(4)).wait(&waits);
            events.torn(b"xyz", 2, Duration::ZERO).cut()
        },
        |_| vec![Step::Send(reply(404, "", "")), Step::Close],
    ))
    .unwrap();
    assert!(
        rest(&mut asked(&origin).await)
            .await
            .unwrap()
            .contains("404")
    );
    let mut client = TcpStream::connect(origin.address()).await.unwrap();
    client
        .write_all(b"GET / HTTP/1.1\r\naccept: text/event-stream\r\n\r\n")
        .await
        .unwrap();
    gate.open();
    let text = rest(&mut client).await.unwrap();
    assert!(
        text.ends_with("\r\n\r\na\r\n: ready 4\n\r\n2\r\nxy\r\n1\r\nz\r\n"),
        "{text}"
    );
}

/// A client of HTTP/2, and its connection.
async fn two(origin: &Origin2) -> (h2::client::SendRequest<bytes::Bytes>, JoinHandle<()>) {
    let socket = TcpStream::connect(origin.address()).await.unwrap();
    let (client, connection) = h2::client::handshake(socket).await.unwrap();
    let driven = tokio::spawn(async move {
        let _ = connection.await;
    });
    (client.ready().await.unwrap(), driven)
}

#[tokio::test]
async fn a_goaway_between_two_streams_ends_the_later_one() {
    let gate = Gate::shut();
    let waits = gate.clone();
    let origin = Origin2::start(move |seen| match seen.number {
        0 => {
            let mut steps = vec![Step2::Wait(waits.clone())];
            steps.extend(Step2::reply(200, &[("a", "b")], b"yes"));
            steps
        }
        _ => vec![Step2::GoAway(1, 0), Step2::Hang],
    })
    .unwrap();
    let (mut client, _driven) = two(&origin).await;
    let ask = || {
        http::Request::get("http://localhost/x?y")
            .header("n", "1")
            .body(())
            .unwrap()
    };
    let (first, _) = client.send_request(ask(), true).unwrap();
    let (second, _) = client.send_request(ask(), true).unwrap();
    let error = second.await.unwrap_err();
    assert!(error.is_go_away() && error.is_remote(), "{error:?}");
    gate.open();
    let mut reply = first.await.unwrap();
    assert_eq!(reply.headers()["a"], "b");
    assert_eq!(reply.body_mut().data().await.unwrap().unwrap(), "yes");
    let told = origin.stop().await;
    let seen: Vec<_> = told
        .requests
        .iter()
        .map(|seen| (seen.stream, seen.header("n")))
        .collect();
    assert_eq!(seen, [(1, "1"), (3, "1")]);
    assert_eq!(told.requests[0].target, "/x?y");
}

#[tokio::test]
async fn a_stream_can_be_refused_and_a_connection_frozen_or_closed() {
    let origin = Origin2::start(|seen| match seen.number {
        0 => vec![Step2::Refuse],
        1 => vec![Step2::Reset(2)],
        2 => vec![Step2::Freeze],
        _ => vec![Step2::Close],
    })
    .unwrap();
    let ask = || http::Request::get("http://localhost/").body(()).unwrap();
    let (mut client, _driven) = two(&origin).await;
    for reason in [h2::Reason::REFUSED_STREAM, h2::Reason::INTERNAL_ERROR] {
        let (reply, _) = client.send_request(ask(), true).unwrap();
        let error = reply.await.unwrap_err();
        assert_eq!((error.is_remote(), error.reason()), (true, Some(reason)));
    }
    let (reply, _) = client.send_request(ask(), true).unwrap();
    assert!(timeout(Duration::from_millis(100), reply).await.is_err());
    let (mut client, _driven) = two(&origin).await;
    let (reply, _) = client.send_request(ask(), true).unwrap();
    assert!(reply.await.unwrap_err().is_io());
    assert_eq!(origin.stop().await.connections, 2);
}
