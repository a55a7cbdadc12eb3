//! A small service, and clients of it with limits that let a test run in milliseconds.

use std::time::Duration;

use link_runtime::{Api, Call, CommandCall, Credentials, EventStream, State, link};
use link_wire::{Attempts, Budget, Build, Headers, Kind, Limits, OutboxRule, Route, Service};
use serde::{Deserialize, Serialize};
use tokio::{sync::watch, time::timeout};

/// What no test should ever take.
const LONG: Duration = Duration::from_secs(20);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) const LIMITS: Limits = Limits {
    connect: ms(1_000),
    attempt: ms(400),
    first_wait: ms(10),
    most_wait: ms(40),
    stream_retry: ms(60),
    stream_idle: ms(400),
    ..Limits::DEFAULT
};

/// For tests of which a slow machine must not make a fault.
pub(crate) const PATIENT: Limits = Limits {
    connect: LONG,
    attempt: LONG,
    ..LIMITS
};

/// Waits of 50 to 100 ms: whatever a slow machine does, the last try of a budget that is shorter
/// than one of them says nothing.
pub(crate) const STEADY: Limits = Limits {
    first_wait: ms(100),
    most_wait: ms(100),
    ..PATIENT
};

const SHORT: Option<Budget> = Some(Budget {
    name: "short",
    within: Duration::from_secs(10),
    tries: Attempts::Many,
});
const TICK: Option<Budget> = Some(Budget {
    tries: Attempts::AtMost(1),
    ..SHORT.unwrap()
});

const fn route(
    name: &'static str,
    kind: Kind,
    method: &'static str,
    path: &'static str,
    budget: Option<Budget>,
) -> Route {
    Route {
        name,
        kind,
        method,
        path,
        budget,
        outbox: OutboxRule::Keep,
        line: 1,
    }
}

pub(crate) static WHO: Route = route("who", Kind::Query, "GET", "/v1/who", SHORT);
pub(crate) static CLAIM: Route = route(
    "claim",
    Kind::Command,
    "POST",
    "/v1/items/{item}/claim",
    SHORT,
);
pub(crate) static ALIVE: Route = route("alive", Kind::Signal, "POST", "/v1/alive", TICK);
pub(crate) static TAIL: Route = route(
    "tail",
    Kind::Stream,
    "GET",
    "/v1/threads/{thread}/tail",
    None,
);
pub(crate) static HISTORY: Route =
    route("history", Kind::Query, "GET", "/v1/threads/{thread}", SHORT);

pub(crate) static SERVICE: Service = Service {
    name: "riff",
    headers: Headers {
        build: "riff-build",
        call: "riff-call",
        caller: "riff-caller",
        attempt: "riff-try",
        sent: "riff-sent",
        repeat: "riff-repeat",
        refused: "riff-refused",
        log: "riff-log",
        ack: "riff-ack",
        budget: "riff-budget",
    },
    build: Build {
        line: "1.0",
        version: "0.1.0",
        commit: None,
        time: None,
    },
    limits: LIMITS,
    routes: &[],
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) seq: u64,
}

pub(crate) fn api(base: &str) -> Api {
    api_with(base, LIMITS)
}

pub(crate) fn api_with(base: &str, limits: Limits) -> Api {
    Api::new(
        link::with(base, limits).unwrap(),
        Credentials::bearer("token"),
        &SERVICE,
    )
}

/// A query that is answered with a number.
pub(crate) fn who(api: &Api) -> Call<u64> {
    api.request(&WHO).call()
}

/// A command that is answered with a number.
pub(crate) fn claim(api: &Api) -> CommandCall<u64> {
    api.request(&CLAIM).path("item", &7).body(&"mine").command()
}

/// The stream of messages without its cursor.
pub(crate) fn tail_unordered(api: &Api) -> EventStream<Message> {
    api.request(&TAIL).path("thread", &"t").stream()
}

/// The stream of messages.
pub(crate) fn tail(api: &Api) -> EventStream<Message> {
    let history = api.request(&HISTORY).path("thread", &"t");
    tail_unordered(api).ordered(|message| message.seq, history)
}

/// Waits for what must come.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.expect("it takes too long")
}

/// Waits until something outside becomes true.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    soon(async {
        while !holds() {
            tokio::time::sleep(ms(2)).await;
        }
    })
    .await;
}

pub(crate) async fn until_down(state: &mut watch::Receiver<State>) {
    soon(state.wait_for(|state| matches!(state, State::Down { .. })))
        .await
        .unwrap();
}
