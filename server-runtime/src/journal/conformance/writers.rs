//! Cases of the right to write: a later writer, an outcome that is not known, no room.

use super::{
    super::{AppendError, Chunk, Journal, JournalError, Resolved},
    Factory, Log, Position, chunks, must,
};

/// Of two writers only the later one writes.
pub fn a_stale_writer_appends_nothing(factory: &mut impl Factory) {
    let mut stale = Log::open(factory);
    let mut all = vec![stale.append(1)];
    // A second opening, where there can be one, and else a second right of the first.
    let second = match factory.open() {
        Ok(journal) => {
            let writer = must(journal.acquire(), "the right of a second opening");
            Some(Log { journal, writer })
        }
        Err(JournalError::Locked { .. }) => None,
        Err(error) => panic!("a second opening: {error:?}"),
    };
    let same = second.is_none();
    let writer = match &second {
        Some(second) => second.writer,
        None => must(stale.journal.acquire(), "a second right to write"),
    };
    assert!(
        writer.epoch > stale.epoch(),
        "an epoch is above those before"
    );
    assert_eq!(writer.tail, Position(1), "the new writer knows the end");
    for records in 1..3 {
        let given = stale.epoch();
        match stale.try_append(2, records, b"no\nno\n") {
            Err(AppendError::Fenced { given: told, now }) => {
                assert_eq!((told, now), (given, writer.epoch));
            }
            other => panic!("an append of a stale writer: {other:?}"),
        }
    }
    let renewed = stale.journal.renew(&stale.writer);
    let fenced = matches!(renewed, Err(AppendError::Fenced { .. }));
    assert!(fenced, "a stale writer cannot renew: {renewed:?}");
    let chunk = Chunk {
        first: Position(2),
        records: 1,
        bytes: b"no\n",
    };
    let resolved = stale.journal.resolve(stale.epoch(), chunk);
    let fenced = matches!(resolved, Err(AppendError::Fenced { .. }));
    assert!(fenced, "a stale writer learns nothing: {resolved:?}");
    let mut log = match second {
        Some(second) => second,
        None => Log {
            journal: stale.journal,
            writer,
        },
    };
    must(log.journal.renew(&log.writer), "the new writer renews");
    all.push(log.append(1));
    assert_eq!(chunks(&log.journal, 0), all, "same opening: {same}");
}

/// An append whose outcome is not known: asking tells, and nothing comes twice.
pub fn an_unknown_append_is_resolved(factory: &mut impl Factory, appended: bool) {
    let mut log = Log::open(factory);
    let mut all = vec![log.append(1)];
    if !factory.set_unknown(&log.journal, appended) {
        return;
    }
    let (first, records, bytes) = (2, 2, b"record 2\nrecord 3\n".to_vec());
    match log.try_append(first, records, &bytes) {
        Err(AppendError::Unknown { .. }) => {}
        other => panic!("an append that was to be unknown: {other:?}"),
    }
    let chunk = Chunk {
        first: Position(first),
        records,
        bytes: &bytes,
    };
    let resolved = must(log.journal.resolve(log.epoch(), chunk), "resolving");
    let again = must(log.journal.resolve(log.epoch(), chunk), "resolving again");
    assert_eq!(again, resolved, "the answer stays");
    if appended {
        assert_eq!(resolved, Resolved::Appended);
        let twice = log.try_append(first, records, &bytes);
        let refused = matches!(twice, Err(AppendError::WrongPosition { .. }));
        assert!(refused, "it cannot be appended twice: {twice:?}");
    } else {
        assert_eq!(resolved, Resolved::Absent);
        let again = log.try_append(first, records, &bytes);
        must(again, "appending again what is not there");
    }
    log.writer.tail = Position(3);
    all.push((first, records, bytes));
    all.push(log.append(1));
    assert_eq!(chunks(&log.journal, 0), all);
    drop(log);
    assert_eq!(chunks(&Log::open(factory).journal, 0), all, "opened again");
}

/// No room: nothing was appended, and it goes on with other chunks when there is some.
pub fn a_full_journal_goes_on_when_there_is_room(factory: &mut impl Factory) {
    let mut log = Log::open(factory);
    let mut all = Vec::new();
    for round in 1..4 {
        all.push(log.append(round));
        if !factory.set_full(&log.journal, true) {
            return;
        }
        let first = log.writer.tail.0 + 1;
        // Larger than what may be left of space that was had before.
        let large = vec![b'x'; 100_000];
        for _ in 0..2 {
            match log.try_append(first, 1, &large) {
                Err(AppendError::Full { .. }) => {}
                other => panic!("an append without room: {other:?}"),
            }
            assert_eq!(chunks(&log.journal, 0), all, "nothing of it is there");
        }
        let cleared = factory.set_full(&log.journal, false);
        assert!(cleared, "the factory gives room back");
        all.push(log.append(1));
        assert_eq!(chunks(&log.journal, 0), all, "it goes on");
    }
    drop(log);
    assert_eq!(chunks(&Log::open(factory).journal, 0), all, "opened again");
}
