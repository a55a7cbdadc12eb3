//! Connections: which faults replace them, and what is known when there is none.

use std::{net::SocketAddr, process::Command, sync::Arc, time::Duration};

use link_runtime::{CallError, Cause, State};
use link_wire::Limits;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

use crate::{
    fixture::{LIMITS, PATIENT, api, api_with, claim, soon, until, until_down, who},
    server::{BUILD, Server, Step, no, reply, yes},
};

/// A loopback address where nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test]
async fn after_a_frozen_connection_the_next_try_dials() {
    let server = Server::new(|seen| {
        if seen.number == 1 {
            vec![Step::Hang]
        } else {
            yes("7")
        }
    })
    .await;
    let api = api(&server.base());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 1]);
    let stats = api.link().stats();
    assert_eq!((stats.faults, stats.swaps), (1, 1));
}

#[tokio::test]
async fn answers_swap_nothing_and_keep_their_connection() {
    let server = Server::new(|seen| match seen.number {
        0 => no(503, "busy", ""),
        1 => no(429, "busy", ""),
        2 => no(404, "no_route", ""),
        _ => yes("7"),
    })
    .await;
    let api = api_with(&server.base(), PATIENT);
    assert!(soon(who(&api).into_future()).await.is_err());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    assert_eq!(server.connections(), 1);
    assert_eq!(api.link().stats().swaps, 0);
}

#[tokio::test]
async fn calls_that_fail_together_swap_the_client_once() {
    const CALLS: usize = 20;
    let server = Server::new(|seen| {
        if seen.number < CALLS {
            vec![Step::Pause(100), Step::Reset]
        } else {
            yes("7")
        }
    })
    .await;
    let api = api_with(&server.base(), PATIENT);
    let mut calls: JoinSet<_> = (0..CALLS).map(|_| who(&api).into_future()).collect();
    while let Some(reply) = soon(calls.join_next()).await {
        assert_eq!(reply.unwrap(), Ok(7));
    }
    let stats = api.link().stats();
    assert_eq!((stats.faults, stats.swaps), (20, 1));
}

#[tokio::test]
async fn a_late_fault_of_a_replaced_client_does_not_set_the_link_down() {
    let cut = Arc::new(tokio::sync::Notify::new());
    let claims = std::sync::atomic::AtomicUsize::new(0);
    let whos = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::new({
        let cut = cut.clone();
        move |seen| {
            let query = seen.method == "GET";
            let count = if query { &whos } else { &claims };
            match (
                query,
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
            ) {
                (true, 0) => vec![Step::Wait(cut.clone()), Step::Reset],
                (true, _) => vec![Step::Hang],
                (false, 0) => vec![Step::Reset],
                (false, _) => yes("7"),
            }
        }
    })
    .await;
    let api = api_with(&server.base(), PATIENT);
    let late = tokio::spawn(who(&api).into_future());
    until(|| server.seen().len() == 1).await;
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    assert_eq!(*api.link().state().borrow(), State::Up);
    cut.notify_one();
    // The try after the fault is there, so the fault was seen.
    until(|| server.seen().len() == 4).await;
    assert_eq!(*api.link().state().borrow(), State::Up);
    let stats = api.link().stats();
    assert_eq!((stats.faults, stats.swaps), (2, 1));
    late.abort();
}

#[tokio::test]
async fn of_twenty_first_calls_one_is_cancelled_and_the_others_succeed() {
    let server = Server::new(|_| vec![Step::Pause(50), reply(200, BUILD, "7")]).await;
    let api = api_with(&server.base(), PATIENT);
    let mut calls: JoinSet<_> = (0..20).map(|_| who(&api).into_future()).collect();
    let first = calls.spawn(who(&api).into_future());
    first.abort();
    let (mut replies, mut cancelled) = (0, 0);
    while let Some(end) = soon(calls.join_next()).await {
        match end {
            Ok(reply) => {
                assert_eq!(reply, Ok(7));
                replies += 1;
            }
            Err(error) => {
                assert!(error.is_cancelled());
                cancelled += 1;
            }
        }
    }
    assert_eq!((replies, cancelled), (20, 1));
    assert_eq!(api.link().stats().faults, 0);
}

#[tokio::test]
async fn the_call_that_dials_first_may_be_cancelled() {
    let server = Server::new(|_| vec![Step::Pause(50), reply(200, BUILD, "7")]).await;
    let api = api_with(&server.base(), PATIENT);
    // Each of them in turn is the one that gives up, while all of them dial.
    for given_up in [0, 7, 19] {
        let calls = (0..20).map(|number| {
            let call = who(&api).into_future();
            async move {
                if number == given_up {
                    timeout(Duration::from_millis(1), call).await.unwrap_err();
                    return Ok(7);
                }
                call.await
            }
        });
        let mut calls: JoinSet<_> = calls.collect();
        while let Some(reply) = soon(calls.join_next()).await {
            assert_eq!(reply.unwrap(), Ok(7));
        }
    }
    assert_eq!(api.link().stats().faults, 0);
}

