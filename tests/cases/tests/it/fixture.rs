//! Clients of riff with short limits, and the replies that a server of riff would give.

use std::time::Duration;

use faults::{Events, Origin, Script, Seen, Step, reply};
use riff_api::{Message, Post, RiffApi, Thread, Who};
use riff_link::{
    Limits,
    client::{Call, CommandCall, Credentials, EventStream, StreamItem},
    link,
};
use tokio::time::{sleep, timeout};

/// What no test should ever take.
const LONG: Duration = Duration::from_secs(20);

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// For tests in which one of the client's own timers must end something.
pub(crate) const LIMITS: Limits = Limits {
    connect: ms(1_000),
    attempt: ms(400),
    first_wait: ms(10),
    most_wait: ms(40),
    stream_retry: ms(60),
    stream_idle: ms(400),
    ..Limits::DEFAULT
};

/// For tests in which a slow machine must not make a fault.
pub(crate) const PATIENT: Limits = Limits {
    connect: LONG,
    attempt: LONG,
    stream_idle: LONG,
    ..LIMITS
};

/// The build header of replies that are our server's.
pub(crate) const BUILD: &str = "riff-build: 1.0 0.1.0 - -\r\n";

pub(crate) const NOBODY: &str = r#"{"present":[]}"#;
pub(crate) const POSTED: &str = r#"{"seq":7}"#;

pub(crate) fn origin(steps: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Origin {
    Origin::start(Script::requests(steps)).unwrap()
}

pub(crate) fn api(base: &str) -> RiffApi {
    api_with(base, LIMITS)
}

pub(crate) fn api_with(base: &str, limits: Limits) -> RiffApi {
    RiffApi::new(
        link::with(base, limits).unwrap(),
        Credentials::bearer("token"),
    )
}

pub(crate) fn thread() -> Thread {
    "general".parse().unwrap()
}

/// A query.
pub(crate) fn who(api: &RiffApi) -> Call<riff_api::WhoReply> {
    api.who(&Who {})
}

/// A command.
pub(crate) fn post(api: &RiffApi) -> CommandCall<riff_api::Posted> {
    let text = "hello".into();
    api.post(&thread(), &Post { text })
}

/// The yes of our server to whatever was asked.
pub(crate) fn yes(seen: &Seen) -> Vec<Step> {
    vec![Step::Send(reply(200, BUILD, body(seen)))]
}

/// The body of a yes.
pub(crate) fn body(seen: &Seen) -> &'static str {
    match seen.method.as_str() {
        "POST" => POSTED,
        _ => NOBODY,
    }
}

/// The no of our server.
pub(crate) fn no(status: u16, code: &str, headers: &str) -> Vec<Step> {
    let body = format!(r#"{{"status":{status},"code":"{code}","detail":"because"}}"#);
    vec![Step::Send(reply(
        status,
        &format!("{BUILD}{headers}"),
        &body,
    ))]
}

/// A message of a thread, as JSON.
pub(crate) fn message(seq: u64) -> String {
    format!(r#"{{"seq":{seq},"by":"ann","at":1764547200000,"text":"message {seq}"}}"#)
}

/// A page of the catch-up of a tail.
pub(crate) fn page(seqs: impl IntoIterator<Item = u64>) -> Vec<Step> {
    let items: Vec<_> = seqs.into_iter().map(message).collect();
    let body = format!(r#"{{"items":[{}],"lost":0,"more":false}}"#, items.join(","));
    vec![Step::Send(reply(200, BUILD, &body))]
}

/// After which message a catch-up asks.
pub(crate) fn after(seen: &Seen) -> u64 {
    let (_, after) = seen.target.split_once("after=").expect("a catch-up");
    after.parse().unwrap()
}

/// A stream that is ready after this message.
pub(crate) fn ready(at: u64) -> Events {
    Events::ready(BUILD, Some(at))
}

/// The next message of a stream, which must be an event.
pub(crate) async fn next(tail: &mut EventStream<Message>) -> u64 {
    match soon(tail.next()).await {
        Some(Ok(StreamItem::Event(message))) => message.seq,
        other => panic!("{other:?}"),
    }
}

/// Waits for what must come.
pub(crate) async fn soon<T>(future: impl IntoFuture<Output = T>) -> T {
    timeout(LONG, future).await.expect("it takes too long")
}

/// Waits until something outside becomes true.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    soon(async {
        while !holds() {
            sleep(ms(2)).await;
        }
    })
    .await;
}
