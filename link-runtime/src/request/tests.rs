//! What a request looks like before it is sent.

use link_wire::{Headers, Limits};

use super::*;
use crate::link;

static SERVICE: Service = Service {
    name: "riff",
    headers: Headers {
        build: "riff-build",
        call: "riff-call",
        caller: "riff-caller",
        attempt: "riff-try",
        sent: "riff-sent",
        repeat: "riff-repeat",
        refused: "riff-refused",
        log: "riff-log",
        ack: "riff-ack",
        budget: "riff-budget",
    },
    build: link_wire::Build {
        line: "1.0",
        version: "0.1.0",
        commit: None,
        time: None,
    },
    limits: Limits::DEFAULT,
    routes: &[],
};

static CLAIM: Route = Route {
    name: "claim",
    kind: Kind::Command,
    method: "POST",
    path: "/v1/items/{item}/claim",
    budget: None,
    outbox: OutboxRule::Keep,
    line: 1,
};

static WHO: Route = Route {
    name: "who",
    kind: Kind::Query,
    method: "GET",
    path: "/v1/who",
    ..CLAIM
};

fn api() -> Api {
    let link = link::of("http://request.example/base/").unwrap();
    Api::new(link, Credentials::bearer("secret"), &SERVICE)
}

fn url(request: &Request) -> String {
    request.outgoing().unwrap().url.into()
}

fn fault(request: &Request) -> String {
    request.outgoing().unwrap_err().to_string()
}

#[test]
fn a_path_value_is_one_segment() {
    for (value, segment) in [
        ("a-b_c.d~1", "a-b_c.d~1"),
        ("a/b", "a%2Fb"),
        ("a b?c#d", "a%20b%3Fc%23d"),
        ("%2e%2e", "%252e%252e"),
        ("...", "..."),
        ("\u{e4}", "%C3%A4"),
        ("{item}", "%7Bitem%7D"),
        ("a\\b", "a%5Cb"),
    ] {
        let request = api().request(&CLAIM).path("item", &value);
        let expected = format!("http://request.example/base/v1/items/{segment}/claim");
        assert_eq!(url(&request), expected);
    }
}

#[test]
fn a_path_that_would_be_another_is_at_fault() {
    for value in ["", ".", ".."] {
        let request = api().request(&CLAIM).path("item", &value);
        assert!(fault(&request).contains("`item`"), "{value}");
    }
    assert!(fault(&api().request(&CLAIM)).contains("`item` is not set"));
    assert!(fault(&api().request(&WHO).path("item", &1)).contains("no parameter `item`"));
}

#[test]
fn a_query_is_urlencoded_and_leaves_out_what_is_none() {
    #[derive(serde::Serialize)]
    struct Who {
        name: Option<&'static str>,
        team: &'static str,
    }
    let who = Who {
        name: None,
        team: "a&b c",
    };
    let request = api()
        .request(&WHO)
        .query(&who)
        .query(&link_wire::After { after: 7 });
    assert_eq!(
        url(&request),
        "http://request.example/base/v1/who?team=a%26b+c&after=7"
    );
    assert!(fault(&api().request(&WHO).query(&7)).contains("the query"));
}

#[test]
fn the_headers_say_build_token_and_what_the_body_is() {
    let request = api().request(&CLAIM).path("item", &1).body(&[1, 2]);
    let outgoing = request.outgoing().unwrap();
    let proof = outgoing.headers.get("authorization");
    assert_eq!(proof, None, "each try takes its own");
    let shown = request.api.credentials.at_once().unwrap().unwrap();
    assert_eq!(shown.header.unwrap(), "Bearer secret");
    let header = |name: &str| {
        outgoing
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap())
    };
    assert_eq!(header("riff-build"), Some("1.0 0.1.0 - -"));
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("accept"), Some("application/json"));
    assert_eq!(outgoing.body.as_deref(), Some(&b"[1,2]"[..]));
    let bare = api().request(&WHO).outgoing().unwrap();
    assert!(!bare.headers.contains_key("content-type") && bare.body.is_none());
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_a_call_that_was_not_sent() {
    let map = std::collections::HashMap::from([((1, 2), 3)]);
    let call = api()
        .request(&CLAIM)
        .path("item", &1)
        .body(&map)
        .command::<()>();
    let error = call.await.unwrap_err().to_string();
    assert!(
        error.starts_with("not sent: the call cannot be made: the body"),
        "{error}"
    );
    let error = api()
        .request(&CLAIM)
        .path("item", &1)
        .call::<()>()
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("`claim` is a command"), "{error}");
}

#[tokio::test]
async fn a_token_that_cannot_be_sent_is_a_call_that_was_not_sent() {
    let api = Api::new(api().link, Credentials::bearer("a\nb"), &SERVICE);
    let error = api
        .request(&WHO)
        .call::<()>()
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("not sent: the call cannot be made: the token"),
        "{error}"
    );
    assert_eq!(api.link().stats().tries, 0);
}

#[test]
fn each_command_has_a_call_id_of_its_own() {
    let request = api().request(&CLAIM).path("item", &1);
    let ids: std::collections::HashSet<_> = (0..1000)
        .map(|_| request.clone().command::<()>().id().clone())
        .collect();
    assert_eq!(ids.len(), 1000);
    assert!(ids.iter().all(|id| id.as_str().len() == 22));
}
