//! Files in which nothing is wrong, and what is read from them.

use std::{fs, path::Path, time::Duration};

use link_spec::{Kind, Limits, Method, Outbox, ReadError, Rule, Segment, Within, parse, read};

const WHOLE: &str = include_str!("good/whole.toml");

#[test]
fn riffs_own_file_is_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../link.toml");
    let spec = read(&path).unwrap_or_else(|error| panic!("{error}"));
    let kinds: Vec<(&str, Kind)> = spec
        .routes
        .iter()
        .map(|route| (route.name.as_str(), route.kind))
        .collect();
    assert_eq!(
        kinds,
        [
            ("who", Kind::Query),
            ("threads", Kind::Query),
            ("history", Kind::Query),
            ("changes", Kind::Query),
            ("post", Kind::Command),
            ("claim", Kind::Command),
            ("release", Kind::Command),
            ("ack", Kind::Command),
            ("alive", Kind::Signal),
            ("tail", Kind::Stream),
            ("watch", Kind::Stream),
        ],
        "in the order of the file"
    );
}

#[test]
fn a_file_with_everything_is_read() {
    let spec = parse(WHOLE, "link.toml").unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(
        (spec.link.name.as_str(), spec.link.line.as_str()),
        ("riff", "1.2")
    );
    assert_eq!(spec.link.rule, Rule::Deliver);
    assert_eq!(
        spec.limits,
        Limits {
            call_keep_most: 512,
            ..Limits::DEFAULT
        }
    );

    let budget = |name: &str| {
        let budget = spec
            .budgets
            .iter()
            .find(|budget| *budget.name == name)
            .unwrap();
        (budget.within, budget.tries)
    };
    assert_eq!(
        budget("short"),
        (Within::Time(Duration::from_secs(60)), None)
    );
    assert_eq!(
        budget("statusline"),
        (Within::Time(Duration::from_secs(2)), Some(1))
    );
    assert_eq!(
        budget("tick"),
        (Within::Period, Some(1)),
        "a period has one try"
    );

    let claim = spec.route("claim").unwrap();
    assert_eq!((claim.kind, claim.method), (Kind::Command, Method::Post));
    assert_eq!(claim.path.text, "/v1/items/{item}/claim");
    let segments: Vec<&str> = claim
        .path
        .segments
        .iter()
        .map(|segment| match segment {
            Segment::Literal(word) => word.as_str(),
            Segment::Param(name) => name.as_str(),
        })
        .collect();
    assert_eq!(segments, ["v1", "items", "item", "claim"]);
    assert_eq!(
        claim.outbox.as_ref().unwrap().value,
        Outbox::Within(Duration::from_secs(600))
    );
    assert_eq!(
        spec.route("post").unwrap().outbox.as_ref().unwrap().value,
        Outbox::No
    );
    assert_eq!(spec.budget_of(claim).unwrap().name.value, "short");
    assert_eq!(claim.since.as_deref(), Some("1.1"));
    assert_eq!(claim.deprecated.as_deref(), Some("use take"));

    let tail = spec.route("tail").unwrap();
    assert_eq!(tail.cursor.as_ref().unwrap().value, "seq");
    assert_eq!(tail.catch_up.as_ref().unwrap().value, "history");
    assert!(spec.budget_of(tail).is_none());
    assert!(spec.route("nobody").is_none());
}

#[test]
fn places_lead_back_to_the_words_of_the_file() {
    let spec = parse(WHOLE, "link.toml").unwrap();
    let claim = spec.route("claim").unwrap();
    let slice = |place| spec.source.slice(place);
    assert_eq!(slice(claim.place), "[routes.claim]");
    assert_eq!(slice(claim.name.place), "claim");
    assert_eq!(slice(claim.path.place), "/v1/items/{item}/claim");
    assert_eq!(slice(claim.path.params().next().unwrap().place), "item");
    assert_eq!(slice(claim.outbox.as_ref().unwrap().place), "\"10m\"");
    let line = spec.line_of(claim);
    assert_eq!(spec.source.line_text(line), "[routes.claim]");
}

#[test]
fn the_toml_of_a_route_is_its_own_lines_with_their_comments() {
    let spec = parse(WHOLE, "link.toml").unwrap();
    assert_eq!(
        spec.toml_of(spec.route("claim").unwrap()),
        "[routes.claim]\nkind = \"command\"\npath = \"POST /v1/items/{item}/claim\"\n\
         budget = \"short\"\nsince = \"1.1\"\ndeprecated = \"use take\"\n\
         outbox = \"10m\"  # stale intent"
    );
}

