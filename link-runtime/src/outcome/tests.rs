//! The tables of the rule.

use super::*;

const JUDGE: Judge = Judge {
    service: "riff",
    ours: Build {
        line: "1.0",
        version: "0.1.0",
        commit: None,
        time: None,
    },
};
const PLENTY: Duration = Duration::from_secs(60);
const KINDS: [Kind; 3] = [Kind::Query, Kind::Signal, Kind::Command];

fn foreign(status: u16) -> Head {
    Head {
        status,
        ..Head::default()
    }
}

fn ours_on(line: &str, status: u16) -> Head {
    Head {
        server: ServerBuild::read(line, &JUDGE.ours),
        ..foreign(status)
    }
}

fn ours(status: u16) -> Head {
    ours_on("1.0 0.1.0 - -", status)
}

fn saying(status: u16, code: &str, detail: &str) -> Head {
    let problem = Problem {
        kind: String::new(),
        title: String::new(),
        status,
        detail: detail.into(),
        code: code.into(),
    };
    Head {
        problem: Some(problem),
        ..ours(status)
    }
}

fn refusing(status: u16, code: &str) -> Head {
    Head {
        refused: Some(code.into()),
        ..saying(status, code, "")
    }
}

fn silent() -> Evidence {
    Evidence::Fault {
        cause: Cause::Silent {
            after: Duration::from_secs(20),
        },
    }
}

fn never(nobody: bool) -> Evidence {
    Evidence::NeverSent {
        cause: Cause::Connect {
            why: "refused".into(),
        },
        nobody,
    }
}

fn class(head: &Head, kind: Kind) -> Class {
    JUDGE.class(&Evidence::Head(head.clone()), kind)
}

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
fn a_yes_of_a_build_that_fits_is_a_reply() {
    for kind in KINDS {
        for status in [200, 201, 204, 299] {
            assert_eq!(class(&ours(status), kind), Class::Reply);
            assert_eq!(class(&ours_on("1.1", status), kind), Class::Reply);
        }
    }
}

#[test]
fn a_yes_of_another_build_is_a_reply_to_a_command_only() {
    let head = ours_on("2.0", 200);
    assert_eq!(class(&head, Kind::Command), Class::Reply);
    for kind in [Kind::Query, Kind::Signal, Kind::Stream] {
        let Class::No(refused) = class(&head, kind) else {
            panic!("{kind}")
        };
        assert_eq!(refused.code, "other_build");
        assert!(
            refused.detail.contains("speaks line 1.0, the server 2.0"),
            "{refused}"
        );
    }
}

#[test]
fn without_the_build_header_four_statuses_are_a_front_end_and_the_rest_is_foreign() {
    for kind in KINDS {
        for status in [429, 502, 503, 504] {
            let Class::Again { cause, arrived, .. } = class(&foreign(status), kind) else {
                panic!("{status}");
            };
            assert_eq!(
                (cause, arrived),
                (
                    Cause::FrontEnd {
                        status,
                        retry_after: None
                    },
                    true
                )
            );
        }
        for status in [200, 204, 302, 400, 401, 404, 412, 500, 501, 505] {
            let cause = Cause::NotOurServer {
                service: "riff",
                status,
            };
            assert_eq!(class(&foreign(status), kind), Class::Foreign { cause });
        }
        // A stranger's refused header is a stranger's word.
        let head = Head {
            refused: Some("held".into()),
            ..foreign(409)
        };
        assert!(matches!(class(&head, kind), Class::Foreign { .. }));
    }
}

#[test]
fn a_build_header_that_is_no_build_is_none() {
    assert_eq!(ServerBuild::read("nginx", &JUDGE.ours), None);
    assert_eq!(ServerBuild::read("", &JUDGE.ours), None);
}

#[test]
fn a_busy_server_is_asked_again_whatever_its_build() {
    for kind in KINDS {
        for status in [429, 503] {
            for head in [ours(status), ours_on("2.0", status)] {
                let Class::Again {
                    cause,
                    arrived: true,
                    ..
                } = class(&head, kind)
                else {
                    panic!("{status}");
                };
                assert!(matches!(cause, Cause::Busy { .. }));
            }
        }
    }
    let head = saying(503, "unavailable", "starting");
    let Class::Again { cause, .. } = class(&head, Kind::Query) else {
        panic!()
    };
    assert_eq!(cause.to_string(), "the server is busy: starting");
}

