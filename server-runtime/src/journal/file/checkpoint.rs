//! Checkpoints as files: put as a whole or not at all, and never taken for whole when they are not.
//!
//! ```text
//! DIR/checkpoint-00000000000000000007        up to the record at 7
//! DIR/checkpoint-00000000000000000007.tmp    one that is being written
//!
//! 0          8         10     12       16         24       32
//! | RIFFCKPT | version | zero | crc32c | position | length | payload: `length` bytes
//!   8 bytes    u16       u16    u32      u64        u64
//! ```
//!
//! All numbers are little endian. The checksum is over all of the file but itself.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use link_wire::Position;

use super::{JournalError, VERSION, disk::Disk, failed, recover};

const MAGIC: [u8; 8] = *b"RIFFCKPT";
/// The bytes before the payload.
const HEADER: usize = 32;
const PREFIX: &str = "checkpoint-";
/// The end of the name of one that is being written.
const BEGUN: &str = ".tmp";

/// A file with the name of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) at: Position,
    pub(super) path: PathBuf,
}

impl Listed {
    /// The file of the checkpoint at this position.
    pub(super) fn of(dir: &Path, at: Position) -> Self {
        let path = dir.join(format!("{PREFIX}{:020}", at.0));
        Self { at, path }
    }

    /// What was put.
    pub(super) fn load(&self) -> Result<Vec<u8>, JournalError> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(JournalError::NoCheckpoint { at: self.at });
            }
            Err(source) => return Err(failed("reading", &self.path, source)),
        };
        let read = |source| failed("reading", &self.path, source);
        let len = file.metadata().map_err(read)?.len();
        let mut begin = Vec::new();
        let first = Read::by_ref(&mut file).take(HEADER as u64);
        { first }.read_to_end(&mut begin).map_err(read)?;
        let head = self.head(&begin, len)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(read)?;
        if checksum(&head, &bytes) != word(&head[12..]) {
            return Err(self.damaged("it has a wrong checksum"));
        }
        Ok(bytes)
    }

    /// Whether it looks whole, as far as that shows without all of its bytes.
    fn looks_whole(&self) -> bool {
        let read = || {
            let file = File::open(&self.path)?;
            let len = file.metadata()?.len();
            let mut bytes = Vec::new();
            file.take(HEADER as u64).read_to_end(&mut bytes)?;
            Ok::<_, std::io::Error>((bytes, len))
        };
        read().is_ok_and(|(bytes, len)| self.head(&bytes, len).is_ok())
    }

    /// The header, with which the bytes begin, of a file of this length.
    fn head(&self, bytes: &[u8], len: u64) -> Result<[u8; HEADER], JournalError> {
        let Some(head) = bytes
            .first_chunk::<HEADER>()
            .filter(|head| head.starts_with(&MAGIC))
        else {
            return Err(self.damaged("it does not begin with RIFFCKPT and a whole header"));
        };
        let version = u16::from_le_bytes([head[8], head[9]]);
        if version != VERSION {
            return Err(self.damaged(&format!(
                "it has version {version}, and this program knows {VERSION}"
            )));
        }
        if long(&head[16..]) != self.at.0 {
            return Err(self.damaged("its name says another position"));
        }
        if Some(long(&head[24..])) != len.checked_sub(HEADER as u64) {
            return Err(self.damaged("it has another length than it says"));
        }
        Ok(*head)
    }

    fn damaged(&self, what: &str) -> JournalError {
        JournalError::Damaged {
            place: self.path.display().to_string(),
            what: what.into(),
        }
    }

    fn begun(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(BEGUN);
        path.into()
    }
}

/// The header of a checkpoint.
fn header(at: Position, payload: &[u8]) -> [u8; HEADER] {
    let mut head = [0; HEADER];
    head[..8].copy_from_slice(&MAGIC);
    head[8..10].copy_from_slice(&VERSION.to_le_bytes());
    head[16..24].copy_from_slice(&at.0.to_le_bytes());
    head[24..].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    let crc = checksum(&head, payload).to_le_bytes();
    head[12..16].copy_from_slice(&crc);
    head
}

