//! A reply that is cut at every byte is no reply, and the same command is sent again.

use faults::{Step, reply, reply_in_chunks};
use riff_link::Limits;

use crate::fixture::{BUILD, PATIENT, POSTED, api_with, ms, origin, post, soon, yes};

/// The body of the reply that is cut. It is never taken for one.
const CUT: &str = r#"{"seq":9}"#;

/// Cuts `whole` before its last byte, at every place, and answers the second try in full.
async fn cut_everywhere(whole: Vec<u8>, end: Step) {
    let length = whole.len();
    let server = origin(move |seen| {
        if seen.header("riff-try") == "2" {
            return yes(seen);
        }
        let at = seen.number / 2;
        vec![Step::Send(whole[..at].to_vec()), end.clone()]
    });
    let limits = Limits {
        first_wait: ms(2),
        ..PATIENT
    };
    let api = api_with(&server.base(), limits);
    for at in 0..length {
        let posted = soon(post(&api)).await;
        assert!(posted.is_ok_and(|posted| posted.seq == 7), "cut at {at}");
    }
    let told = server.stop().await;
    assert_eq!(told.requests.len(), 2 * length, "{POSTED}");
    for (at, tries) in told.requests.chunks(2).enumerate() {
        let said = |name| [tries[0].header(name), tries[1].header(name)];
        let [first, second] = said("riff-call");
        assert!(!first.is_empty() && first == second, "cut at {at}");
        assert_eq!(said("riff-try"), ["1", "2"], "cut at {at}");
        assert_eq!(tries[0].body, tries[1].body, "cut at {at}");
    }
    let faults = api.link().stats().faults;
    assert_eq!(faults, u64::try_from(length).unwrap());
}

#[tokio::test]
async fn a_reply_with_a_length_that_ends_early_is_none() {
    cut_everywhere(reply(200, BUILD, CUT), Step::Close).await;
}

#[tokio::test]
async fn a_reply_with_a_length_that_is_reset_is_none() {
    cut_everywhere(reply(200, BUILD, CUT), Step::Reset).await;
}

#[tokio::test]
async fn a_reply_in_chunks_that_ends_early_is_none() {
    cut_everywhere(reply_in_chunks(200, BUILD, CUT, 4), Step::Close).await;
}

#[tokio::test]
async fn a_reply_in_chunks_that_is_reset_is_none() {
    cut_everywhere(reply_in_chunks(200, BUILD, CUT, 4), Step::Reset).await;
}

#[tokio::test]
async fn a_reply_without_a_length_is_none_before_the_last_byte_of_its_json() {
    let whole = format!("HTTP/1.1 200 OK\r\n{BUILD}\r\n{CUT}").into_bytes();
    cut_everywhere(whole, Step::Close).await;
}
