//! HTTP/2: what is not processed, what is not held up.
//!
//! Each test runs twice: in clear text, and over TLS in a process of its own that trusts the
//! authority of the server.

use std::{
    env,
    sync::atomic::{AtomicUsize, Ordering},
};

use faults::{Gate, Identity, Origin2, Seen, Step2};
use riff_api::{Alive, RiffApi};
use riff_link::{
    Limits,
    client::{CallError, Cause, Credentials, State, link},
};

use crate::{
    connections::twenty,
    fixture::{LIMITS, PATIENT, api_with, body, ms, post, soon, until, who},
    proxy_env::again,
};

pub(crate) const BUILD: (&str, &str) = ("riff-build", "1.0 0.1.0 - -");
pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const CANCEL: u32 = 8;
const ENHANCE_YOUR_CALM: u32 = 11;

/// Many times what one stream may send ahead.
const LARGE: usize = 12 << 20;

/// How HTTP/2 is spoken: as who over TLS, or in clear text.
pub(crate) struct Way(Option<Identity>);

/// Over TLS in the process that trusts the server; in clear text in the one that has made that.
pub(crate) fn way(module: &str, test: &str) -> Way {
    const DIR: &str = "CASES_TEST_IDENTITY";
    if let Some(dir) = env::var_os(DIR) {
        return Way(Some(Identity::read(dir.as_ref(), &["h2"]).unwrap()));
    }
    let dir = tempfile::tempdir().unwrap();
    Identity::write(dir.path()).unwrap();
    let authority = Identity::authority(dir.path());
    let set = [
        (DIR, dir.path().as_os_str()),
        ("SSL_CERT_FILE", authority.as_os_str()),
    ];
    again(&format!("{module}::{test}"), &set, &["SSL_CERT_DIR"]);
    Way(None)
}

/// In clear text the first connection is made by a request of the link itself.
fn is_of_the_link(seen: &Seen) -> bool {
    seen.target == "/healthz"
}

impl Way {
    /// A server whose steps are asked for calls only, which are numbered without the others.
    pub(crate) fn server(
        &self,
        steps: impl Fn(&Seen) -> Vec<Step2> + Send + Sync + 'static,
    ) -> Server {
        let calls = AtomicUsize::new(0);
        let steps = move |seen: &Seen| {
            if is_of_the_link(seen) {
                return yes(seen);
            }
            let number = calls.fetch_add(1, Ordering::SeqCst);
            steps(&Seen {
                number,
                ..seen.clone()
            })
        };
        let origin = match &self.0 {
            Some(identity) => Origin2::start_tls(identity, steps),
            None => Origin2::start(steps),
        };
        Server(origin.unwrap())
    }

    pub(crate) fn api(&self, server: &Server, limits: Limits) -> RiffApi {
        let base = server.0.base();
        if self.0.is_some() {
            return api_with(&base, limits);
        }
        let link = link::h2c(&base, limits).unwrap();
        RiffApi::new(link, Credentials::bearer("token"))
    }
}

pub(crate) struct Server(Origin2);

impl Server {
    /// The calls that were there.
    pub(crate) fn calls(&self) -> Vec<Seen> {
        let mut requests = self.0.told().requests;
        requests.retain(|seen| !is_of_the_link(seen));
        requests
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.told().connections
    }
}

pub(crate) fn yes(seen: &Seen) -> Vec<Step2> {
    Step2::reply(200, &[BUILD], body(seen).as_bytes())
}

/// The call ID and the number of the try of a request.
fn tried(seen: &Seen) -> (&str, &str) {
    (seen.header("riff-call"), seen.header("riff-try"))
}

#[tokio::test]
async fn of_twenty_first_calls_over_http2_one_is_cancelled_and_nineteen_succeed() {
    let test = "of_twenty_first_calls_over_http2_one_is_cancelled_and_nineteen_succeed";
    let way = way("two", test);
    for given_up in [0, 7, 19] {
        let server = way.server(|seen| [vec![Step2::Pause(ms(50))], yes(seen)].concat());
        let api = way.api(&server, PATIENT);
        assert_eq!(twenty(&api, given_up).await, 19);
        assert_eq!(api.link().stats().faults, 0);
        assert!(server.calls().iter().all(|seen| seen.stream > 0));
    }
}

