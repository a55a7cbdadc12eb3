//! What follows from several tries of one call.

use link_wire::{Attempts, Limits, Position, RunId};

use super::*;

const PLENTY: Duration = Duration::from_secs(60);

/// Runs these tries of one call, and gives what follows from the last.
fn after(kind: Kind, evidence: &[Evidence]) -> Next {
    let mut tries = Tries::new(kind, Attempts::Many);
    let mut next = None;
    for evidence in evidence {
        assert!(
            matches!(next, None | Some(Next::Again(_))),
            "the call ended before: {next:?}"
        );
        let class = JUDGE.class(evidence, kind);
        next = Some(tries.next(class, PLENTY, &Limits::DEFAULT, u32::MAX));
    }
    next.unwrap()
}

/// As [`after`], and the last of them may not be followed by another.
fn ended(kind: Kind, evidence: &[Evidence]) -> End {
    let most = u32::try_from(evidence.len()).unwrap();
    let mut tries = Tries::new(kind, Attempts::AtMost(most));
    for evidence in evidence {
        let class = JUDGE.class(evidence, kind);
        if let Next::End(end) = tries.next(class, PLENTY, &Limits::DEFAULT, u32::MAX) {
            return end;
        }
    }
    panic!("{evidence:?} has no end");
}

#[test]
fn a_command_is_refused_by_a_plain_no_only_while_nothing_can_have_arrived() {
    let noes = [
        saying(401, "unauthenticated", ""),
        saying(403, "other_caller", ""),
        saying(404, "no_route", ""),
        saying(412, "other_build", ""),
        saying(413, "too_large", ""),
        saying(422, "call_reused", ""),
        saying(500, "failed", ""),
        ours_on("2.0", 404),
    ];
    let hide = [
        silent(),
        Evidence::Fault {
            cause: Cause::CutInside { why: String::new() },
        },
        Evidence::Head(foreign(502)),
        Evidence::Head(ours(503)),
        Evidence::Head(ours(429)),
        Evidence::Head(saying(429, "too_fast", "")),
        Evidence::Head(saying(429, "too_many_keys", "")),
    ];
    for no in noes {
        let no = Evidence::Head(no);
        for first in [vec![], vec![never(false)], vec![never(false), never(false)]] {
            let tries: Vec<_> = first.into_iter().chain([no.clone()]).collect();
            let next = after(Kind::Command, &tries);
            assert!(
                matches!(next, Next::End(End::Refused(_))),
                "{tries:?}: {next:?}"
            );
        }
        for earlier in &hide {
            let tries = [earlier.clone(), never(false), no.clone()];
            let next = after(Kind::Command, &tries);
            let Next::End(End::Unknown(Cause::NoAfterTry(_))) = next else {
                panic!("{tries:?}: {next:?}");
            };
            let next = after(Kind::Query, &tries);
            assert!(
                matches!(next, Next::End(End::Refused(_))),
                "{tries:?}: {next:?}"
            );
        }
    }
}

#[test]
fn a_command_is_refused_by_the_handler_in_any_case() {
    let refusal = Evidence::Head(refusing(409, "held"));
    for first in [
        vec![],
        vec![silent()],
        vec![Evidence::Head(ours(503)), never(false)],
    ] {
        let tries: Vec<_> = first.into_iter().chain([refusal.clone()]).collect();
        assert!(matches!(
            after(Kind::Command, &tries),
            Next::End(End::Refused(_))
        ));
    }
}

#[test]
fn a_call_was_not_sent_only_if_no_try_was() {
    for kind in KINDS {
        assert!(matches!(
            ended(kind, &[never(false), never(false)]),
            End::NotSent(_)
        ));
        for one in [
            silent(),
            Evidence::Head(foreign(502)),
            Evidence::Head(ours(503)),
        ] {
            let end = ended(kind, &[never(false), one.clone(), never(false)]);
            assert!(matches!(end, End::Unknown(_)), "{one:?}: {end:?}");
        }
    }
}

#[test]
fn a_stranger_ends_a_call_at_once_and_a_command_may_have_run() {
    for kind in KINDS {
        let next = after(kind, &[Evidence::Head(foreign(200))]);
        assert!(matches!(
            next,
            Next::End(End::Unknown(Cause::NotOurServer { .. }))
        ));
    }
}

#[test]
fn nobody_at_home_ends_a_call_at_once() {
    let next = after(Kind::Command, &[never(true)]);
    assert!(matches!(next, Next::End(End::NotSent(_))));
    let next = after(Kind::Command, &[silent(), never(true)]);
    assert!(matches!(next, Next::End(End::Unknown(_))));
}

