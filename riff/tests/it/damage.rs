//! `riff-server log check`: each damage is found, and a start does what it says.

use std::{fs, process::Command};

use serde_json::Value;

use crate::world::{Dir, Server, no, ok, server, text};

fn check(dir: &Dir) -> Command {
    let mut command = server();
    command.args(["log", "check", "--dir"]).arg(dir.path());
    command
}

/// What it finds, which must be something.
fn found(dir: &Dir) -> Vec<Value> {
    let output = check(dir).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(100), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A directory with two messages, and where its log ends.
fn two_messages() -> (Dir, String, usize) {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    ok(process.riff(&ann).args(["post", "general", "two"]));
    process.kill();
    let bytes = fs::read(dir.segment()).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    (dir, ann, end)
}

#[test]
fn a_whole_log_is_clean_with_and_without_a_server() {
    let (dir, ann, _) = two_messages();
    let output = check(&dir).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "");
    let told = text(&output.stderr);
    assert!(told.contains("nothing is wrong"), "{told}");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "three"]));
    ok(&mut check(&dir));
    assert_eq!(process.stop().0, Some(0));
    ok(&mut check(&dir));
}

#[test]
fn a_torn_end_is_found_and_a_start_cuts_it_away() {
    let (dir, ann, end) = two_messages();
    let bytes = fs::read(dir.segment()).unwrap();
    fs::write(dir.segment(), &bytes[..end - 5]).unwrap();
    let found = found(&dir);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "torn_end");
    assert_eq!(found[0]["a_start"], "cuts it away and goes on");
    assert_eq!(
        fs::read(dir.segment()).unwrap().len(),
        end - 5,
        "it changes nothing"
    );
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 1);
    let (_, told) = process.stop();
    assert!(
        told.contains("a torn end of the log was cut away"),
        "{told}"
    );
    ok(&mut check(&dir));
}

#[test]
fn a_flipped_bit_is_found_with_its_place_and_a_start_stops() {
    let (dir, _, _) = two_messages();
    let whole = fs::read(dir.segment()).unwrap();
    let mut bytes = whole.clone();
    bytes[60] ^= 1;
    fs::write(dir.segment(), &bytes).unwrap();
    let found = found(&dir);
    assert_eq!(found.len(), 1, "{found:?}");
    let finding = &found[0];
    assert_eq!(finding["kind"], "chunk");
    assert_eq!(finding["file"], dir.segment().display().to_string());
    assert_eq!(
        (&finding["offset"], &finding["position"]),
        (&32.into(), &1.into())
    );
    assert!(finding["whole_chunks_after"].as_u64().unwrap() >= 1);
    assert_eq!(finding["a_start"], "changes nothing and stops");
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(told.contains("is damaged at"), "{told}");
    assert_eq!(fs::read(dir.segment()).unwrap(), bytes);
}

#[test]
fn a_log_of_another_program_is_found() {
    let dir = Dir::new();
    fs::write(
        dir.segment(),
        "2026-12-01 GET /index.html 200, line by line",
    )
    .unwrap();
    let found = found(&dir);
    assert_eq!(found[0]["kind"], "not_ours");
}

#[test]
fn a_checkpoint_that_is_damaged_is_found_and_a_start_passes_it_over() {
    let (dir, ann, _) = two_messages();
    let at = ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    let names = fs::read_dir(dir.path()).unwrap();
    let mut paths = names.map(|entry| entry.unwrap().path());
    let path = paths
        .find(|path| path.display().to_string().contains("checkpoint-"))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let found = found(&dir);
    assert_eq!(found.len(), 1, "{at}{found:?}");
    assert_eq!(found[0]["kind"], "checkpoint");
    assert_eq!(found[0]["a_start"], "passes it over");
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 2);
}

#[test]
fn a_directory_in_the_place_of_a_checkpoint_is_found_and_a_start_passes_it_over() {
    let (dir, ann, _) = two_messages();
    ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    let names = fs::read_dir(dir.path()).unwrap();
    let mut paths = names.map(|entry| entry.unwrap().path());
    let path = paths
        .find(|path| path.display().to_string().contains("checkpoint-"))
        .unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(found(&dir)[0]["a_start"], "passes it over");
    let process = Server::start(&dir);
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 2);
}

#[test]
fn a_checkpoint_without_its_log_is_found_and_a_start_stops() {
    let (dir, _, _) = two_messages();
    ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    fs::remove_file(dir.segment()).unwrap();
    assert_eq!(found(&dir)[0]["kind"], "checkpoint_ahead");
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1);
    assert!(told.contains("checkpoint"), "{told}");
}

#[test]
fn a_start_that_a_newer_checkpoint_stops_cuts_no_torn_end() {
    let (dir, _, _) = two_messages();
    ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    let whole = fs::read(dir.segment()).unwrap();
    let end = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    for keep in [end - 5, end / 2, 40, 31, 0] {
        fs::write(dir.segment(), &whole[..keep]).unwrap();
        let ahead = found(&dir);
        let ahead = ahead.iter().find(|one| one["kind"] == "checkpoint_ahead");
        assert_eq!(ahead.unwrap()["a_start"], "changes nothing and stops");
        let (code, told) = no(server()
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(dir.path()));
        assert_eq!(code, 1);
        assert!(told.contains("newer than the log"), "{told}");
        let after = fs::read(dir.segment()).unwrap();
        assert_eq!(after, &whole[..keep], "nothing was changed");
    }
}

#[test]
fn a_log_of_another_server_under_a_checkpoint_is_found_and_gives_no_backup() {
    let (dir, ann, _) = two_messages();
    ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    let (other, _, _) = two_messages();
    let process = Server::start(&other);
    let token = other.token("ann");
    ok(process.riff(&token).args(["post", "general", "three"]));
    process.kill();
    fs::copy(other.segment(), dir.segment()).unwrap();
    let found = found(&dir);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "other_checkpoint");
    assert_eq!(found[0]["a_start"], "changes nothing and stops");
    let (code, told) = no(server()
        .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
        .arg(dir.path()));
    assert_eq!(code, 1, "{ann}");
    assert!(told.contains("was not made of this log"), "{told}");
    let to = Dir::new();
    let copy = to.path().join("copy");
    let backup = |command: &mut Command| no(command.args(["--to"]).arg(&copy));
    let (code, told) = backup(server().args(["backup", "--dir"]).arg(dir.path()));
    assert_eq!(code, 1);
    assert!(told.contains("no server starts"), "{told}");
    let (code, told) = no(server()
        .args(["restore", "--from"])
        .arg(dir.path())
        .arg("--dir")
        .arg(to.path().join("new")));
    assert_eq!(code, 1);
    assert!(told.contains("no server starts"), "{told}");
}