#[tokio::test]
async fn a_small_call_is_not_held_up_by_three_large_replies_that_nobody_reads() {
    let test = "a_small_call_is_not_held_up_by_three_large_replies_that_nobody_reads";
    let way = way("two", test);
    let server = way.server(|seen| {
        if seen.header("riff-call").is_empty() && seen.number > 0 {
            let body = format!(r#"{{"present":[]{}}}"#, " ".repeat(LARGE));
            Step2::reply(200, &[BUILD], body.as_bytes())
        } else {
            yes(seen)
        }
    });
    let api = way.api(&server, PATIENT);
    soon(who(&api)).await.unwrap();
    let mut unread = Vec::new();
    for n in 1..=3 {
        let mut call = IntoFuture::into_future(who(&api));
        // Polled until its request has arrived, and then no more.
        tokio::select! {
            biased;
            reply = &mut call => panic!("{reply:?}"),
            () = until(|| server.calls().len() > n) => {}
        }
        unread.push(call);
    }
    for _ in 0..10 {
        assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    }
    let held = server.0.told().sent;
    assert!(held < 8 << 20, "{held}: the replies were not held up");
    for call in unread {
        assert!(soon(call).await.unwrap().present.is_empty());
    }
    assert_eq!((server.connections(), api.link().stats().faults), (1, 0));
}

#[tokio::test]
async fn a_goaway_between_two_calls_ends_the_first_and_sends_the_second_again() {
    let test = "a_goaway_between_two_calls_ends_the_first_and_sends_the_second_again";
    let way = way("two", test);
    for code in [NO_ERROR, ENHANCE_YOUR_CALM] {
        let gate = Gate::shut();
        let waits = gate.clone();
        let server = way.server(move |seen| match seen.number {
            1 => [vec![Step2::Wait(waits.clone())], yes(seen)].concat(),
            2 => vec![Step2::GoAway(seen.stream - 2, code), Step2::Hang],
            _ => yes(seen),
        });
        let api = way.api(&server, PATIENT);
        soon(who(&api)).await.unwrap();
        let mut watched = api.link().state();
        assert_eq!(*watched.borrow_and_update(), State::Up);
        let first = tokio::spawn(IntoFuture::into_future(post(&api)));
        until(|| server.calls().len() == 2).await;
        // A call of one try: what is sent again is not counted.
        soon(api.alive(&Alive::default())).await.unwrap();
        gate.open();
        assert_eq!(soon(first).await.unwrap().unwrap().seq, 7);
        let stats = api.link().stats();
        assert_eq!(
            (stats.calls, stats.tries, stats.faults, stats.swaps),
            (3, 4, 0, 0)
        );
        assert!(!watched.has_changed().unwrap());
        let calls = server.calls();
        let connections: Vec<_> = calls.iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, [0, 0, 0, 1]);
        assert_eq!(calls[3].stream, 1);
    }
}

#[tokio::test]
async fn a_command_that_a_goaway_leaves_out_is_sent_again_under_its_call_id() {
    let test = "a_command_that_a_goaway_leaves_out_is_sent_again_under_its_call_id";
    let way = way("two", test);
    let server = way.server(|seen| match seen.connection {
        0 | 1 => vec![Step2::GoAway(0, NO_ERROR), Step2::Hang],
        _ => yes(seen),
    });
    let api = way.api(&server, PATIENT);
    let command = post(&api);
    let id = command.id().clone();
    assert_eq!(soon(command).await.unwrap().seq, 7);
    let calls = server.calls();
    let tries: Vec<_> = calls.iter().map(tried).collect();
    let id = id.as_str();
    assert_eq!(tries, [(id, "1"), (id, "2"), (id, "3")]);
    assert_eq!((server.connections(), api.link().stats().faults), (3, 0));
}

#[tokio::test]
async fn a_refused_stream_is_sent_again_at_once_over_its_connection() {
    let test = "a_refused_stream_is_sent_again_at_once_over_its_connection";
    let way = way("two", test);
    let server = way.server(|seen| match seen.number {
        0 | 1 | 3 => vec![Step2::Refuse],
        _ => yes(seen),
    });
    let api = way.api(&server, PATIENT);
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    soon(api.alive(&Alive::default())).await.unwrap();
    let stats = api.link().stats();
    assert_eq!((stats.tries, stats.faults, stats.swaps), (5, 0, 0));
    assert_eq!(server.connections(), 1);
    let calls = server.calls();
    let [one, two, three, ..] = &calls[..] else {
        panic!("{calls:?}")
    };
    let id = one.header("riff-call");
    assert_eq!([two, three].map(tried), [(id, "2"), (id, "3")]);
}

#[tokio::test]
async fn a_server_that_processes_nothing_is_asked_in_no_spin() {
    let test = "a_server_that_processes_nothing_is_asked_in_no_spin";
    let way = way("two", test);
    for refuses in [false, true] {
        let server = way.server(move |_| {
            if refuses {
                vec![Step2::Refuse]
            } else {
                vec![Step2::GoAway(0, NO_ERROR), Step2::Hang]
            }
        });
        let api = way.api(&server, PATIENT);
        // A call of one try: three are sent again at once, and the next one counts.
        let error = soon(api.alive(&Alive::default())).await.unwrap_err();
        assert!(
            matches!(
                error,
                CallError::NotSent {
                    cause: Cause::CutBefore { .. }
                }
            ),
            "{error:?}"
        );
        assert_eq!(server.calls().len(), 4);
        assert_eq!(api.link().stats().faults, 0);
        soon(post(&api).within(ms(400))).await.unwrap_err();
        let tries = server.calls().len() - 4;
        // Three at once, and then waits of 5 to 40 ms.
        assert!((4..60).contains(&tries), "{tries}");
    }
}

#[tokio::test]
async fn another_reset_of_a_stream_is_a_fault_and_the_command_may_have_run() {
    let test = "another_reset_of_a_stream_is_a_fault_and_the_command_may_have_run";
    let way = way("two", test);
    let server = way.server(|_| vec![Step2::Reset(CANCEL)]);
    let api = way.api(&server, PATIENT);
    let error = soon(post(&api).within(ms(300))).await.unwrap_err();
    assert!(
        matches!(error, CallError::Unknown { call: Some(_), .. }),
        "{error:?}"
    );
    assert!(api.link().stats().faults > 0);
}

#[tokio::test]
async fn a_frozen_http2_connection_costs_one_try() {
    let way = way("two", "a_frozen_http2_connection_costs_one_try");
    let server = way.server(|seen| match seen.number {
        1 => vec![Step2::Freeze],
        _ => yes(seen),
    });
    let api = way.api(&server, LIMITS);
    soon(who(&api)).await.unwrap();
    assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
    let stats = api.link().stats();
    assert_eq!((stats.tries, stats.faults, stats.swaps), (3, 1, 1));
    assert_eq!(server.connections(), 2);
}
