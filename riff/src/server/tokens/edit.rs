//! Reads the file of tokens, and puts another one in its place: whole and durable, or not at all.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown},
    path::Path,
};

use riff_link::UnixMillis;

use super::{NAME, line::Line};
use crate::clock;

/// Held while the file is changed, so that of two edits at once none is lost. The lock of the
/// directory itself is the server's.
const LOCK: &str = "tokens.lock";
/// What becomes the file.
const NEW: &str = "tokens.new";
/// How long a line stays after the end of its token, for whoever asks why it is not taken.
const STAYS_MS: u64 = 24 * 60 * 60 * 1000;

/// The lines of a file; a missing one has none.
pub(in crate::server) fn read(path: &Path) -> Result<Vec<Line>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let line = |(n, line)| {
        Line::parse(line).ok_or_else(|| {
            format!(
                "{}:{}: a line is a caller, a space and 64 hex digits, then made=MS and ends=MS \
                 where they are known, as `riff-server token add NAME` writes it",
                path.display(),
                n + 1
            )
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// Changes the file of a directory. It is on the disk when this returns.
///
/// A server would not take a token from a file that it cannot read, so a file with a bad line is
/// not changed. Nor is it when `change` says no.
pub(in crate::server) fn edit<T>(
    dir: &Path,
    change: impl FnOnce(&mut Vec<Line>) -> Result<T, String>,
) -> Result<T, String> {
    let path = dir.join(NAME);
    let _held = lock(dir).map_err(|error| format!("cannot lock {}: {error}", path.display()))?;
    let mut lines = read(&path)?;
    let done = change(&mut lines)?;
    let UnixMillis(now) = clock::now();
    lines.retain(|line| !line.has_ended(UnixMillis(now.saturating_sub(STAYS_MS))));
    replace(dir, &path, &lines)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(done)
}

/// Gives the lock on the file, once nobody else has it. It goes with the value.
fn lock(dir: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(dir.join(LOCK))?;
    own_as(dir, &dir.join(LOCK), &file)?;
    file.lock()?;
    Ok(file)
}

fn replace(dir: &Path, path: &Path, lines: &[Line]) -> io::Result<()> {
    let new = dir.join(NEW);
    // What a crash left must not decide who can read it.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = || -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        own_as(if path.exists() { path } else { dir }, &new, &file)?;
        let mut text = Vec::new();
        for line in lines {
            writeln!(text, "{line}")?;
        }
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    if let Err(error) = written() {
        // The old file stands; what is left of the new one is of no use.
        let _gone = fs::remove_file(&new);
        return Err(error);
    }
    File::open(dir)?.sync_all()
}

/// Gives a new file the owner of another: when root edits the tokens, the server must still be
/// able to read them.
fn own_as(other: &Path, path: &Path, file: &File) -> io::Result<()> {
    let (other, own) = (fs::metadata(other)?, file.metadata()?);
    if (other.uid(), other.gid()) == (own.uid(), own.gid()) {
        return Ok(());
    }
    match chown(path, Some(other.uid()), Some(other.gid())) {
        // Whoever owns the file but not the group has done what is possible.
        Err(_) if other.uid() == own.uid() => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(caller: &str, ends: Option<UnixMillis>) -> Line {
        Line {
            caller: caller.parse().unwrap(),
            hash: super::super::line::Hash([7; 32]),
            made: None,
            ends,
        }
    }

    #[test]
    fn the_file_is_for_its_owner_alone_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NEW), "left by a crash").unwrap();
        edit(dir.path(), |lines| {
            lines.push(line("ann", None));
            Ok(())
        })
        .unwrap();
        let mode = fs::metadata(dir.path().join(NAME)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!dir.path().join(NEW).exists());
        assert_eq!(read(&dir.path().join(NAME)).unwrap(), [line("ann", None)]);
    }

    #[test]
    fn an_edit_that_is_refused_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let refused = edit(dir.path(), |lines| {
            lines.push(line("ann", None));
            Err::<(), _>("no".into())
        });
        assert_eq!(refused, Err("no".into()));
        assert!(!dir.path().join(NAME).exists());
    }

    #[test]
    fn a_token_that_ended_long_ago_leaves_with_the_next_edit() {
        let dir = tempfile::tempdir().unwrap();
        let UnixMillis(now) = clock::now();
        let kept = [
            line("ben", Some(UnixMillis(now - 1_000))),
            line("cay", None),
        ];
        edit(dir.path(), |lines| {
            lines.push(line("ann", Some(UnixMillis(1))));
            lines.extend(kept.clone());
            Ok(())
        })
        .unwrap();
        assert_eq!(read(&dir.path().join(NAME)).unwrap(), kept);
    }

    #[test]
    fn two_edits_at_once_are_both_kept() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for caller in ["ann", "ben", "cay", "dan"] {
                let dir = dir.path();
                scope.spawn(move || {
                    for _ in 0..5 {
                        edit(dir, |lines| {
                            lines.push(line(caller, None));
                            Ok(())
                        })
                        .unwrap();
                    }
                });
            }
        });
        assert_eq!(read(&dir.path().join(NAME)).unwrap().len(), 20);
    }
}
