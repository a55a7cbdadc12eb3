//! A proxy in the environment, and tests that need an environment of their own.

use std::{
    env,
    ffi::{OsStr, OsString},
    process::Command,
};

use tokio::net::TcpListener;

use crate::fixture::{PATIENT, api_with, origin, post, soon, who, yes};

/// What is set in the process that a test runs itself in again.
const AGAIN: &str = "CASES_TEST_AGAIN";

/// Runs the test of this name in a process of its own, with these variables and without others.
pub(crate) fn again(name: &str, set: &[(&str, &OsStr)], unset: &[&str]) {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]);
    for variable in unset {
        child.env_remove(variable);
    }
    let output = child
        .envs(set.iter().copied())
        .env(AGAIN, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
}

/// Whether this is the process that [`again`] has made.
pub(crate) fn is_again() -> bool {
    env::var_os(AGAIN).is_some()
}

#[tokio::test]
async fn a_dead_proxy_of_the_environment_is_not_asked_for_a_server_on_loopback() {
    if is_again() {
        let server = origin(yes);
        for base in [
            server.base(),
            format!("http://localhost:{}", server.address().port()),
        ] {
            let api = api_with(&base, PATIENT);
            assert!(soon(who(&api)).await.is_ok());
            assert_eq!(soon(post(&api)).await.unwrap().seq, 7);
            assert_eq!(api.link().stats().tries, 2);
        }
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let dead = OsString::from(dead);
    let set = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ]
    .map(|variable| (variable, dead.as_os_str()));
    let name = "proxy_env::a_dead_proxy_of_the_environment_is_not_asked_for_a_server_on_loopback";
    again(name, &set, &["NO_PROXY", "no_proxy"]);
}
