//! Commands that owe a reply: a `riff` that is really killed, and a server that really stands still.

use std::process::Stdio;

use serde_json::Value;

use crate::world::{Dir, Server, client, no, ok};

fn list(dir: &Dir) -> Vec<Value> {
    let mut command = client();
    command.env("RIFF_OUTBOX", dir.outbox());
    let lines = ok(command.args(["outbox", "list", "--json"]));
    let lines = lines.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// Those of it that owe a reply.
fn owed(dir: &Dir) -> Vec<Value> {
    let all = list(dir).into_iter();
    all.filter(|one| one["state"].is_string()).collect()
}

/// Leaves a command behind that was sent to a server which stood still, by a `riff` that was killed.
fn leave(dir: &Dir, server: &Server, token: &str, text: &str) -> Value {
    server.signal("-STOP");
    let before = owed(dir).len();
    let mut riff = server
        .riff(token)
        .args(["post", "general", text])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while owed(dir).len() == before {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(owed(dir)[before]["state"], "is being sent");
    riff.kill().unwrap();
    riff.wait().unwrap();
    server.signal("-CONT");
    owed(dir)[before].clone()
}

#[test]
fn a_command_of_a_riff_that_was_killed_is_sent_before_the_next_one_and_runs_once() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    let left = leave(&dir, &server, &ann, "two");
    assert_eq!(left["route"], "post");
    assert_eq!(left["state"], "waits for the next command of its caller");
    let said = ok(server.riff(&ann).args(["post", "general", "three"]));
    assert_eq!(said, "posted as 3 of general\n");
    let history = ok(server.riff(&ann).args(["history", "general"]));
    let said: Vec<&str> = history
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(said, ["one", "two", "three"]);
    let ended = list(&dir);
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(
        (&ended[0]["call"], &ended[0]["how"]),
        (&left["call"], &Value::from("ran"))
    );
}

#[test]
fn what_waits_can_be_sent_by_hand_and_what_is_dropped_is_settled() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    leave(&dir, &server, &ann, "one");
    ok(server.riff(&ann).args(["outbox", "send"]));
    assert_eq!(list(&dir)[0]["how"], "ran");
    let left = leave(&dir, &server, &ann, "two");
    let id = left["call"].as_str().unwrap();
    let told = ok(server.riff(&ann).args(["outbox", "drop", id]));
    // The server may have read it from its socket before it was killed, or not.
    assert!(
        ["it ran\n", "it never ran, and never will\n"].contains(&told.as_str()),
        "{told}"
    );
    let history = ok(server.riff(&ann).args(["history", "general"]));
    assert_eq!(history.contains("two"), told == "it ran\n", "{history}");
    let (code, told) = no(server.riff(&ann).args(["outbox", "drop", id]));
    assert_eq!(code, 2);
    assert!(told.contains("the outbox has no command"), "{told}");
}

#[test]
fn a_token_that_another_has_sends_nothing_of_the_first() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    leave(&dir, &server, &ann, "two");
    ok(server.riff(&ben).args(["post", "general", "three"]));
    assert_eq!(
        list(&dir)[0]["state"],
        "waits for the next command of its caller"
    );
}

#[test]
fn a_new_token_of_the_same_caller_sends_what_the_old_one_left() {
    let dir = Dir::new();
    let old = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&old).args(["post", "general", "one"]));
    leave(&dir, &server, &old, "two");
    ok(crate::world::server()
        .args(["token", "rotate", "ann", "--dir"])
        .arg(dir.path()));
    let new = dir.token("ann");
    // By the first reply it is known that the new token is ann's, and by the second command to all.
    ok(server.riff(&new).args(["who"]));
    ok(server.riff(&new).args(["post", "general", "three"]));
    let history = ok(server.riff(&new).args(["history", "general"]));
    let said: Vec<&str> = history
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(said, ["one", "two", "three"]);
    assert_eq!(owed(&dir), Vec::<Value>::new());
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let dir = Dir::new();
    let file = dir.outbox().join("file");
    std::fs::write(&file, "").unwrap();
    let (code, told) = no(client()
        .env("RIFF_TOKEN", "x")
        .arg("--outbox")
        .arg(file.join("below"))
        .arg("who"));
    assert_eq!(code, 1);
    assert!(
        told.contains("file/below") && told.contains("--outbox"),
        "{told}"
    );
}

