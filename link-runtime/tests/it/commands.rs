//! Commands: one call ID, and the three truths of their end.

use std::time::Duration;

use link_runtime::{CallError, Cause};

use crate::{
    fixture::{LIMITS, PATIENT, STEADY, api, api_with, claim, soon},
    server::{BUILD, Seen, Server, Step, no, reply, yes},
};

/// The server loses the first reply, and then answers by `second`.
async fn lost_then(second: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Server {
    Server::new(move |seen| {
        if seen.number == 0 {
            vec![Step::Close]
        } else {
            second(seen)
        }
    })
    .await
}

#[tokio::test]
async fn all_tries_carry_one_call_id_one_body_and_growing_numbers() {
    let server = Server::new(|seen| match seen.number {
        0 => vec![Step::Close],
        1 => vec![reply(502, "", "")],
        2 => no(503, "busy", ""),
        _ => vec![reply(200, &format!("{BUILD}riff-repeat: 1\r\n"), "7")],
    })
    .await;
    let api = api(&server.base());
    let call = claim(&api);
    let id = call.id().clone();
    assert_eq!(soon(call.into_future()).await, Ok(7));
    let seen = server.seen();
    assert_eq!(seen.len(), 4);
    for (number, seen) in (1..).zip(&seen) {
        assert_eq!(seen.path, "/v1/items/7/claim");
        assert_eq!(seen.header("riff-call"), id.as_str());
        assert_eq!(seen.header("riff-try"), number.to_string());
        assert_eq!(seen.header("content-type"), "application/json");
        assert_eq!(seen.body, b"\"mine\"");
    }
    assert_eq!(api.link().stats().repeats, 1);
}

#[tokio::test]
async fn a_plain_no_to_a_first_try_is_a_refusal() {
    for status in [401, 404, 412, 413, 422] {
        let server = Server::new(move |_| no(status, "some_code", "")).await;
        let error = soon(claim(&api(&server.base())).into_future())
            .await
            .unwrap_err();
        let CallError::Refused(refused) = &error else {
            panic!("{status}: {error}")
        };
        assert_eq!(
            (refused.status, refused.code.as_str()),
            (status, "some_code")
        );
    }
}

#[tokio::test]
async fn after_a_lost_try_only_the_refused_header_is_a_refusal() {
    for status in [401, 404, 412, 413, 422, 500] {
        let server = lost_then(move |_| no(status, "some_code", "")).await;
        let call = claim(&api(&server.base()));
        let id = call.id().clone();
        let error = soon(call.into_future()).await.unwrap_err();
        let CallError::Unknown {
            call: Some(call),
            cause,
            ..
        } = &error
        else {
            panic!("{status}: {error}");
        };
        assert_eq!(call.id, id);
        assert!(
            matches!(cause, Cause::NoAfterTry(no) if no.status == status),
            "{cause}"
        );
    }
    let server = lost_then(|_| no(409, "held", "riff-refused: held\r\n")).await;
    let error = soon(claim(&api(&server.base())).into_future())
        .await
        .unwrap_err();
    let CallError::Refused(refused) = &error else {
        panic!("{error}")
    };
    assert_eq!((refused.status, refused.code.as_str()), (409, "held"));
    assert_eq!(error.to_string(), "because (held)");
}

#[tokio::test]
async fn a_repeat_from_a_server_that_has_moved_on_is_the_reply() {
    let newer = "riff-build: 3.0 0.9.0 - -\r\nriff-repeat: 1\r\n";
    let server = lost_then(move |_| vec![reply(200, newer, "7")]).await;
    assert_eq!(soon(claim(&api(&server.base())).into_future()).await, Ok(7));
}

#[tokio::test]
async fn a_strangers_page_leaves_a_command_unknown() {
    for status in [200, 302, 404, 500] {
        let server = Server::new(move |_| vec![reply(status, "", "<html>")]).await;
        let error = soon(claim(&api(&server.base())).into_future())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, CallError::Unknown { call: Some(_), .. }),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            format!("it may have run: not a riff server (status {status})")
        );
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_busy_server_may_hide_a_command_that_went_in() {
    for status in [429, 503] {
        let server = Server::new(move |_| no(status, "busy", "")).await;
        let call = claim(&api_with(&server.base(), STEADY)).within(Duration::from_millis(400));
        let error = soon(call.into_future()).await.unwrap_err();
        assert!(
            matches!(
                &error,
                CallError::Unknown {
                    cause: Cause::Busy { .. },
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_reply_that_cannot_be_read_means_that_it_ran() {
    let server = Server::new(|_| yes("\"seven\"")).await;
    let error = soon(claim(&api(&server.base())).into_future())
        .await
        .unwrap_err();
    assert!(
        matches!(
            &error,
            CallError::Unknown {
                cause: Cause::Undecodable { .. },
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_reply_that_never_ends_is_cut_at_the_cap() {
    let server = Server::new(|_| {
        let head = format!("HTTP/1.1 200 X\r\n{BUILD}transfer-encoding: chunked\r\n\r\n");
        let piece = [
            b"100000\r\n".to_vec(),
            vec![b' '; 1 << 20],
            b"\r\n".to_vec(),
        ]
        .concat();
        let pieces = std::iter::repeat_n(Step::Send(piece), 70);
        [Step::Send(head.into())]
            .into_iter()
            .chain(pieces)
            .chain([Step::Hang])
            .collect()
    })
    .await;
    let error = soon(claim(&api_with(&server.base(), PATIENT)).into_future())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "it ran: the reply is larger than 64 MiB");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_dropped_call_is_not_tried_again() {
    let server = Server::new(|_| vec![Step::Hang]).await;
    let api = api(&server.base());
    let call = tokio::spawn(claim(&api).into_future());
    crate::fixture::until(|| server.seen().len() == 1).await;
    call.abort();
    crate::fixture::until(|| server.left() == 1).await;
    tokio::time::sleep(LIMITS.attempt + LIMITS.most_wait * 2).await;
    assert_eq!(server.connections(), 1);
}
