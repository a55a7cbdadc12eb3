//! The tokens of a directory, as the running server knows them.
//!
//! | module | what |
//! |---|---|
//! | `line` | one line of the file: caller, SHA-256 of the token, when it was made, when it ends |
//! | `edit` | reads the file and puts another one in its place |
//!
//! The server looks at the file at each request and reads it again when it has changed, so a new
//! token and a revoked one need no restart.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use riff_link::{
    Caller, UnixMillis,
    server::{
        Tokens,
        auth::{AuthUnavailable, Authenticate, Credentials},
    },
};

use self::line::{Hash, Line};
use crate::clock;

pub(super) mod edit;
pub(super) mod line;

/// The name of the file in the directory.
pub(super) const NAME: &str = "tokens";

/// The tokens of a directory.
pub(super) struct TokenFile {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    tokens: HashMap<Hash, Held>,
    stamp: Option<Stamp>,
}

/// Who has a token, and until when.
struct Held {
    caller: Caller,
    ends: Option<UnixMillis>,
}

/// What tells one state of the file from another: when it was written, its size, its inode.
type Stamp = (SystemTime, u64, u64);

impl TokenFile {
    /// Reads the file of a directory; a missing one has no tokens.
    pub(super) fn open(dir: &Path) -> Result<Self, String> {
        let path = dir.join(NAME);
        let known = Known::read(&path)?;
        Ok(Self {
            path,
            known: Mutex::new(known),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tokens.is_empty()
    }

    fn caller_at(&self, token: &str, now: UnixMillis) -> Option<Caller> {
        let hash = Hash(Tokens::sha256(token));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.refresh(&self.path);
        let held = known.tokens.get(&hash)?;
        let ended = held.ends.is_some_and(|ends| ends <= now);
        (!ended).then(|| held.caller.clone())
    }
}

impl Authenticate for TokenFile {
    fn caller(&self, who: &Credentials<'_>) -> Result<Option<Caller>, AuthUnavailable> {
        Ok(who
            .token()
            .and_then(|token| self.caller_at(token, clock::now())))
    }
}

impl Known {
    fn read(path: &Path) -> Result<Self, String> {
        // The stamp first: what is added after it is seen by the next look.
        let stamp = stamp(path);
        let held = |line: Line| {
            let Line {
                caller, hash, ends, ..
            } = line;
            (hash, Held { caller, ends })
        };
        let tokens = edit::read(path)?.into_iter().map(held).collect();
        Ok(Self { tokens, stamp })
    }

    fn refresh(&mut self, path: &Path) {
        let stamp = stamp(path);
        if stamp == self.stamp {
            return;
        }
        match Self::read(path) {
            Ok(read) => *self = read,
            // Half an edit takes nobody's token away. It is said once, not at each request.
            Err(why) => {
                tracing::error!("{why}; the tokens stay as they were");
                self.stamp = stamp;
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(tokens: &TokenFile, token: &str) -> Option<Caller> {
        tokens.caller(&Credentials::of_token(token)).unwrap()
    }

    fn add(dir: &Path, caller: &str, token: &str, ends: Option<UnixMillis>) {
        edit::edit(dir, |lines| {
            let made = Some(UnixMillis(1));
            let caller = caller.parse().unwrap();
            let hash = Hash(Tokens::sha256(token));
            lines.push(Line {
                caller,
                hash,
                made,
                ends,
            });
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn a_token_that_is_made_while_the_server_runs_is_known_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = TokenFile::open(dir.path()).unwrap();
        assert!(tokens.is_empty());
        assert_eq!(caller(&tokens, "secret"), None);
        let ann: Caller = "ann".parse().unwrap();
        add(dir.path(), "ann", "secret", None);
        assert_eq!(caller(&tokens, "secret"), Some(ann.clone()));
        add(dir.path(), "ann", "other", None);
        assert_eq!(caller(&tokens, "other"), Some(ann));
        let text = fs::read_to_string(dir.path().join(NAME)).unwrap();
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn a_token_whose_line_is_gone_is_unknown_at_once() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), "ann", "ann", None);
        add(dir.path(), "ben", "ben", None);
        let tokens = TokenFile::open(dir.path()).unwrap();
        assert!(caller(&tokens, "ann").is_some());
        let path = dir.path().join(NAME);
        let text = fs::read_to_string(&path).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        fs::write(&path, rest).unwrap();
        assert_eq!(caller(&tokens, "ann"), None);
        assert!(caller(&tokens, "ben").is_some());
        fs::remove_file(&path).unwrap();
        assert_eq!(caller(&tokens, "ben"), None);
    }

    #[test]
    fn a_token_names_nobody_from_its_end_on() {
        let dir = tempfile::tempdir().unwrap();
        let UnixMillis(now) = clock::now();
        let end = now + 60_000;
        add(dir.path(), "ann", "secret", Some(UnixMillis(end)));
        let tokens = TokenFile::open(dir.path()).unwrap();
        assert!(tokens.caller_at("secret", UnixMillis(end - 1)).is_some());
        assert_eq!(tokens.caller_at("secret", UnixMillis(end)), None);
        add(dir.path(), "ben", "other", Some(UnixMillis(now - 1)));
        assert_eq!(caller(&tokens, "other"), None);
    }

    #[test]
    fn half_an_edit_takes_nobodys_token_away() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), "ann", "secret", None);
        let tokens = TokenFile::open(dir.path()).unwrap();
        fs::write(dir.path().join(NAME), "ann 12").unwrap();
        assert!(caller(&tokens, "secret").is_some());
        assert!(edit::edit(dir.path(), |_| Ok(())).is_err());
    }

    #[test]
    fn a_line_that_is_no_token_is_told_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), "ann", "secret", None);
        let path = dir.path().join(NAME);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("ben 1234\n");
        fs::write(&path, text).unwrap();
        let told = TokenFile::open(dir.path()).err().unwrap();
        assert!(told.contains("tokens:2: a line is"), "{told}");
    }
}