#[test]
fn the_waits_double_while_the_budget_lasts() {
    let mut tries = Tries::new(Kind::Query, Attempts::Many);
    let mut next = |left: u64| {
        let class = JUDGE.class(&silent(), Kind::Query);
        tries.next(
            class,
            Duration::from_millis(left),
            &Limits::DEFAULT,
            u32::MAX,
        )
    };
    assert_eq!(next(60_000), Next::Again(Duration::from_millis(250)));
    assert_eq!(next(501), Next::Again(Duration::from_millis(500)));
    assert!(matches!(
        next(1_000),
        Next::End(End::Unknown(Cause::Silent { .. }))
    ));
}

#[test]
fn a_call_has_no_more_tries_than_its_budget_says() {
    let mut tries = Tries::new(Kind::Query, Attempts::AtMost(2));
    assert_eq!(tries.number(), 1);
    let class = JUDGE.class(&never(false), Kind::Query);
    let next = tries.next(class.clone(), PLENTY, &Limits::DEFAULT, 0);
    assert!(matches!(next, Next::Again(_)));
    assert_eq!(tries.number(), 2);
    let next = tries.next(class, PLENTY, &Limits::DEFAULT, 0);
    assert!(matches!(next, Next::End(End::NotSent(_))));
}

#[test]
fn our_wait_follows_a_servers_which_ends_a_call_that_cannot_wait_so_long() {
    let asking = |seconds: u64| {
        let retry_after = Some(Duration::from_secs(seconds));
        Evidence::Head(Head {
            retry_after,
            ..ours(503)
        })
    };
    let next = |evidence: &Evidence| after(Kind::Query, std::slice::from_ref(evidence));
    assert_eq!(next(&asking(7)), Next::Again(Duration::from_millis(7_250)));
    let class = JUDGE.class(&asking(59), Kind::Query);
    for (left, wait) in [(59_251, 59_250), (59_250, 59_000), (59_001, 59_000)] {
        let left = Duration::from_millis(left);
        let mut tries = Tries::new(Kind::Query, Attempts::Many);
        let next = tries.next(class.clone(), left, &Limits::DEFAULT, u32::MAX);
        assert_eq!(next, Next::Again(Duration::from_millis(wait)), "{left:?}");
    }
    assert_eq!(next(&asking(0)), Next::Again(Duration::from_millis(250)));
    let Next::End(End::Unknown(cause)) = next(&asking(60)) else {
        panic!()
    };
    assert_eq!(cause.to_string(), "the server is busy (come again in 60 s)");
    let foreign = Head {
        retry_after: Some(PLENTY * 2),
        ..foreign(503)
    };
    let Next::End(End::Unknown(cause)) = next(&Evidence::Head(foreign)) else {
        panic!()
    };
    assert_eq!(
        cause.to_string(),
        "a front end answered 503 (come again in 2 min)"
    );
}

#[test]
fn a_last_try_without_time_leaves_the_word_to_the_one_before() {
    let brief = Evidence::Brief {
        cause: Cause::Silent {
            after: Duration::from_millis(3),
        },
        arrived: true,
    };
    let busy = Evidence::Head(saying(503, "unavailable", "starting"));
    let Next::End(End::Unknown(cause)) = after(Kind::Query, &[busy, brief.clone()]) else {
        panic!();
    };
    assert_eq!(cause.to_string(), "the server is busy: starting");
    let next = after(Kind::Command, &[never(false), brief]);
    assert!(matches!(
        next,
        Next::End(End::Unknown(Cause::Connect { .. }))
    ));
}

#[test]
fn a_budget_that_runs_out_in_a_wait_leaves_the_word_to_the_try_before() {
    let budget = Cause::Budget { within: PLENTY };
    let mut tries = Tries::new(Kind::Command, Attempts::Many);
    assert_eq!(
        tries.out_of_time(budget.clone()),
        End::NotSent(budget.clone())
    );
    let busy = Evidence::Head(saying(503, "unavailable", "starting"));
    let class = JUDGE.class(&busy, Kind::Command);
    tries.next(class, PLENTY, &Limits::DEFAULT, 0);
    let End::Unknown(cause) = tries.out_of_time(budget) else {
        panic!()
    };
    assert_eq!(cause.to_string(), "the server is busy: starting");
}

/// A 410 of this code, which says where the log is.
fn gone(code: &str, here: Option<LogPosition>) -> Evidence {
    Evidence::Head(Head {
        log: here,
        ..saying(410, code, "")
    })
}

