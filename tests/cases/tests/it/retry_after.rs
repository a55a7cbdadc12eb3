//! `Retry-After`: digits or a date and nothing else, and never past the budget.

use std::time::Duration;

use faults::{Origin, Step, reply};
use riff_link::client::{CallError, Cause};

use crate::fixture::{PATIENT, api_with, ms, no, origin, post, soon, yes};

/// The budget of the calls here. Waits of our own are a hundredth of it.
const WITHIN: Duration = ms(950);

/// A server that is busy at the first try, with these headers.
fn busy_once(ours: bool, headers: &str) -> Origin {
    let headers = headers.to_owned();
    origin(move |seen| match seen.number {
        0 if ours => no(503, "busy", &headers),
        0 => vec![Step::Send(reply(503, &headers, "<h1>no</h1>"))],
        _ => yes(seen),
    })
}

/// What a command comes to: its second try has a reply, or it ends with what it was asked to
/// wait.
async fn told(ours: bool, headers: &str) -> Result<(), Option<Duration>> {
    let server = busy_once(ours, headers);
    let api = api_with(&server.base(), PATIENT);
    let ended = soon(post(&api).within(WITHIN)).await;
    let told = server.stop().await;
    match ended {
        Ok(posted) => {
            assert_eq!((posted.seq, told.requests.len()), (7, 2), "{headers}");
            let [first, second] = [0, 1].map(|n| told.requests[n].header("riff-call"));
            assert_eq!(first, second);
            Ok(())
        }
        Err(CallError::Unknown {
            call: Some(_),
            cause: Cause::Busy { retry_after, .. } | Cause::FrontEnd { retry_after, .. },
            ..
        }) => {
            assert_eq!(told.requests.len(), 1, "{headers}");
            Err(retry_after)
        }
        Err(error) => panic!("{headers}: {error:?}"),
    }
}

#[tokio::test]
async fn a_wait_beyond_the_budget_ends_the_call_now() {
    for (value, seconds) in [
        ("1", 1),
        ("120", 120),
        ("18446744073709551615", u64::MAX),
        ("99999999999999999999", u64::MAX),
    ] {
        for ours in [true, false] {
            let ended = told(ours, &format!("retry-after: {value}\r\n")).await;
            assert_eq!(ended, Err(Some(Duration::from_secs(seconds))), "{value}");
        }
    }
}

#[tokio::test]
async fn what_is_neither_digits_nor_a_date_and_what_stands_twice_is_ignored() {
    for headers in [
        "retry-after: -5\r\n",
        "retry-after: 1.5\r\n",
        "retry-after: +3\r\n",
        "retry-after: 120junk\r\n",
        "retry-after: 120, 120\r\n",
        "retry-after: 120\r\nretry-after: 120\r\n",
        "retry-after: 120\r\nretry-after: 0\r\n",
        "retry-after: tomorrow\r\n",
        "retry-after: \r\n",
        // A date says nothing without the clock that it was read from.
        "retry-after: Fri, 01 Jan 2038 00:02:00 GMT\r\n",
    ] {
        for ours in [true, false] {
            assert_eq!(told(ours, headers).await, Ok(()), "{headers}");
        }
    }
}

#[tokio::test]
async fn nothing_to_wait_for_is_no_wait() {
    for headers in [
        "retry-after: 0\r\n",
        "date: Fri, 01 Jan 2038 01:00:00 GMT\r\nretry-after: Fri, 01 Jan 2038 00:59:59 GMT\r\n",
    ] {
        assert_eq!(told(true, headers).await, Ok(()), "{headers}");
    }
}

#[tokio::test]
async fn a_date_counts_from_the_servers_clock_however_wrong_it_is() {
    for day in ["Wed, 01 Jan 2020", "Fri, 01 Jan 2038"] {
        // The same instant by two clocks that are an hour apart.
        for hour in ["00", "01"] {
            let headers = format!(
                "date: {day} {hour}:00:00 GMT\r\nretry-after: {day} {hour}:02:00 GMT\r\n{}",
                "x: y\r\n"
            );
            let ended = told(true, &headers).await;
            assert_eq!(ended, Err(Some(Duration::from_secs(120))), "{headers}");
        }
    }
}

#[tokio::test]
async fn a_server_that_always_asks_to_wait_gets_no_try_past_the_budget() {
    let server = origin(|_| no(503, "busy", "retry-after: 1\r\n"));
    let api = api_with(&server.base(), PATIENT);
    let error = soon(post(&api).within(ms(2_500))).await.unwrap_err();
    assert!(matches!(error, CallError::Unknown { .. }), "{error:?}");
    let tries = server.stop().await.requests.len();
    // At 0, 1 and 2 s, with something on top.
    assert!((2..=3).contains(&tries), "{tries}");
}
