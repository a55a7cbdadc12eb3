//! What each kind of fault looks like from outside.

use std::{io::ErrorKind, time::Duration};

use faults::{Kind, Plan, Proxy};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};

use crate::{
    client::{Saw, read, reply, reply_to, request, send},
    upstream::Upstream,
};

const WHOLE: &str = "HTTP/1.1 200 OK\r\nriff-build: 1.0 t - -\r\ncontent-length: 3\r\n\r\n/a ";

async fn proxy(kind: Kind) -> (Upstream, Proxy) {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(upstream.address, Plan::only(11, &[kind])).unwrap();
    (upstream, proxy)
}

#[tokio::test]
async fn without_a_fault_all_goes_through() {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(upstream.address, Plan::clean(1)).unwrap();
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    for _ in 0..3 {
        stream
            .write_all(request("POST", "/a", "", "body").as_bytes())
            .await
            .unwrap();
        let Saw::Silence(reply) = read(&mut stream, Duration::from_millis(100)).await else {
            panic!("the connection was closed")
        };
        assert!(reply.ends_with("\r\n\r\n/a body"), "{reply}");
    }
    let counts = proxy.stop().await.unwrap();
    assert_eq!(
        (counts.requests, counts.forwarded, counts.total()),
        (3, 3, 0)
    );
}

#[tokio::test]
async fn a_refused_connect_is_refused_and_the_port_comes_back() {
    let upstream = Upstream::start().await;
    let plan = Plan {
        clean_first: 1,
        ..Plan::only(1, &[Kind::Refuse])
    };
    let proxy = Proxy::start(upstream.address, plan).unwrap();
    let mut idle = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(reply(&mut idle, &request("GET", "/a", "", "")).await, WHOLE);

    let saw = send(proxy.address(), &request("GET", "/b", "", ""))
        .await
        .unwrap();
    assert_eq!(saw, Saw::End(String::new()));
    assert_eq!(
        read(&mut idle, Duration::from_secs(5)).await,
        Saw::End(String::new())
    );
    let refused = TcpStream::connect(proxy.address()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    while TcpStream::connect(proxy.address()).await.is_err() {
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(upstream.targets(), ["/a"]);
    assert_eq!(proxy.counts().of(Kind::Refuse), 1);
}

#[tokio::test]
async fn a_cut_before_the_reply_gives_no_byte_and_the_server_has_run_it() {
    let (upstream, proxy) = proxy(Kind::CutBeforeReply).await;
    let saw = send(proxy.address(), &request("POST", "/repeat", "", ""))
        .await
        .unwrap();
    assert_eq!(saw, Saw::End(String::new()));
    assert_eq!(upstream.targets(), ["/repeat"]);
    let counts = proxy.counts();
    assert_eq!((counts.of(Kind::CutBeforeReply), counts.repeats), (1, 1));
}

#[tokio::test]
async fn a_cut_inside_the_reply_gives_a_true_part_of_it() {
    let (_upstream, proxy) = proxy(Kind::CutInsideReply).await;
    let mut lengths = Vec::new();
    for _ in 0..20 {
        let saw = send(proxy.address(), &request("GET", "/a", "", ""))
            .await
            .unwrap();
        let Saw::End(part) = saw else {
            panic!("{saw:?}")
        };
        assert!(!part.is_empty() && part.len() < WHOLE.len() && WHOLE.starts_with(&part));
        lengths.push(part.len());
    }
    let first = lengths[0];
    assert!(lengths.iter().any(|&length| length != first), "{lengths:?}");
    assert_eq!(proxy.counts().of(Kind::CutInsideReply), 20);
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    let (upstream, proxy) = proxy(Kind::Reset).await;
    for number in 1..=8 {
        let saw = send(proxy.address(), &request("POST", "/a", "", "x"))
            .await
            .unwrap();
        assert_eq!(saw, Saw::Broken(String::new(), ErrorKind::ConnectionReset));
        assert_eq!(proxy.counts().of(Kind::Reset), number);
    }
    assert_eq!(proxy.counts().forwarded, 8);
    while upstream.targets().len() < 8 {
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_frozen_connection_says_nothing_until_the_proxy_stops() {
    let (upstream, proxy) = proxy(Kind::Freeze).await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    stream
        .write_all(request("POST", "/a", "", "").as_bytes())
        .await
        .unwrap();
    let silence = Saw::Silence(String::new());
    assert_eq!(read(&mut stream, Duration::from_millis(200)).await, silence);
    assert_eq!(upstream.targets(), ["/a"]);
    assert_eq!(proxy.stop().await.unwrap().of(Kind::Freeze), 1);
    assert_eq!(
        read(&mut stream, Duration::from_secs(5)).await,
        Saw::End(String::new())
    );
}

#[tokio::test]
async fn a_front_end_answers_with_a_page_of_its_own() {
    let (upstream, proxy) = proxy(Kind::FrontEnd502).await;
    for _ in 0..12 {
        let reply = reply_to(proxy.address(), &request("GET", "/a", "", "")).await;
        assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
        assert!(
            reply.contains("text/html") && !reply.contains("riff-build"),
            "{reply}"
        );
    }
    let forwarded = upstream.targets().len();
    assert!(
        (1..12).contains(&forwarded),
        "{forwarded} of 12 were passed on"
    );
    assert_eq!(proxy.counts().of(Kind::FrontEnd502), 12);
}

#[tokio::test]
async fn a_cut_stream_ends_without_its_last_chunk() {
    let (_upstream, proxy) = proxy(Kind::CutStream).await;
    let ask = request("GET", "/events", "accept: text/event-stream\r\n", "");
    let saw = send(proxy.address(), &ask).await.unwrap();
    let Saw::End(part) = saw else {
        panic!("{saw:?}")
    };
    assert!(
        part.contains("text/event-stream") && !part.ends_with("0\r\n\r\n"),
        "{part}"
    );
    assert!(!part.contains("data: 140"), "{part}");
    assert_eq!(proxy.counts().of(Kind::CutStream), 1);
}

#[tokio::test]
async fn a_server_that_is_gone_is_no_fault_of_the_plan() {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start("127.0.0.1:1".parse().unwrap(), Plan::clean(1)).unwrap();
    let saw = send(proxy.address(), &request("GET", "/a", "", ""))
        .await
        .unwrap();
    assert_eq!(saw, Saw::End(String::new()));
    proxy.set_upstream(upstream.address);
    assert_eq!(
        reply_to(proxy.address(), &request("GET", "/a", "", "")).await,
        WHOLE
    );
    let counts = proxy.counts();
    assert_eq!((counts.upstream_down, counts.total()), (1, 0));
}

#[tokio::test]
async fn what_the_proxy_does_not_speak_is_told_loudly() {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(upstream.address, Plan::clean(1)).unwrap();
    let ask = "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    let saw = send(proxy.address(), ask).await.unwrap();
    let (Saw::End(reply) | Saw::Broken(reply, _)) = saw else {
        panic!("{saw:?}")
    };
    assert!(reply.starts_with("HTTP/1.1 501 "), "{reply}");
    assert_eq!(proxy.counts().refused, 1);
    assert!(upstream.targets().is_empty());
}