fn here() -> LogPosition {
    LogPosition {
        run: RunId::from_bytes([1; 16]),
        position: Position(7),
    }
}

/// What may hide that the command went in.
fn hiding() -> [Evidence; 4] {
    [
        silent(),
        Evidence::Head(foreign(502)),
        Evidence::Head(ours(503)),
        Evidence::Head(saying(429, "too_fast", "")),
    ]
}

#[test]
fn a_command_that_was_not_run_is_tried_once_more_while_nothing_can_have_arrived() {
    for code in ["call_forgotten", "rolled_back"] {
        for first in [vec![], vec![never(false)]] {
            let tries = [first, vec![gone(code, Some(here()))]].concat();
            assert_eq!(after(Kind::Command, &tries), Next::AtOnce(here()));
        }
        let next = after(Kind::Command, &[gone(code, None)]);
        assert!(matches!(next, Next::End(End::Refused(_))), "{next:?}");
        for earlier in hiding() {
            let next = after(Kind::Command, &[earlier, gone(code, Some(here()))]);
            let Next::End(End::Unknown(cause)) = next else {
                panic!("{code}: {next:?}");
            };
            assert!(!cause.ran(), "{cause}");
        }
        // To what is no command it is a no like others.
        let next = after(Kind::Query, &[gone(code, Some(here()))]);
        assert!(matches!(next, Next::End(End::Refused(_))), "{next:?}");
    }
}

#[test]
fn the_one_more_try_is_numbered_and_not_counted() {
    let mut tries = Tries::new(Kind::Command, Attempts::AtMost(2));
    let mut next = |evidence: &Evidence, left| {
        let class = JUDGE.class(evidence, Kind::Command);
        let next = tries.next(class, left, &Limits::DEFAULT, u32::MAX);
        (next, tries.number())
    };
    let forgotten = gone("call_forgotten", Some(here()));
    assert_eq!(next(&forgotten, PLENTY), (Next::AtOnce(here()), 2));
    let first_wait = Next::Again(Limits::DEFAULT.first_wait);
    assert_eq!(next(&never(false), PLENTY), (first_wait, 3));
    let (ended, _) = next(&forgotten, PLENTY);
    assert!(matches!(ended, Next::End(End::Refused(_))), "{ended:?}");
}

#[test]
fn a_command_without_time_for_one_more_try_has_not_run() {
    let mut tries = Tries::new(Kind::Command, Attempts::Many);
    let class = JUDGE.class(&gone("rolled_back", Some(here())), Kind::Command);
    let next = tries.next(class, Duration::ZERO, &Limits::DEFAULT, 0);
    assert!(matches!(next, Next::End(End::Refused(_))), "{next:?}");
}

#[test]
fn the_one_more_try_may_have_arrived_like_any_other() {
    let forgotten = gone("call_forgotten", Some(here()));
    let mut tries = Tries::new(Kind::Command, Attempts::Many);
    let mut next = None;
    for evidence in [forgotten.clone(), silent(), forgotten] {
        let class = JUDGE.class(&evidence, Kind::Command);
        next = Some(tries.next(class, PLENTY, &Limits::DEFAULT, 0));
    }
    let expected = Next::End(End::Unknown(Cause::CallForgotten));
    assert_eq!(next, Some(expected));
}

#[test]
fn a_command_whose_reply_is_forgotten_ran_and_a_cancelled_one_never_did() {
    let earlier = std::iter::once(vec![]).chain(hiding().map(|one| vec![one]));
    for earlier in earlier {
        let tries = |code| [earlier.clone(), vec![gone(code, Some(here()))]].concat();
        let next = after(Kind::Command, &tries("reply_forgotten"));
        assert_eq!(next, Next::End(End::Unknown(Cause::ReplyForgotten)));
        assert!(Cause::ReplyForgotten.ran());
        let next = after(Kind::Command, &tries("call_cancelled"));
        assert!(matches!(next, Next::End(End::Refused(_))), "{next:?}");
    }
}

#[test]
fn a_stranger_can_neither_forget_nor_cancel() {
    for code in [
        "call_forgotten",
        "rolled_back",
        "reply_forgotten",
        "call_cancelled",
    ] {
        let head = Head {
            server: None,
            ..saying(410, code, "")
        };
        let evidence = Evidence::Head(head);
        assert!(!evidence.is_rollback());
        let next = after(Kind::Command, &[evidence]);
        assert!(
            matches!(next, Next::End(End::Unknown(Cause::NotOurServer { .. }))),
            "{next:?}"
        );
    }
    assert!(gone("rolled_back", None).is_rollback());
    assert!(!gone("call_forgotten", None).is_rollback());
}
