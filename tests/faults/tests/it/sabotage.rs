//! That each sabotage takes away what it says, and nothing else.

use std::time::Duration;

use faults::{Plan, Proxy, Sabotage};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    client::{Saw, read, reply_to, request},
    upstream::Upstream,
};

async fn proxy(sabotage: Sabotage) -> (Upstream, Proxy) {
    let upstream = Upstream::start().await;
    let plan = Plan {
        sabotage: Some(sabotage),
        ..Plan::clean(5)
    };
    let proxy = Proxy::start(upstream.address, plan).unwrap();
    (upstream, proxy)
}

async fn command(proxy: &Proxy, target: &str, call: &str, body: &str) -> String {
    let headers = format!("riff-call: {call}\r\n");
    reply_to(proxy.address(), &request("POST", target, &headers, body)).await
}

#[tokio::test]
async fn each_try_can_get_another_call_id() {
    let (upstream, proxy) = proxy(Sabotage::OtherCallId).await;
    command(&proxy, "/a", "same", "").await;
    command(&proxy, "/a", "same", "").await;
    let asked = upstream.asked.lock().unwrap().clone();
    let calls: Vec<&str> = asked
        .iter()
        .filter_map(|(_, call)| call.as_deref())
        .collect();
    assert_eq!(calls.len(), 2);
    assert!(
        calls[0] != calls[1] && !calls.contains(&"same"),
        "{calls:?}"
    );
}

#[tokio::test]
async fn one_command_can_be_answered_and_never_sent() {
    let (upstream, proxy) = proxy(Sabotage::FakeReply).await;
    let first = command(&proxy, "/a", "1", "one").await;
    command(&proxy, "/a", "1", "one").await;
    assert!(!proxy.counts().sabotaged);
    let fake = command(&proxy, "/a", "2", "two").await;
    assert_eq!(fake, first);
    assert!(
        command(&proxy, "/a", "3", "three")
            .await
            .ends_with("/a three")
    );
    assert_eq!(upstream.targets().len(), 3);
    assert!(proxy.counts().sabotaged);
}

#[tokio::test]
async fn one_event_can_be_taken_out_of_a_live_stream() {
    let (_upstream, proxy) = proxy(Sabotage::DropEvent).await;
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let ask = request("GET", "/events", "accept: text/event-stream\r\n", "");
    stream.write_all(ask.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    // A catch-up would bring an event back that is taken out before its last page came.
    let page = request("GET", "/page", "", r#"{"items":[],"more":false}"#);
    let page = reply_to(proxy.address(), &page).await;
    assert!(page.contains(r#""more":false"#), "{page}");
    let saw = read(&mut stream, Duration::from_secs(5)).await;
    let Saw::End(text) = saw else {
        panic!("{saw:?}")
    };
    assert!(text.ends_with("0\r\n\r\n"), "the stream was cut");
    let missing: Vec<u32> = (100..200)
        .filter(|number| !text.contains(&format!("data: {number}\n\n")))
        .collect();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(missing[0] > 100 && missing[0] < 199, "{missing:?}");
    assert!(proxy.counts().sabotaged);
}
