//! All that is wrong with a log: its files, what its records say, and whether its checkpoints were
//! made of it. Apart from the check of the files, which knows nothing of what is in them.

use std::path::Path;

use link_wire::Position;
use xxhash_rust::xxh3::xxh3_128;

use super::{LogError, read};
use crate::{
    engine::checkpoint::format,
    journal::{
        JournalError,
        file::{self, Outcome, Problem, ProblemKind, Report, check::checkpoint, reader::Reader},
    },
};

/// Reads all of a log and tells what is wrong with it. Needs no lock, and changes nothing.
///
/// It looks at what [`file::check`] looks at; then at each record, up to the first damage; and at
/// the digest that each checkpoint has of the log. Whether the application knows each change, and
/// the state in a checkpoint, only a start of its server shows.
///
/// # Errors
/// [`JournalError::Io`] when the directory cannot be read.
pub fn check(dir: impl AsRef<Path>) -> Result<Report, JournalError> {
    let dir = dir.as_ref();
    let mut report = file::check(dir)?;
    if let Some(problem) = unreadable(dir) {
        report.problems.push(problem);
    }
    let mut newest = true;
    let mut whole = Vec::new();
    for at in std::mem::take(&mut report.checkpoints) {
        let (file, loaded) = checkpoint(dir, at);
        let digest = match loaded {
            Ok(bytes) => format::digest(&bytes, at),
            Err(error) => Err(error.to_string()),
        };
        let (kind, what, outcome) = match digest {
            Ok(digest) if is_of(dir, at, digest) => {
                newest = false;
                whole.push(at);
                continue;
            }
            // A start takes the newest one that can be read, and looks at no other.
            Ok(_) if newest => (
                ProblemKind::OtherCheckpoint,
                other(),
                Outcome::StopsTheStart,
            ),
            Ok(_) => (ProblemKind::OtherCheckpoint, other(), Outcome::PassesItOver),
            Err(what) => (ProblemKind::Checkpoint, what, Outcome::PassesItOver),
        };
        newest &= kind == ProblemKind::Checkpoint;
        report
            .problems
            .push(problem(file, Some(at), kind, what, outcome));
    }
    report.checkpoints = whole;
    Ok(report)
}

fn other() -> String {
    "it was not made of this log: one of the two is of another server".into()
}

/// Whether the log has a chunk that ends there with this digest.
fn is_of(dir: &Path, at: Position, digest: u128) -> bool {
    let Ok(mut reader) = Reader::open_at(dir, at) else {
        return false;
    };
    while let Ok(Some(chunk)) = reader.next() {
        if chunk.end() > at {
            return chunk.end() == at.next() && xxh3_128(chunk.bytes) == digest;
        }
    }
    false
}

/// The first record that is whole and makes no sense. Damage of the files was told before.
fn unreadable(dir: &Path) -> Option<Problem> {
    let error = read(dir).ok()?.find_map(Result::err)?;
    let LogError::Record { position, source } = error else {
        return None;
    };
    let what = format!("the record cannot be read: {source}");
    // Unless a checkpoint is behind it.
    let outcome = Outcome::StopsTheStart;
    let dir = dir.display().to_string();
    Some(problem(
        dir,
        Some(position),
        ProblemKind::Record,
        what,
        outcome,
    ))
}

fn problem(
    file: String,
    position: Option<Position>,
    kind: ProblemKind,
    what: String,
    outcome: Outcome,
) -> Problem {
    Problem {
        file,
        offset: 0,
        position,
        kind,
        what,
        whole_after: 0,
        outcome,
    }
}
