//! Each problem of the files of a log, and what a start does with it: for people, apart from the
//! start, which stops at the first.

use std::path::Path;

use link_wire::Position;

use super::{
    super::{JournalError, frame},
    checkpoint, marks,
    segment::{self, Header, Listed},
};

/// What the files of a log are like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// All that is wrong: the segments in order, the checkpoints from the newest on, the beginning.
    pub problems: Vec<Problem>,
    /// The position of the oldest record; none in a log without a segment.
    pub first: Option<Position>,
    /// The position of the last record of the last segment, as far as it is whole; 0 before the
    /// first. None where that cannot be told.
    pub last: Option<Position>,
    /// How many segments there are.
    pub segments: u64,
    /// The whole chunks, also those behind damage.
    pub chunks: u64,
    /// The records in them.
    pub records: u64,
    /// The bytes of the segments.
    pub bytes: u64,
    /// The checkpoints that are whole, the newest first.
    pub checkpoints: Vec<Position>,
    /// The log came from a backup, and nothing was appended since.
    pub restored: bool,
}

impl Report {
    /// Whether a server starts on these files, as far as the files tell.
    pub fn starts(&self) -> bool {
        let mut problems = self.problems.iter();
        !problems.any(|problem| problem.outcome == Outcome::StopsTheStart)
    }
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file, or the directory.
    pub file: String,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The position of the record that should be there, where that is known.
    pub position: Option<Position>,
    /// What it is.
    pub kind: ProblemKind,
    /// What is wrong, for a person.
    pub what: String,
    /// How many whole chunks of the same segment come after it.
    pub whole_after: u64,
    /// What a start does with it.
    pub outcome: Outcome,
}

/// The kinds of what can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A segment or a checkpoint cannot be read.
    Unreadable,
    /// A file with the name of a segment is none.
    NotOurs,
    /// A segment of a version that this program does not know.
    OtherVersion,
    /// The header of a segment is damaged.
    Header,
    /// A segment is not the one that was made after the one before it.
    OtherLog,
    /// Records between two segments are missing.
    Hole,
    /// The beginning is missing, and no checkpoint stands for it.
    NoBeginning,
    /// A chunk is damaged that was whole once.
    Chunk,
    /// The end is torn, as a crash leaves it. While a server runs, it may be what is written now.
    TornEnd,
    /// The last segment was begun and has no record, as a crash leaves it.
    Begun,
    /// A checkpoint is damaged.
    Checkpoint,
    /// A checkpoint is newer than the log: the log lost its end, or they are of two servers.
    CheckpointAhead,
    /// A checkpoint was not made of this log: they are of two servers.
    OtherCheckpoint,
    /// A record is whole and makes no sense.
    Record,
    /// Copying a log to here did not end.
    Unfinished,
}

/// What a start does with a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It cuts it away, tells it, and goes on: nobody was told of what was there.
    CutsItAway,
    /// It takes an older checkpoint, or the whole log.
    PassesItOver,
    /// It changes nothing and stops.
    StopsTheStart,
}

/// Reads all files of a log and tells what is wrong with them. Needs no lock, and changes nothing.
///
/// What the records and the checkpoints say is not looked at: [`crate::log::check`] does. While a server writes, the chunk that is being written
/// may show as [`ProblemKind::TornEnd`].
///
/// # Errors
/// [`JournalError::Io`] when the directory cannot be read.
pub fn check(dir: impl AsRef<Path>) -> Result<Report, JournalError> {
    let dir = dir.as_ref();
    let mut walk = Walk {
        report: Report {
            restored: marks::is_restored(dir)?,
            ..Report::default()
        },
        next: None,
        salt: None,
    };
    if marks::is_unfinished(dir)? {
        let place = dir.display().to_string();
        let error = JournalError::Unfinished { place };
        walk.stops(dir, None, ProblemKind::Unfinished, error.to_string());
    }
    let segments = segment::list(dir)?;
    walk.report.first = segments.first().map(|first| first.base);
    for (n, listed) in segments.iter().enumerate() {
        walk.segment(listed, n + 1 == segments.len());
    }
    walk.report.last = if segments.is_empty() {
        Some(Position(0))
    } else {
        walk.next.map(|next| Position(next.0.saturating_sub(1)))
    };
    walk.checkpoints(dir)?;
    if let Some(first) = segments.first() {
        walk.beginning(first);
    }
    Ok(walk.report)
}

/// The checkpoint at this position, as it was put, and its file.
pub(crate) fn checkpoint(dir: &Path, at: Position) -> (String, Result<Vec<u8>, JournalError>) {
    let listed = checkpoint::Listed::of(dir, at);
    (listed.path.display().to_string(), listed.load())
}

struct Walk {
    report: Report,
    /// The position and the salt that the next segment must go on from, where they are known.
    next: Option<Position>,
    salt: Option<u32>,
}

impl Walk {
    fn stops(&mut self, path: &Path, position: Option<Position>, kind: ProblemKind, what: String) {
        self.report.problems.push(Problem {
            file: path.display().to_string(),
            offset: 0,
            position,
            kind,
            what,
            whole_after: 0,
            outcome: Outcome::StopsTheStart,
        });
    }

