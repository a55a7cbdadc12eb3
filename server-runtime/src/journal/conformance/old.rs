//! Cases of what stands for the beginning of a log: checkpoints, and the log that begins later.

use std::ops::ControlFlow;

use super::{
    super::{Journal, JournalError},
    Factory, Log, Position, chunks, must,
};

/// Checkpoints come, are listed, are replaced, are found damaged, and go.
pub fn checkpoints_are_whole_and_newest_first(factory: &mut impl Factory) {
    let mut log = Log::open(factory);
    for _ in 0..12 {
        log.append(1);
    }
    let journal = &log.journal;
    let large = vec![7; 300_000];
    for (at, bytes) in [(3, &b"three"[..]), (12, &large), (9, b""), (3, b"again")] {
        must(
            journal.put_checkpoint(Position(at), bytes),
            "putting a checkpoint",
        );
        let read = must(journal.checkpoint(Position(at)), "reading a checkpoint");
        assert_eq!(read, bytes, "the one at {at}");
    }
    let newest_first = [Position(12), Position(9), Position(3)];
    assert_eq!(must(journal.checkpoints(), "listing"), newest_first);
    let missing = journal.checkpoint(Position(4));
    let told = matches!(missing, Err(JournalError::NoCheckpoint { at: Position(4) }));
    assert!(told, "one that is not there: {missing:?}");
    must(
        journal.remove_checkpoint(Position(4)),
        "removing what is not there",
    );
    must(
        journal.remove_checkpoint(Position(9)),
        "removing a checkpoint",
    );
    if factory.damage_checkpoint(journal, Position(12)) {
        let damaged = journal.checkpoint(Position(12));
        let told = matches!(damaged, Err(JournalError::Damaged { .. }));
        assert!(
            told,
            "a damaged one: {:?}",
            damaged.map(|bytes| bytes.len())
        );
    }
    let all = chunks(journal, 0);
    drop(log);
    let log = Log::open(factory);
    let listed = must(log.journal.checkpoints(), "listing");
    assert_eq!(listed, [Position(12), Position(3)], "opened again");
    let read = must(log.journal.checkpoint(Position(3)), "reading a checkpoint");
    assert_eq!(read, b"again", "opened again");
    assert_eq!(chunks(&log.journal, 0), all, "the log is as it was");
}

/// The beginning of a log goes, as far as a checkpoint stands for it.
pub fn a_truncated_log_begins_later(factory: &mut impl Factory) {
    let mut log = Log::open(factory);
    let mut all: Vec<_> = (0..30).map(|n| log.append(1 + n % 2)).collect();
    let journal = &log.journal;
    let early = journal.truncate_before(Position(20));
    let refused = matches!(early, Err(JournalError::NoCheckpoint { .. }));
    assert!(refused, "no checkpoint stands for it: {early:?}");
    must(
        journal.put_checkpoint(Position(25), b"sum"),
        "putting a checkpoint",
    );
    let mut first = 1;
    for at in [1, 8, 20, 20, 3, 25] {
        must(journal.truncate_before(Position(at)), "truncating");
        let now = journal.first().0;
        assert!(
            now >= first && now <= at.max(first),
            "from {first} to {now}, at {at}"
        );
        first = now;
        check(journal, &all, first);
    }
    let past = journal.truncate_before(Position(26));
    let refused = matches!(past, Err(JournalError::NoCheckpoint { .. }));
    assert!(refused, "no checkpoint stands for that much: {past:?}");
    all.push(log.append(1));
    check(&log.journal, &all, first);
    drop(log);
    let mut log = Log::open(factory);
    assert_eq!(log.journal.first(), Position(first), "opened again");
    assert_eq!(log.writer.tail, Position(46), "opened again");
    all.push(log.append(2));
    check(&log.journal, &all, first);
}

/// The chunks from `first` on are there, and no other.
fn check(journal: &impl Journal, all: &[(u64, u32, Vec<u8>)], first: u64) {
    let left: Vec<_> = all
        .iter()
        .filter(|chunk| chunk.0 >= first)
        .cloned()
        .collect();
    assert_eq!(left[0].0, first, "a chunk begins at the first position");
    assert_eq!(chunks(journal, first), left, "the log from {first}");
    if first == 1 {
        return;
    }
    for from in [0, 1, first - 1] {
        let read = journal.read(Position(from), &mut |_| ControlFlow::Continue(()));
        let told = matches!(read, Err(JournalError::Pruned { first: at }) if at.0 == first);
        assert!(told, "reading from {from}: {read:?}");
    }
}
