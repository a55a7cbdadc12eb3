//! A disk without room: what was acknowledged stays, what was not did not run, and it goes on.

use std::{
    fs,
    process::{Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::world::{Dir, Server, no, ok, post, server};

/// A server whose lines on stderr meet a full disk, too.
fn without_stderr(dir: &Dir) -> Server {
    let program = server();
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"exec "$0" "$@" 2>/dev/full"#])
        .arg(program.get_program())
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path())
        .stdin(Stdio::null());
    Server::spawn(dir, &mut command)
}

/// Bounds its files: a write beyond that fails, as one on a full disk does.
fn bound(process: &Server, bytes: Option<u64>) {
    let id = i32::try_from(process.id()).unwrap();
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(Pid::from_raw(id), Resource::Fsize, limit).unwrap();
}

#[test]
fn a_server_without_room_refuses_commands_answers_queries_and_goes_on_when_there_is_room() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let mut process = Server::start(&dir);
    let say = |process: &Server, call: &str, text: &str| {
        let body = format!(r#"{{"text":"{text}"}}"#);
        process.raw(&post("/v1/threads/general/messages", &ann, call, &body))
    };
    assert!(say(&process, "first", "one").starts_with("HTTP/1.1 200 OK"));
    let bytes = fs::read(dir.segment()).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    bound(&process, Some(end + 50));

    let refused = say(&process, "second", "two");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains(r#""code":"busy""#), "{refused}");
    process.said("no room");
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 1);
    let repeated = say(&process, "first", "one");
    assert!(repeated.contains("riff-repeat: 1"), "{repeated}");

    // A client waits, and its command runs once there is room.
    let waits = process
        .riff(&ann)
        .args(["post", "general", "three"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    bound(&process, None);
    let waited = waits.wait_with_output().unwrap();
    assert!(waited.status.success());
    assert_eq!(waited.stdout, b"posted as 2 of general\n");
    process.kill();

    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    let said: Vec<&str> = history
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert_eq!(
        said,
        ["one", "three"],
        "the one that was refused is not there"
    );
}

#[test]
fn a_server_whose_lines_nobody_can_read_goes_on_after_a_full_disk_and_ends_in_order() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = without_stderr(&dir);
    let say = |call: &str| {
        let body = r#"{"text":"one"}"#;
        process.raw(&post("/v1/threads/general/messages", &ann, call, body))
    };
    assert!(say("first").starts_with("HTTP/1.1 200 OK"));
    let bytes = fs::read(dir.segment()).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    bound(&process, Some(end + 50));
    let refused = say("second");
    assert!(
        refused.contains("the disk is full: this try did not run"),
        "{refused}"
    );
    bound(&process, None);
    let goes_on = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        say("second").starts_with("HTTP/1.1 200 OK")
    });
    assert!(goes_on);
    let (code, told) = process.stop();
    assert_eq!((code, told.as_str()), (Some(0), ""));
    let names = fs::read_dir(dir.path()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(
        names.any(|name| name.starts_with("checkpoint-")),
        "the last one"
    );
}

#[test]
fn a_command_without_room_leaves_what_was_there() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    process.kill();
    let without_room = |args: &[&str]| {
        let program = server();
        let mut command = Command::new("sh");
        command
            .args(["-c", r#"trap "" XFSZ; ulimit -f 0; exec "$0" "$@""#])
            .arg(program.get_program())
            .args(args)
            .arg("--dir")
            .arg(dir.path());
        no(&mut command)
    };
    let tokens = dir.path().join("tokens");
    let before = fs::read(&tokens).unwrap();
    for args in [&["token", "add", "ben"], &["token", "rotate", "ann"]] {
        let (code, told) = without_room(args);
        assert_eq!(code, 1, "{told}");
        assert!(told.contains(&tokens.display().to_string()), "{told}");
        assert_eq!(fs::read(&tokens).unwrap(), before, "{args:?}");
    }
    let to = copy.path().join("copy");
    let (code, told) = without_room(&["backup", "--to", &to.display().to_string()]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains(&to.display().to_string()), "{told}");
    // What is there of it is no backup.
    let new = Dir::new();
    let (code, told) = no(server()
        .args(["restore", "--from"])
        .arg(&to)
        .arg("--dir")
        .arg(new.path()));
    assert_eq!(code, 1, "{told}");
}