#[tokio::test]
async fn nobody_at_a_loopback_address_ends_a_call_at_once() {
    let base = nobody().await;
    let slow = Limits {
        first_wait: Duration::from_secs(5),
        ..LIMITS
    };
    let api = api_with(
        &base,
        Limits {
            most_wait: Duration::from_secs(5),
            ..slow
        },
    );
    for _ in 0..2 {
        let ended = timeout(Duration::from_secs(4), who(&api).into_future())
            .await
            .unwrap();
        let Err(CallError::NotSent {
            cause: Cause::Connect { why },
        }) = ended
        else {
            panic!("{ended:?}");
        };
        assert!(why.contains("refused"), "{why}");
    }
    let ended = timeout(Duration::from_secs(4), claim(&api).into_future())
        .await
        .unwrap();
    assert!(matches!(ended, Err(CallError::NotSent { .. })));
    assert_eq!(*api.link().state().borrow(), State::New);
    let stats = api.link().stats();
    assert_eq!((stats.calls, stats.tries, stats.swaps), (3, 3, 0));
}

#[tokio::test]
async fn a_loopback_server_that_answered_once_is_waited_for() {
    let server = Server::new(|_| vec![reply(200, BUILD, "7"), Step::Close]).await;
    let (base, address) = (server.base(), server.address);
    let api = api(&base);
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    drop(server);
    let mut state = api.link().state();
    let call = tokio::spawn(claim(&api).into_future());
    until_down(&mut state).await;
    let listener = rebind(address).await;
    let server = Server::on(listener, |_| yes("8"));
    assert_eq!(soon(call).await.unwrap(), Ok(8));
    assert!(!server.seen().is_empty());
}

/// Listens at an address whose last listener has just gone.
async fn rebind(address: SocketAddr) -> TcpListener {
    let mut bound = None;
    until(|| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        bound = socket
            .bind(address)
            .ok()
            .map(|()| socket.listen(64).unwrap());
        bound.is_some()
    })
    .await;
    bound.unwrap()
}

#[tokio::test]
async fn a_command_that_found_no_connection_for_its_whole_budget_was_not_sent() {
    let server = Server::new(|_| yes("7")).await;
    let api = api(&server.base());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    let address = server.address;
    drop(server);
    soon(async { while TcpStream::connect(address).await.is_ok() {} }).await;
    let call = claim(&api).within(Duration::from_millis(300));
    let error = soon(call.into_future()).await.unwrap_err();
    // The first try may go to the connection of before, and then nothing is known.
    match error {
        CallError::NotSent {
            cause: Cause::Connect { .. },
        }
        | CallError::Unknown { .. } => {}
        error => panic!("{error}"),
    }
    let call = claim(&api).within(Duration::from_millis(300));
    let error = soon(call.into_future()).await.unwrap_err();
    assert!(
        matches!(
            error,
            CallError::NotSent {
                cause: Cause::Connect { .. }
            }
        ),
        "{error}"
    );
}

/// A listener whose queue is full, so that a connect to it hangs; what fills it is held.
async fn deaf() -> (TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(connected) = timeout(Duration::from_millis(150), TcpStream::connect(address)).await
    {
        queue.push(connected.unwrap());
    }
    (listener, queue)
}

#[tokio::test]
async fn a_connect_that_hangs_was_never_sent_whichever_timer_ends_it() {
    let (listener, _queue) = deaf().await;
    let base = format!("http://{}", listener.local_addr().unwrap());
    let second = Duration::from_secs(1);
    for (connect, attempt, within) in [
        (second / 10, second, second / 2),
        (second, second / 10, second / 2),
        (second, second, second / 5),
    ] {
        let api = api_with(
            &base,
            Limits {
                connect,
                attempt,
                ..LIMITS
            },
        );
        let error = soon(claim(&api).within(within).into_future())
            .await
            .unwrap_err();
        let CallError::NotSent {
            cause: Cause::Connect { .. },
        } = &error
        else {
            panic!("{error}")
        };
        assert!(matches!(*api.link().state().borrow(), State::Down { .. }));
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_closes_is_not_asked_in_a_spin() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let accepted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = accepted.clone();
    let closing = tokio::spawn(async move {
        loop {
            drop(listener.accept().await.unwrap());
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    });
    let call = who(&api(&base)).within(Duration::from_millis(400));
    assert!(matches!(
        soon(call.into_future()).await,
        Err(CallError::Unknown { .. })
    ));
    closing.abort();
    let accepted = accepted.load(std::sync::atomic::Ordering::SeqCst);
    // Waits of 5 to 40 ms leave room for some 30 tries, each dialled at most twice.
    assert!((3..80).contains(&accepted), "{accepted}");
}

/// Runs itself in a process with a proxy in its environment, which no other test may see.
#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked_for_a_server_on_loopback() {
    const INSIDE: &str = "LINK_RUNTIME_TEST_BEHIND_PROXY";
    if std::env::var_os(INSIDE).is_some() {
        let server = Server::new(|_| yes("7")).await;
        assert_eq!(soon(who(&api(&server.base())).into_future()).await, Ok(7));
        return;
    }
    let dead = nobody().await;
    let name = "connections::a_proxy_of_the_environment_is_not_asked_for_a_server_on_loopback";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", name])
        .env(INSIDE, "1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(variable, &dead);
    }
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}
