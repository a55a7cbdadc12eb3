//! The tables of classes and of the state.

use link_wire::Problem;

use super::*;

mod tries;

const JUDGE: Judge = Judge {
    service: "riff",
    ours: Build {
        line: "1.0",
        version: "0.1.0",
        commit: None,
        time: None,
    },
};
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
fn any_other_status_of_our_server_is_a_no_if_it_says_why() {
    for kind in KINDS {
        for status in [301, 302, 400, 401, 404, 405, 410, 413, 422, 500, 502, 504] {
            let no = Refused {
                status,
                code: "x".into(),
                detail: "why".into(),
            };
            assert_eq!(class(&saying(status, "x", "why"), kind), Class::No(no));
        }
        assert!(matches!(class(&ours(404), kind), Class::Foreign { .. }));
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
        cause: Cause::Budget {
            within: Duration::from_secs(1),
        },
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
    for head in [
        ours(200),
        saying(404, "no_route", ""),
        saying(500, "failed", ""),
    ] {
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
        ours(500),
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
