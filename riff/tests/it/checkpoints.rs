//! Checkpoints: by hand, by a signal, at the end, and a start from one.

use std::fs;

use crate::world::{Dir, Server, no, ok, server};

fn has_checkpoint(dir: &Dir) -> bool {
    let names = fs::read_dir(dir.path()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.any(|name| name.starts_with("checkpoint-"))
}

#[test]
fn a_checkpoint_is_made_without_a_server_and_the_next_start_begins_there() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    process.kill();
    let made = ok(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    let position = made.trim().parse::<u64>().unwrap();
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "two"]));
    let history = ok(process.riff(&ann).args(["history", "general"]));
    assert_eq!(history.lines().count(), 2);
    let (_, told) = process.stop();
    assert!(told.contains(&format!("checkpoint={position}")), "{told}");
}

#[test]
fn a_server_that_runs_makes_a_checkpoint_when_it_is_asked_to() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let mut process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    let (code, told) = no(server().args(["checkpoint", "--dir"]).arg(dir.path()));
    assert_eq!(code, 1);
    assert!(told.contains("SIGUSR1"), "{told}");
    process.signal("-USR1");
    process.said("made a checkpoint");
    assert!(has_checkpoint(&dir));
}

#[test]
fn a_server_that_ends_in_order_leaves_a_checkpoint() {
    let dir = Dir::new();
    let ann = dir.token("ann");
    let process = Server::start(&dir);
    ok(process.riff(&ann).args(["post", "general", "one"]));
    assert!(!has_checkpoint(&dir));
    assert_eq!(process.stop().0, Some(0));
    assert!(has_checkpoint(&dir));
}