#[test]
fn any_other_status_of_our_server_is_a_no() {
    for kind in KINDS {
        for status in [301, 302, 400, 401, 404, 405, 410, 413, 422, 500, 502, 504] {
            let no = Refused {
                status,
                code: "x".into(),
                detail: "why".into(),
            };
            assert_eq!(class(&saying(status, "x", "why"), kind), Class::No(no));
        }
        let bare = Refused {
            status: 404,
            code: String::new(),
            detail: String::new(),
        };
        assert_eq!(class(&ours(404), kind), Class::No(bare));
    }
}

#[test]
fn the_refused_header_makes_the_no_to_a_command_a_refusal() {
    for status in [403, 404, 409, 410, 422, 429, 503] {
        let head = refusing(status, "held");
        let refused = Refused {
            status,
            code: "held".into(),
            detail: String::new(),
        };
        assert_eq!(class(&head, Kind::Command), Class::Refused(refused));
    }
    let other_line = Head {
        server: ours_on("2.0", 409).server,
        ..refusing(409, "held")
    };
    assert!(matches!(
        class(&other_line, Kind::Command),
        Class::Refused(_)
    ));
}

#[test]
fn only_a_try_without_a_reply_swaps_the_client() {
    let brief = Evidence::Brief {
        cause: Cause::NoProgress,
        arrived: true,
    };
    for (evidence, swaps) in [
        (silent(), true),
        (never(false), true),
        (brief, false),
        (Evidence::Head(foreign(502)), false),
        (Evidence::Head(foreign(429)), false),
        (Evidence::Head(ours(503)), false),
        (Evidence::Head(ours(429)), false),
        (Evidence::Head(ours(200)), false),
        (Evidence::Head(foreign(200)), false),
    ] {
        assert_eq!(evidence.swaps(), swaps, "{evidence:?}");
    }
}

#[test]
fn the_state_follows_what_was_seen() {
    let standing = |head: Head| JUDGE.standing(&Evidence::Head(head));
    for head in [ours(200), ours(404), ours(409), ours(500)] {
        assert_eq!(standing(head), Standing::Up);
    }
    for head in [ours(429), ours(503), saying(503, "busy", "")] {
        assert_eq!(standing(head), Standing::Same);
    }
    for head in [
        saying(503, "unavailable", ""),
        foreign(502),
        foreign(200),
        foreign(404),
    ] {
        assert!(
            matches!(standing(head.clone()), Standing::Down(_)),
            "{head:?}"
        );
    }
    for head in [
        ours_on("2.0", 200),
        ours_on("0.9", 404),
        saying(412, "other_build", "old"),
    ] {
        assert!(
            matches!(standing(head.clone()), Standing::Refused(_)),
            "{head:?}"
        );
    }
    let unknown = saying(401, "unauthenticated", "no such token");
    assert_eq!(
        standing(unknown),
        Standing::Refused("no such token (unauthenticated)".into())
    );
    assert!(matches!(JUDGE.standing(&silent()), Standing::Down(_)));
    assert!(matches!(JUDGE.standing(&never(false)), Standing::Down(_)));
    assert_eq!(JUDGE.standing(&never(true)), Standing::Same);
}

#[test]
fn a_misfit_says_which_side_is_old() {
    let text = |line: &str| {
        ServerBuild::read(line, &JUDGE.ours)
            .unwrap()
            .misfit(&JUDGE.ours)
    };
    assert!(text("1.2").ends_with("this program must be replaced by a newer one"));
    assert!(text("0.9").ends_with("the server must be replaced by a newer one"));
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
fn a_servers_wait_replaces_a_shorter_one_and_ends_a_call_that_cannot_wait_so_long() {
    let asking = |seconds: u64| {
        let retry_after = Some(Duration::from_secs(seconds));
        Evidence::Head(Head {
            retry_after,
            ..ours(503)
        })
    };
    let next = |evidence: &Evidence| after(Kind::Query, std::slice::from_ref(evidence));
    assert_eq!(next(&asking(7)), Next::Again(Duration::from_secs(7)));
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