#[test]
fn a_riff_that_is_killed_at_any_moment_loses_nothing_and_posts_nothing_twice() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "begin"]));
    let (mut acknowledged, rounds) = (Vec::new(), 40_u64);
    for round in 0..rounds {
        let text = format!("text-{round}");
        let mut riff = server
            .riff(&ann)
            .args(["post", "general", &text])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A `riff` takes some 10 ms: from before its first line to after its last one.
        std::thread::sleep(std::time::Duration::from_micros(round * 500));
        let _ = riff.kill();
        let done = riff.wait_with_output().unwrap();
        if done.stdout.starts_with(b"posted as ") {
            acknowledged.push(text);
        }
    }
    ok(server.riff(&ann).args(["outbox", "send"]));
    assert_eq!(owed(&dir), Vec::<Value>::new());
    let history = ok(server.riff(&ann).args(["history", "general"]));
    for round in 0..rounds {
        let text = format!("text-{round}");
        let times = history
            .lines()
            .filter(|line| line.ends_with(&format!(" {text}")))
            .count();
        assert!(times <= 1, "{text} stands there {times} times");
        assert!(
            times == 1 || !acknowledged.contains(&text),
            "{text} is lost"
        );
    }
    // A file that was never whole is not left behind.
    let files = std::fs::read_dir(dir.outbox()).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    let is_noted = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        name == "settled" || name == "callers" || name.starts_with("log-")
    };
    assert!(files.iter().all(is_noted), "{files:?}");
}

/// One post, and the time for it to be forgotten.
fn forgets(server: &Server, token: &str) {
    ok(server.riff(token).args(["post", "general", "old"]));
    std::thread::sleep(std::time::Duration::from_millis(1500));
    ok(server.riff(token).args(["post", "general", "new"]));
}

#[test]
fn a_server_that_has_forgotten_calls_of_the_caller_still_runs_what_a_killed_riff_left() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start_with(&dir, |command| command.args(["--keep", "1s"]));
    forgets(&server, &ann);
    leave(&dir, &server, &ann, "owed");
    ok(server.riff(&ann).args(["outbox", "send"]));
    let history = ok(server.riff(&ann).args(["history", "general"]));
    assert_eq!(history.matches(" owed").count(), 1, "{history}");
    assert_eq!(owed(&dir), Vec::<Value>::new());
}

#[test]
fn a_query_sends_what_is_owed_too() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    leave(&dir, &server, &ann, "owed");
    ok(server.riff(&ann).args(["who"]));
    assert_eq!(owed(&dir), Vec::<Value>::new());
}

#[test]
fn whoever_cannot_send_or_settle_a_command_is_told_so() {
    let dir = Dir::new();
    let (ann, ben) = (dir.token("ann"), dir.token("ben"));
    let server = Server::start(&dir);
    ok(server.riff(&ann).args(["post", "general", "one"]));
    let left = leave(&dir, &server, &ann, "owed");
    let id = left["call"].as_str().unwrap();
    for token in [ben.as_str(), "nonsense"] {
        let (code, told) = no(server.riff(token).args(["outbox", "send", "--within", "1"]));
        assert_eq!(code, 5, "{told}");
        assert!(told.contains("1 commands still owe a reply"), "{told}");
        let (code, told) = no(server.riff(token).args(["outbox", "drop", id]));
        assert_eq!(code, 1, "{told}");
        assert!(
            told.contains("of another caller or for another server"),
            "{told}"
        );
    }
    let elsewhere = Dir::new();
    let other = Server::start(&elsewhere);
    let token = elsewhere.token("ann");
    let mut drop = other.riff(&token);
    drop.env("RIFF_OUTBOX", dir.outbox());
    let (code, told) = no(drop.args(["outbox", "drop", id]));
    assert_eq!(code, 1, "{told}");
    // A server that is away settles nothing, and the command can be asked about again.
    server.signal("-STOP");
    let mut asks = server
        .riff(&ann)
        .args(["outbox", "drop", id])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    asks.kill().unwrap();
    asks.wait().unwrap();
    server.signal("-CONT");
    assert_eq!(owed(&dir).len(), 1);
    ok(server.riff(&ann).args(["outbox", "drop", id]));
    assert_eq!(owed(&dir), Vec::<Value>::new());
}

#[test]
fn damage_is_told_and_what_is_no_file_hangs_nothing() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let server = Server::start(&dir);
    leave(&dir, &server, &ann, "owed");
    let files = std::fs::read_dir(dir.outbox()).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let path = files.find(|path| path.extension().is_some_and(|end| end == "outbox"));
    let path = path.unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    for name in ["callers", "settled"] {
        let path = dir.outbox().join(name);
        let _ = std::fs::remove_file(&path);
        assert!(
            std::process::Command::new("mkfifo")
                .arg(path)
                .status()
                .unwrap()
                .success()
        );
    }
    let done = server
        .riff(&ann)
        .args(["post", "general", "one"])
        .output()
        .unwrap();
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(
        done.status.success() && told.contains("is set aside"),
        "{told}"
    );
    let listed = client()
        .env("RIFF_OUTBOX", dir.outbox())
        .args(["outbox", "list"])
        .output()
        .unwrap();
    let told = String::from_utf8(listed.stderr).unwrap();
    assert!(
        told.contains(".damaged-") && told.contains("commands in it are not sent"),
        "{told}"
    );
}