#[test]
fn a_route_can_be_written_inline_and_with_dots() {
    let text = "routes = { who = { kind = \"query\", path = 'GET /v1/who', budget = \"b\" }, \
                in_short = { kind = \"stream\", path = \"GET /\" } }\n\
                [link]\nname = \"riff\"\nline = \"1.0\"\n[budgets]\nb.within = \"5s\"\n";
    let spec = parse(text, "link.toml").unwrap_or_else(|report| panic!("{report}"));
    let who = spec.route("who").unwrap();
    assert_eq!(
        spec.toml_of(who),
        "who = { kind = \"query\", path = 'GET /v1/who', budget = \"b\" }"
    );
    assert_eq!(spec.source.slice(who.path.place), "/v1/who");
    assert!(spec.route("in_short").unwrap().path.segments.is_empty());
    let dotted = "[link]\nname = \"riff\"\nline = \"1.0\"\n[budgets]\nb = \"5s\"\n[routes]\n\
                  who.kind = \"query\"\nwho.path = \"GET /\\u0076\"\nwho.budget = \"b\" # last\n";
    let spec = parse(dotted, "link.toml").unwrap_or_else(|report| panic!("{report}"));
    let who = spec.route("who").unwrap();
    assert_eq!(who.path.text, "/v");
    assert_eq!(
        spec.source.slice(who.path.place),
        "\"GET /\\u0076\"",
        "an escape hides its parts"
    );
    assert!(spec.toml_of(who).ends_with("who.budget = \"b\" # last"));
}

#[test]
fn a_literal_beside_a_parameter_is_right_when_a_later_literal_tells_them_apart() {
    let text = "[link]\nname = \"riff\"\nline = \"1.0\"\n[budgets]\nb = \"5s\"\n\
                [routes.tail]\nkind = \"stream\"\npath = \"GET /v1/threads/{thread}/tail\"\n\
                [routes.all]\nkind = \"stream\"\npath = \"GET /v1/threads/all/changes\"\n\
                [routes.sweep]\nkind = \"command\"\npath = \"POST /v1/threads/all/sweep\"\n\
                budget = \"b\"\n";
    assert!(
        parse(text, "link.toml").is_ok(),
        "{}",
        parse(text, "link.toml").unwrap_err()
    );
}

#[test]
fn a_path_beside_those_of_the_server_is_right() {
    for path in [
        "GET /{page}",
        "GET /v1/{kind}",
        "GET /v1/{kind}/settle",
        "GET /v1/call",
        "GET /v1/Calls",
        "GET /v2/calls",
        "GET /calls",
        "GET /healthz/{part}",
        "GET /v1/healthz",
        "GET /v1/threads/calls",
    ] {
        let text = format!(
            "link = {{ name = \"riff\", line = \"1.0\" }}\nbudgets = {{ short = \"60s\" }}\n\
             [routes.one]\nkind = \"query\"\npath = \"{path}\"\nbudget = \"short\"\n"
        );
        parse(&text, "link.toml").unwrap_or_else(|report| panic!("{path}: {report}"));
    }
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
    let text = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    let spec = parse(&text, "link.toml").unwrap_or_else(|report| panic!("{report}"));
    let plain = parse(WHOLE, "link.toml").unwrap();
    let lines = |spec: &link_spec::Spec| -> Vec<u32> {
        spec.routes
            .iter()
            .map(|route| spec.line_of(route))
            .collect()
    };
    assert_eq!(lines(&spec), lines(&plain));
    assert_eq!(spec.source.line_text(2), plain.source.line_text(2));
}

#[test]
fn a_file_that_is_not_there_is_no_report() {
    let error = read(Path::new("no/such/link.toml")).unwrap_err();
    assert!(matches!(error, ReadError::Io { .. }));
    assert_eq!(error.to_string(), "cannot read no/such/link.toml");
}

#[test]
fn a_report_names_the_file_as_it_was_given() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bad/kind_is_misspelt.toml");
    let error = read(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}:9:8: error[unknown-kind]", path.display()))
    );
}

#[test]
fn every_right_file_stays_right() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/good");
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if let Err(error) = read(&path) {
            panic!("{error}");
        }
    }
}
