//! A server that forgets calls: which place in its log a command names, when a 410 is followed by
//! one more try, and what else a command tells: its caller, its time, and the replies that arrived.

use std::time::Duration;

use link_runtime::{Api, CallError, Cause, Credentials, link};
use link_wire::{Attempts, Budget, Kind, LogPosition, OutboxRule, Position, Route, RunId};

use crate::{
    fixture::{
        LIMITS, PATIENT, SERVICE, STEADY, api, api_with, claim, soon, tail_unordered, until, who,
    },
    server::{BUILD, Seen, Server, Step, no, reply, stream, yes},
};

/// The place `position` in the run of this number.
fn at(run: u8, position: u64) -> LogPosition {
    LogPosition {
        run: RunId::from_bytes([run; 16]),
        position: Position(position),
    }
}

fn log(place: LogPosition) -> String {
    format!("riff-log: {place}\r\n")
}

/// A yes that names the caller and a place in the log.
fn yes_of(caller: &str, place: LogPosition) -> Vec<Step> {
    let headers = format!("{BUILD}riff-caller: {caller}\r\n{}", log(place));
    vec![reply(200, &headers, "7")]
}

fn logs(server: &Server) -> Vec<String> {
    let seen = server.seen();
    seen.iter()
        .map(|seen| seen.header("riff-log").to_owned())
        .collect()
}

/// Two different places: one that a query sees, and one that the 410 says.
const BEFORE: u64 = 5;
const HERE: u64 = 90;

