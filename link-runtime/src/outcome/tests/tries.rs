//! What follows from several tries of one call.

use link_wire::{Attempts, Limits};

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
