//! What became of a command: the server is asked to settle it, and its answer stands.

use std::time::Duration;

use link_runtime::{Api, CallError, Cause, PendingCall, Resolved};
use link_wire::{CallFate, CallId, Fate};

use crate::{
    fixture::{LIMITS, STEADY, api, api_with, claim, soon},
    server::{BUILD, Server, Step, no, reply, yes},
};

const LOG: &str = "AQEBAQEBAQEBAQEBAQEBAQ.5";

fn fate(call: &str, rest: &str) -> Vec<Step> {
    yes(&format!(r#"{{"call":"{call}",{rest}}}"#))
}

fn id() -> CallId {
    "order/7".parse().unwrap()
}

async fn resolve(api: &Api, call: &PendingCall) -> Resolved<u64> {
    soon(api.resolve(call).into_future()).await.unwrap()
}

#[tokio::test]
async fn a_command_that_may_have_run_is_settled_under_what_it_had_seen() {
    let server = Server::new(|seen| match seen.number {
        0 => {
            let headers = format!("{BUILD}riff-caller: ann\r\nriff-log: {LOG}\r\n");
            vec![reply(200, &headers, "7")]
        }
        // A try of the command, then a question of what became of it.
        1 | 3 => vec![Step::Close],
        // Whatever the server says meanwhile is not what the command had seen.
        2 => no(
            500,
            "failed",
            "riff-log: AgICAgICAgICAgICAgICAg.9\r\nriff-caller: ben\r\n",
        ),
        4 => fate("a", r#""fate":"pending""#),
        _ => fate(
            "a",
            r#""fate":"ran","position":6,"at":1,"command":"claim","reply":7"#,
        ),
    })
    .await;
    let api = api(&server.base());
    assert_eq!(soon(claim(&api).into_future()).await, Ok(7));
    let error = soon(claim(&api).into_future()).await.unwrap_err();
    let CallError::Unknown {
        call: Some(call), ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(resolve(&api, &call).await, Resolved::Ran { reply: Some(7) });
    let seen = server.seen();
    assert_eq!(seen.len(), 6);
    for seen in &seen[3..] {
        assert_eq!(seen.method, "POST");
        assert_eq!(seen.path, format!("/v1/calls/{}/settle", call.id));
        assert_eq!(seen.header("riff-log"), LOG);
        assert_eq!(seen.header("riff-caller"), "ann");
        assert_eq!(seen.header("authorization"), "Bearer token");
        assert!(!seen.headers.contains_key("riff-call"));
        assert!(seen.headers.contains_key("riff-budget"));
    }
}

#[tokio::test]
async fn each_answer_says_one_thing_of_the_command() {
    let refused = Resolved::Refused {
        code: "held".into(),
        detail: "by ben".into(),
    };
    for (answer, expected) in [
        (r#""fate":"ran""#, Resolved::Ran { reply: None }),
        (
            r#""fate":"refused","code":"held","detail":"by ben""#,
            refused,
        ),
        (r#""fate":"cancelled""#, Resolved::NeverRan),
        (r#""fate":"forgotten""#, Resolved::MayHaveRun),
    ] {
        let server = Server::new(|_| fate("order/7", answer)).await;
        let api = api(&server.base());
        assert_eq!(resolve(&api, &id().into()).await, expected, "{answer}");
        assert_eq!(server.seen()[0].path, "/v1/calls/order%2F7/settle");
    }
    let server = Server::new(|_| no(410, "rolled_back", "")).await;
    let api = api(&server.base());
    assert_eq!(resolve(&api, &id().into()).await, Resolved::MayHaveRun);
}

#[tokio::test]
async fn a_question_without_an_answer_says_nothing_of_the_command() {
    let call = PendingCall::from(id());
    let server = Server::new(|_| no(403, "other_caller", "")).await;
    let api_of = api(&server.base());
    let error = soon(api_of.resolve::<u64>(&call).into_future()).await;
    let error = error.unwrap_err();
    assert!(matches!(error.why, CallError::Refused(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "what became of the call order/7 is not known: because (other_caller)"
    );
    let server = Server::new(|_| fate("order/7", r#""fate":"pending""#)).await;
    let api = api_with(&server.base(), STEADY);
    let question = api.resolve::<u64>(&call).within(LIMITS.attempt);
    let error = soon(question.into_future()).await.unwrap_err();
    assert_eq!(error.call, call);
    assert!(
        matches!(
            error.why,
            CallError::Unknown {
                cause: Cause::Budget { .. },
                ..
            }
        ),
        "{error}"
    );
    assert!(server.seen().len() > 1);
}

#[tokio::test]
async fn what_the_server_knows_can_be_read_without_settling_it() {
    let server = Server::new(|_| fate("order/7", r#""fate":"unknown""#)).await;
    let fate: CallFate<u64> = soon(
        api(&server.base())
            .fate(&id().into())
            .within(Duration::from_secs(5))
            .into_future(),
    )
    .await
    .unwrap();
    assert_eq!((fate.fate, fate.call), (Fate::Unknown, id()));
    let seen = &server.seen()[0];
    assert_eq!(
        (&seen.method[..], &seen.path[..]),
        ("GET", "/v1/calls/order%2F7")
    );
}