/// A server that was asked a query before, so that the next call names the place `BEFORE`.
async fn asked(script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> (Server, Api) {
    let server = Server::new(move |seen| {
        if seen.method == "GET" {
            return yes_of("ann", at(1, BEFORE));
        }
        script(seen)
    })
    .await;
    let api = api(&server.base());
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    (server, api)
}

#[tokio::test]
async fn a_command_names_the_newest_place_that_was_seen_before_its_first_try() {
    let server = Server::new(|seen| match seen.number {
        // Not our server: its word does not count.
        0 => vec![reply(502, &log(at(1, 99)), "")],
        1 => yes_of("ann", at(1, 5)),
        2 => vec![Step::Close],
        3 => no(503, "busy", &log(at(1, 8))),
        4 => yes_of("ann", at(1, 9)),
        5 => yes_of("ann", at(1, 7)),
        6 => yes_of("ann", at(2, 4)),
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    for _ in 0..5 {
        assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    }
    let [five, nine, four] = [at(1, 5), at(1, 9), at(2, 4)].map(|place| place.to_string());
    let unsaid = String::new();
    assert_eq!(
        logs(&server),
        [&unsaid, &unsaid, &five, &five, &five, &nine, &nine, &four].map(String::clone)
    );
}

#[tokio::test]
async fn a_first_try_that_was_not_run_is_sent_once_more_from_the_place_of_that_reply() {
    for code in ["call_forgotten", "rolled_back"] {
        let (server, api) = asked(move |seen| match seen.number {
            1 => no(410, code, &log(at(2, HERE))),
            2 => vec![Step::Close],
            _ => yes_of("ann", at(2, HERE + 1)),
        })
        .await;
        let call = claim(&api);
        let id = call.id().clone();
        assert_eq!(soon(call.into_future()).await, Ok(7), "{code}");
        let seen = server.seen();
        let (before, here) = (at(1, BEFORE).to_string(), at(2, HERE).to_string());
        let expected = [("1", &before), ("2", &here), ("3", &here)];
        assert_eq!(seen.len(), 1 + expected.len());
        for (seen, (number, place)) in seen[1..].iter().zip(expected) {
            assert_eq!(seen.header("riff-call"), id.as_str());
            assert_eq!(seen.header("riff-try"), number);
            assert_eq!(seen.header("riff-log"), place);
        }
    }
}

#[tokio::test]
async fn the_one_more_try_comes_at_once_and_counts_for_nothing() {
    static ONCE: Route = Route {
        name: "once",
        kind: Kind::Command,
        method: "POST",
        path: "/v1/once",
        budget: Some(Budget {
            name: "once",
            within: Duration::from_secs(10),
            tries: Attempts::AtMost(1),
        }),
        outbox: OutboxRule::Keep,
        line: 1,
    };
    let server = Server::new(|seen| match seen.number {
        0 => no(410, "call_forgotten", &log(at(1, HERE))),
        _ => yes("7"),
    })
    .await;
    // A wait of this length would not fit into the budget.
    let limits = link_wire::Limits {
        first_wait: Duration::from_secs(60),
        most_wait: Duration::from_secs(60),
        ..PATIENT
    };
    let once = api_with(&server.base(), limits).request(&ONCE);
    assert_eq!(soon(once.command::<u64>().into_future()).await, Ok(7));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_second_410_ends_a_call_that_has_not_run() {
    let (server, api) = asked(|_| no(410, "rolled_back", &log(at(2, HERE)))).await;
    let error = soon(claim(&api).into_future()).await.unwrap_err();
    assert!(
        matches!(&error, CallError::Refused(no) if no.code == "rolled_back"),
        "{error}"
    );
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_410_after_a_try_that_may_have_arrived_leaves_the_call_unknown() {
    for (code, expected, text) in [
        (
            "call_forgotten",
            Cause::CallForgotten,
            "it may have run: the server has forgotten calls of its age",
        ),
        (
            "rolled_back",
            Cause::RolledBack,
            "it may have run: the server's log was rolled back, and says nothing of it",
        ),
        (
            "reply_forgotten",
            Cause::ReplyForgotten,
            "it ran: the server no longer keeps its reply",
        ),
    ] {
        let (server, api) = asked(move |seen| match seen.number {
            1 => vec![Step::Close],
            _ => no(410, code, &log(at(2, HERE))),
        })
        .await;
        let call = claim(&api);
        let id = call.id().clone();
        let error = soon(call.into_future()).await.unwrap_err();
        assert_eq!(error.to_string(), text);
        let CallError::Unknown {
            call: Some(call),
            cause,
            ..
        } = error
        else {
            panic!("{code}: {error}");
        };
        assert_eq!(cause, expected);
        assert_eq!((call.id, call.seen), (id, Some(at(1, BEFORE))));
        assert_eq!(call.caller, Some("ann".parse().unwrap()));
        assert_eq!(server.seen().len(), 3, "{code}");
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_never_ran_whatever_came_before() {
    let (_server, api) = asked(|seen| match seen.number {
        1 => vec![Step::Close],
        _ => no(410, "call_cancelled", ""),
    })
    .await;
    let error = soon(claim(&api).into_future()).await.unwrap_err();
    assert!(
        matches!(&error, CallError::Refused(no) if no.code == "call_cancelled"),
        "{error}"
    );
}

#[tokio::test]
async fn a_rollback_is_counted_once_for_each_run_that_was_lost() {
    let (_server, api) = asked(|seen| match seen.number {
        // Two calls that had seen the run 1, then one that had seen the run 2.
        2 => no(410, "rolled_back", &log(at(2, 3))),
        1 => no(410, "rolled_back", ""),
        4 => no(410, "rolled_back", &log(at(3, 1))),
        _ => yes_of("ann", at(2, 4)),
    })
    .await;
    let counted = |expected| assert_eq!(api.link().stats().rollbacks, expected);
    counted(0);
    assert!(soon(claim(&api).into_future()).await.is_err());
    counted(1);
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    counted(1);
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    counted(2);
}

#[tokio::test]
async fn the_caller_is_named_once_a_reply_has_said_it_and_stays_within_a_call() {
    let server = Server::new(|seen| match seen.number {
        0 => no(503, "busy", "riff-caller: ann\r\n"),
        // Not our server: its word does not count.
        1 => vec![reply(502, "riff-caller: eve\r\n", "")],
        3 => no(503, "busy", "riff-caller: ben\r\n"),
        _ => yes("7"),
    })
    .await;
    let api = api(&server.base());
    for _ in 0..3 {
        assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    }
    // Other credentials are another caller, and equal ones are the same.
    let of = |token: &str| {
        let link = link::with(&server.base(), LIMITS).unwrap();
        Api::new(link, Credentials::bearer(token), &SERVICE)
    };
    assert_eq!(soon(claim(&of("other")).into_future()).await, Ok(7));
    assert_eq!(soon(claim(&of("token")).into_future()).await, Ok(7));
    assert_eq!(soon(who(&api).into_future()).await, Ok(7));
    let callers: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("riff-caller").to_owned())
        .collect();
    assert_eq!(callers, ["", "", "", "ann", "ann", "ben", "", "ben", ""]);
}

#[tokio::test]
async fn another_callers_no_is_a_refusal_only_while_nothing_can_have_arrived() {
    let server = Server::new(|seen| match seen.number {
        1 => vec![Step::Close],
        _ => no(403, "other_caller", ""),
    })
    .await;
    let api = api(&server.base());
    let first = soon(claim(&api).into_future()).await.unwrap_err();
    assert!(matches!(first, CallError::Refused(_)), "{first}");
    let second = soon(claim(&api).into_future()).await.unwrap_err();
    assert!(
        matches!(
            second,
            CallError::Unknown {
                cause: Cause::NoAfterTry(_),
                ..
            }
        ),
        "{second}"
    );
}

#[tokio::test]
async fn replies_that_arrived_are_told_with_the_next_command_until_it_has_its_reply() {
    let server = Server::new(|seen| match seen.number {
        2 => vec![Step::Close],
        4 => no(404, "no_route", "riff-caller: ann\r\n"),
        6 => yes_of("ben", at(1, 6)),
        _ => yes_of("ann", at(1, 5)),
    })
    .await;
    let api = api(&server.base());
    let mut ids = Vec::new();
    for _ in 0..7 {
        let call = claim(&api);
        ids.push(call.id().to_string());
        // The fourth is refused; what the others come to is told by what they say.
        assert_eq!(soon(call.into_future()).await.is_ok(), ids.len() != 4);
    }
    let acks: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.header("riff-ack").to_owned())
        .collect();
    let expected = [
        "",      // 0: the first command
        &ids[0], // 1
        &ids[1], // 2: cut
        &ids[1], // 3: its second try
        &ids[2], // 4: refused, so it was not written
        &ids[2], // 5
        &ids[4], // 6: its reply names another caller
        &ids[5], // 7: the one whose reply named that caller
    ];
    assert_eq!(acks, expected);
}

#[tokio::test]
async fn a_reply_that_cannot_be_read_is_not_acknowledged() {
    let server = Server::new(|seen| {
        let headers = format!("{BUILD}riff-caller: ann\r\n");
        let body = if seen.number == 0 { "\"seven\"" } else { "7" };
        vec![reply(200, &headers, body)]
    })
    .await;
    let api = api(&server.base());
    assert!(soon(claim(&api).into_future()).await.is_err());
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    assert!(!server.seen()[1].headers.contains_key("riff-ack"));
}

#[tokio::test]
async fn each_try_says_how_much_of_the_budget_is_left() {
    let server = Server::new(|seen| match seen.number % 3 {
        0 | 1 => no(503, "busy", ""),
        _ => yes("7"),
    })
    .await;
    let api = api_with(&server.base(), STEADY);
    let within = Duration::from_secs(9);
    assert_eq!(soon(who(&api).within(within).into_future()).await, Ok(7));
    assert_eq!(soon(claim(&api).within(within).into_future()).await, Ok(7));
    let left: Vec<u64> = server
        .seen()
        .iter()
        .map(|seen| seen.header("riff-budget").parse().unwrap())
        .collect();
    for tries in left.chunks(3) {
        assert!(tries[0] <= 9_000 && tries[0] > 5_000, "{left:?}");
        // A wait lies between two tries: 50 ms or more.
        assert!(
            tries.is_sorted_by(|before, after| *after + 50 <= *before),
            "{left:?}"
        );
    }
    let endless = who(&api).within(Duration::MAX).into_future();
    assert_eq!(soon(endless).await, Ok(7));
    assert!(!server.seen()[6].headers.contains_key("riff-budget"));
}

#[tokio::test]
async fn a_stream_says_nothing_of_it_and_learns_from_its_reply() {
    let server = Server::new(|seen| match seen.method.as_str() {
        "GET" => {
            let Step::Send(open) = stream(": ready\n\n") else {
                unreachable!()
            };
            let said = format!("riff-caller: ann\r\n{}riff-build", log(at(1, BEFORE)));
            let open = String::from_utf8(open).unwrap();
            let open = open.replacen("riff-build", &said, 1);
            vec![Step::Send(open.into()), Step::Hang]
        }
        _ => yes("7"),
    })
    .await;
    let api = api_with(&server.base(), PATIENT);
    let mut tail = tail_unordered(&api);
    let reader = tokio::spawn(async move { tail.next().await });
    until(|| api.link().stats().tries == 1).await;
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    reader.abort();
    let [opened, command] = &server.seen()[..] else {
        panic!("two requests")
    };
    for header in ["riff-log", "riff-caller", "riff-ack", "riff-budget"] {
        assert!(!opened.headers.contains_key(header), "{header}");
    }
    assert_eq!(command.header("riff-log"), at(1, BEFORE).to_string());
    assert_eq!(command.header("riff-caller"), "ann");
}
