//! Replies of somebody else: a proxy's own page, a sign-in page, a redirect.

use faults::{Step, reply};
use riff_link::client::{CallError, Cause, State, StreamError};

use crate::fixture::{
    NOBODY, PATIENT, POSTED, api_with, origin, post, ready, soon, thread, who, yes,
};

const PAGE: &str = "<html><body>secret-of-the-page</body></html>";

fn is_not_ours(error: &CallError, of: u16) -> bool {
    matches!(
        error,
        CallError::Unknown { cause: Cause::NotOurServer { status, .. }, .. } if *status == of
    )
}

#[tokio::test]
async fn a_404_with_a_proxys_own_page_is_no_answer_to_a_command() {
    let server = origin(|_| vec![Step::Send(reply(404, "content-type: text/html\r\n", PAGE))]);
    let api = api_with(&server.base(), PATIENT);
    let command = post(&api);
    let id = command.id().clone();
    let error = soon(command).await.unwrap_err();
    assert!(is_not_ours(&error, 404), "{error:?}");
    assert!(
        matches!(&error, CallError::Unknown { call: Some(call), .. } if call.id == id),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "it may have run: not a riff server (status 404)"
    );
    assert!(matches!(*api.link().state().borrow(), State::Down { .. }));
    assert_eq!(server.stop().await.requests.len(), 1);
}

#[tokio::test]
async fn a_502_with_a_proxys_own_page_is_waited_out_under_the_same_call_id() {
    for status in [502, 503, 504] {
        let server = origin(move |seen| match seen.number {
            0..3 => vec![Step::Send(reply(
                status,
                "content-type: text/html\r\n",
                PAGE,
            ))],
            _ => yes(seen),
        });
        let api = api_with(&server.base(), PATIENT);
        let command = post(&api);
        let id = command.id().clone();
        assert_eq!(soon(command).await.unwrap().seq, 7);
        let told = server.stop().await;
        let tries: Vec<_> = told
            .requests
            .iter()
            .map(|seen| (seen.header("riff-call"), seen.header("riff-try")))
            .collect();
        let id = id.as_str();
        assert_eq!(tries, [(id, "1"), (id, "2"), (id, "3"), (id, "4")]);
        // A whole reply keeps its connection.
        assert_eq!(told.connections, 1);
        assert_eq!(api.link().stats().faults, 0);
    }
}

#[tokio::test]
async fn a_sign_in_page_is_neither_parsed_nor_shown() {
    // Its body would be a reply, its problem a refusal: without the build header it is neither.
    for body in [
        NOBODY,
        POSTED,
        PAGE,
        r#"{"code":"held","status":200,"detail":"secret-of-the-page"}"#,
    ] {
        let headers = "content-type: application/json\r\nriff-refused: held\r\n";
        let server = origin(move |_| vec![Step::Send(reply(200, headers, body))]);
        let api = api_with(&server.base(), PATIENT);
        let errors = [
            soon(who(&api)).await.unwrap_err(),
            soon(post(&api)).await.unwrap_err(),
        ];
        for error in errors {
            assert!(is_not_ours(&error, 200), "{error:?}");
            let shown = format!("{error} {error:?}");
            assert!(shown.contains("not a riff server (status 200)"), "{shown}");
            assert!(!shown.contains("secret"), "{shown}");
        }
        let state = format!("{:?}", *api.link().state().borrow());
        assert!(
            state.starts_with("Down") && !state.contains("secret"),
            "{state}"
        );
        assert_eq!(server.stop().await.requests.len(), 2);
    }
}

#[tokio::test]
async fn a_sign_in_page_in_place_of_a_stream_or_its_catch_up_is_not_shown() {
    for opens in [false, true] {
        let server = origin(move |seen| {
            if opens && seen.asks_for_events() {
                ready(9).freeze()
            } else {
                vec![Step::Send(reply(
                    200,
                    "content-type: text/event-stream\r\n",
                    PAGE,
                ))]
            }
        });
        let api = api_with(&server.base(), PATIENT);
        let mut tail = api.tail(&thread()).after(3);
        let error = soon(tail.next()).await.unwrap().unwrap_err();
        assert!(
            matches!(error, StreamError::NotOurServer { status: 200, .. }),
            "{error:?}"
        );
        assert!(soon(tail.next()).await.is_none());
        assert_eq!(server.stop().await.requests.len(), 1 + usize::from(opens));
    }
}

#[tokio::test]
async fn a_redirect_of_a_command_is_not_followed() {
    let elsewhere = origin(yes);
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: {}/v1/threads\r\n", elsewhere.base());
        let server = origin(move |_| vec![Step::Send(reply(status, &location, ""))]);
        let api = api_with(&server.base(), PATIENT);
        let error = soon(post(&api)).await.unwrap_err();
        assert!(is_not_ours(&error, status), "{error:?}");
        assert_eq!(server.stop().await.requests.len(), 1);
    }
    assert_eq!(elsewhere.stop().await.connections, 0);
}