    /// A log that begins later than at 1 needs a checkpoint that stands for the rest.
    fn beginning(&mut self, first: &Listed) {
        let mut whole = self.report.checkpoints.iter();
        if first.base > Position(1) && !whole.any(|at| *at >= first.base) {
            let what = "the segments before it are missing, and no checkpoint stands for them";
            let at = Some(first.base);
            self.stops(&first.path, at, ProblemKind::NoBeginning, what.into());
        }
    }

    fn segment(&mut self, listed: &Listed, last: bool) {
        self.report.segments += 1;
        let at = Some(listed.base);
        if let Some(next) = self.next
            && next != listed.base
        {
            let what = format!(
                "it begins at {}, and the log before it ends before {next}",
                listed.base
            );
            self.stops(&listed.path, at, ProblemKind::Hole, what);
        }
        let first = self.report.segments == 1 && listed.base == Position(1);
        let follows = if first { Some(0) } else { self.salt };
        (self.next, self.salt) = (None, None);
        let loaded = listed.load().and_then(|bytes| {
            let header = Header::read(listed, &bytes)?;
            Ok((bytes, header))
        });
        let (bytes, header) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                let (kind, what) = split(error);
                return self.stops(&listed.path, at, kind, what);
            }
        };
        self.report.bytes += bytes.len() as u64;
        let Some(header) = header else {
            let what = "its header is not whole".into();
            self.stops(&listed.path, at, ProblemKind::Header, what);
            if last && let Some(problem) = self.report.problems.last_mut() {
                (problem.kind, problem.outcome) = (ProblemKind::Begun, Outcome::CutsItAway);
                self.next = at;
            }
            return;
        };
        if follows.is_some_and(|salt| salt != header.follows) {
            let what = "it does not belong to the segment before it: it is of another log".into();
            self.stops(&listed.path, at, ProblemKind::OtherLog, what);
        }
        self.salt = Some(header.salt);
        self.frames(listed, &bytes, header.salt, last);
    }

    /// Reads the frames of a segment, and on behind each damage.
    fn frames(&mut self, listed: &Listed, bytes: &[u8], salt: u32, last: bool) {
        let mut offset = segment::HEADER;
        let mut next = Some(listed.base);
        while offset < bytes.len() {
            let walk = frame::walk(salt, &bytes[offset..]);
            self.report.chunks += walk.frames;
            self.report.records += walk.records;
            next = next.map(|next| Position(next.0 + walk.records));
            let Some(bad) = walk.bad else {
                break;
            };
            let at = offset + walk.end;
            let torn = last && walk.follows.is_none();
            let (kind, outcome) = if torn {
                (ProblemKind::TornEnd, Outcome::CutsItAway)
            } else {
                (ProblemKind::Chunk, Outcome::StopsTheStart)
            };
            let later = walk.follows.map(|later| offset + later);
            self.report.problems.push(Problem {
                file: listed.path.display().to_string(),
                offset: at as u64,
                position: next,
                kind,
                what: bad.as_str().into(),
                whole_after: later.map_or(0, |later| whole(salt, &bytes[later..])),
                outcome,
            });
            if !torn {
                // How many records it had is not known.
                next = None;
            }
            match later {
                Some(later) => offset = later,
                None => break,
            }
        }
        self.next = next;
    }

    fn checkpoints(&mut self, dir: &Path) -> Result<(), JournalError> {
        let no_log = self.report.segments == 0;
        for listed in checkpoint::list(dir)? {
            let ahead = no_log || self.report.last.is_some_and(|last| listed.at > last);
            match listed.load() {
                Err(error) => {
                    let (_, what) = split(error);
                    let at = Some(listed.at);
                    self.stops(&listed.path, at, ProblemKind::Checkpoint, what);
                    if let Some(problem) = self.report.problems.last_mut()
                        && !no_log
                    {
                        problem.outcome = Outcome::PassesItOver;
                    }
                }
                Ok(_) if ahead => {
                    let what = match self.report.last {
                        Some(last) if !no_log => format!(
                            "it is of the record at {}, and the log ends at {last}: the log lost its \
                             end, or they are of two servers",
                            listed.at
                        ),
                        _ => "there is no segment of its log".into(),
                    };
                    let at = Some(listed.at);
                    self.stops(&listed.path, at, ProblemKind::CheckpointAhead, what);
                }
                Ok(_) => self.report.checkpoints.push(listed.at),
            }
        }
        Ok(())
    }
}

/// How many whole frames there are, also behind others.
fn whole(salt: u32, bytes: &[u8]) -> u64 {
    let (mut frames, mut offset) = (0, 0);
    loop {
        let walk = frame::walk(salt, &bytes[offset..]);
        frames += walk.frames;
        match walk.follows {
            Some(later) => offset += later,
            None => return frames,
        }
    }
}

/// The kind of what is wrong, and its text without the place and without what to do.
fn split(error: JournalError) -> (ProblemKind, String) {
    match error {
        JournalError::NotOurs { what, .. } => (ProblemKind::NotOurs, what),
        JournalError::OtherVersion { version, .. } => (
            ProblemKind::OtherVersion,
            format!(
                "it has version {version} of the log format, and this program knows {}",
                super::VERSION
            ),
        ),
        JournalError::Damaged { what, .. } => (ProblemKind::Header, what),
        JournalError::Io { source, .. } => (ProblemKind::Unreadable, source.to_string()),
        error => (ProblemKind::Unreadable, error.to_string()),
    }
}