fn checksum(head: &[u8; HEADER], payload: &[u8]) -> u32 {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&head[..12]), &head[16..]);
    crc32c::crc32c_append(crc, payload)
}

fn word(bytes: &[u8]) -> u32 {
    let word = bytes.first_chunk();
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

fn long(bytes: &[u8]) -> u64 {
    let long = bytes.first_chunk();
    long.map_or(0, |long| u64::from_le_bytes(*long))
}

/// Puts a checkpoint. It is durable when this returns.
pub(super) fn put(
    disk: &dyn Disk,
    dir: &Path,
    at: Position,
    payload: &[u8],
) -> Result<(), JournalError> {
    let listed = Listed::of(dir, at);
    let begun = listed.begun();
    let write = || {
        remove_if_there(disk, &begun)?;
        let file = disk.create(&begun)?;
        disk.write_at(&file, &header(at, payload), 0)?;
        disk.write_at(&file, payload, HEADER as u64)?;
        disk.sync_file(&file)?;
        disk.rename(&begun, &listed.path)
    };
    if let Err(source) = write() {
        // The next opening removes it where this does not work.
        let _gone = remove_if_there(disk, &begun);
        return Err(failed("writing", &listed.path, source));
    }
    recover::sync_dir(disk, dir)
}

/// All checkpoints of a directory, the newest first.
pub(super) fn list(dir: &Path) -> Result<Vec<Listed>, JournalError> {
    let (listed, _) = names(dir)?;
    Ok(listed)
}

/// The checkpoints of a directory, the newest first, and those that are being written.
pub(super) fn names(dir: &Path) -> Result<(Vec<Listed>, Vec<PathBuf>), JournalError> {
    let wrong = |source| failed("reading", dir, source);
    let (mut listed, mut begun) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(dir).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(rest) = name.and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let digits = rest.strip_suffix(BEGUN).unwrap_or(rest);
        if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        if digits.len() < rest.len() {
            begun.push(path);
        } else if let Ok(at) = digits.parse() {
            let at = Position(at);
            listed.push(Listed { at, path });
        }
    }
    listed.sort_by_key(|listed| std::cmp::Reverse(listed.at));
    Ok((listed, begun))
}

/// Whether a checkpoint stands for all before this position, and the log can be read on from it.
pub(super) fn stands_for(dir: &Path, base: Position) -> Result<bool, JournalError> {
    let listed = list(dir)?;
    let mut newer = listed.iter().take_while(|listed| listed.at >= base);
    Ok(newer.any(Listed::looks_whole))
}

/// Refuses a log that ends at `tail` and has a whole checkpoint of a later record.
pub(super) fn refuse_newer(dir: &Path, tail: Position) -> Result<(), JournalError> {
    let listed = list(dir)?;
    let mut newer = listed.iter().take_while(|listed| listed.at > tail);
    // Only where there is one, all of it is read.
    match newer.find(|listed| listed.load().is_ok()) {
        Some(listed) => Err(JournalError::CheckpointAhead {
            checkpoint: listed.at,
            tail,
        }),
        None => Ok(()),
    }
}

/// Durably removes a checkpoint.
pub(super) fn remove(disk: &dyn Disk, dir: &Path, at: Position) -> Result<(), JournalError> {
    let path = Listed::of(dir, at).path;
    remove_if_there(disk, &path).map_err(|source| failed("removing", &path, source))?;
    recover::sync_dir(disk, dir)
}

/// Removes what a crash left of the writing of a checkpoint.
pub(super) fn remove_begun(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    let (_, begun) = names(dir)?;
    let mut begun = begun.iter();
    begun.try_for_each(|path| {
        disk.remove(path)
            .map_err(|source| failed("removing", path, source))
    })
}

fn remove_if_there(disk: &dyn Disk, path: &Path) -> std::io::Result<()> {
    if path.try_exists()? {
        disk.remove(path)?;
    }
    Ok(())
}
