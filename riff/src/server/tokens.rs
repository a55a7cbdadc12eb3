//! The file of tokens: one line a token, the caller and the token's SHA-256 in hex.
//!
//! The server looks at the file at each request and reads it again when it has changed, so a new
//! token and a revoked one need no restart.

use std::{
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use riff_link::{
    Caller,
    server::{Authenticate, Tokens},
};

const NAME: &str = "tokens";

/// Adds a token. It is on the disk when this returns.
pub(super) fn add(dir: &Path, caller: &Caller, token: &str) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|error| format!("cannot make {}: {error}", dir.display()))?;
    let path = dir.join(NAME);
    // A server would not take a token from a file that it cannot read.
    Known::read(&path)?;
    let mut hex = String::new();
    for byte in Tokens::sha256(token) {
        // Writing to a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    let append = || -> io::Result<()> {
        // One write of a whole line, so that two of them at once do not mix.
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(format!("{caller} {hex}\n").as_bytes())?;
        file.sync_all()?;
        // The name of a new file is durable only with its folder.
        fs::File::open(dir)?.sync_all()
    };
    append().map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The tokens of a directory.
pub(super) struct TokenFile {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    tokens: Tokens,
    count: usize,
    stamp: Option<Stamp>,
}

/// What tells one state of the file from another.
type Stamp = (SystemTime, u64);

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
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .count
            == 0
    }
}

impl Authenticate for TokenFile {
    fn caller(&self, token: &str) -> Option<Caller> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.path);
        if stamp != known.stamp {
            match Known::read(&self.path) {
                Ok(read) => *known = read,
                // Half an edit takes nobody's token away. It is said once, not at each request.
                Err(why) => {
                    tracing::error!("{why}; the tokens stay as they were");
                    known.stamp = stamp;
                }
            }
        }
        known.tokens.caller(token)
    }
}

impl Known {
    fn read(path: &Path) -> Result<Self, String> {
        // The stamp first: what is added after it is seen by the next look.
        let stamp = stamp(path);
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        let mut known = Self {
            tokens: Tokens::new(),
            count: 0,
            stamp,
        };
        for (n, line) in text.lines().enumerate() {
            let (caller, sha256) = parse(line).ok_or_else(|| {
                format!(
                    "{}:{}: a line is a caller, a space and 64 hex digits, as \
                     `riff-server token NAME` writes it",
                    path.display(),
                    n + 1
                )
            })?;
            known.tokens = known.tokens.with_sha256(caller, sha256);
            known.count += 1;
        }
        Ok(known)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

fn parse(line: &str) -> Option<(Caller, [u8; 32])> {
    let (caller, hex) = line.split_once(' ')?;
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut sha256 = [0; 32];
    for (n, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).ok()?;
    }
    Some((caller.parse().ok()?, sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_made_while_the_server_runs_is_known_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let tokens = TokenFile::open(dir.path()).unwrap();
        assert!(tokens.is_empty());
        assert_eq!(tokens.caller("secret"), None);
        let ann: Caller = "ann".parse().unwrap();
        add(dir.path(), &ann, "secret").unwrap();
        assert_eq!(tokens.caller("secret"), Some(ann.clone()));
        add(dir.path(), &ann, "other").unwrap();
        assert_eq!(tokens.caller("other"), Some(ann));
        let text = fs::read_to_string(dir.path().join(NAME)).unwrap();
        assert!(!text.contains("secret"), "{text}");
    }

    #[test]
    fn a_token_whose_line_is_gone_is_unknown_at_once() {
        let dir = tempfile::tempdir().unwrap();
        for caller in ["ann", "ben"] {
            add(dir.path(), &caller.parse().unwrap(), caller).unwrap();
        }
        let tokens = TokenFile::open(dir.path()).unwrap();
        assert!(tokens.caller("ann").is_some());
        let path = dir.path().join(NAME);
        let text = fs::read_to_string(&path).unwrap();
        let (_, rest) = text.split_once('\n').unwrap();
        fs::write(&path, rest).unwrap();
        assert_eq!(tokens.caller("ann"), None);
        assert!(tokens.caller("ben").is_some());
        fs::remove_file(&path).unwrap();
        assert_eq!(tokens.caller("ben"), None);
    }

    #[test]
    fn half_an_edit_takes_nobodys_token_away() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), &"ann".parse().unwrap(), "secret").unwrap();
        let tokens = TokenFile::open(dir.path()).unwrap();
        fs::write(dir.path().join(NAME), "ann 12").unwrap();
        assert!(tokens.caller("secret").is_some());
        assert!(add(dir.path(), &"ben".parse().unwrap(), "other").is_err());
    }

    #[test]
    fn a_line_that_is_no_token_is_told_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), &"ann".parse().unwrap(), "secret").unwrap();
        let path = dir.path().join(NAME);
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("ben 1234\n");
        fs::write(&path, text).unwrap();
        let told = TokenFile::open(dir.path()).err().unwrap();
        assert!(told.contains("tokens:2: a line is"), "{told}");
    }
}
