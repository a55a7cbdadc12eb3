//! One segment: its name, its header, and which of them a directory has.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use link_wire::Position;

use super::{JournalError, VERSION, failed};

/// The bytes of a segment's header.
pub(super) const HEADER: usize = 32;

const MAGIC: [u8; 8] = *b"RIFFLOG1";

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) salt: u32,
    pub(super) base: Position,
    /// The salt of the segment before; 0 for the first.
    pub(super) follows: u32,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.salt.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.base.0.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.follows.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the header of a segment's bytes. None: it is torn, and nothing follows it.
    pub(super) fn read(listed: &Listed, bytes: &[u8]) -> Result<Option<Self>, JournalError> {
        let place = || listed.path.display().to_string();
        let damaged = |what: String| JournalError::Damaged {
            place: place(),
            what,
        };
        if !is_ours(bytes) {
            let what = "it does not begin with RIFFLOG1".into();
            return Err(JournalError::NotOurs {
                place: place(),
                what,
            });
        }
        let Some(head) = bytes.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        // Before the checksum: another version may have another header. Zeros are no version: a
        // crash leaves them.
        let version = u16::from_le_bytes([head[8], head[9]]);
        if version != VERSION && version != 0 {
            return Err(JournalError::OtherVersion {
                place: place(),
                version,
            });
        }
        if crc32c::crc32c(&head[..28]) != word(&head[28..]) {
            if bytes[HEADER..].iter().all(|byte| *byte == 0) {
                return Ok(None);
            }
            return Err(damaged(
                "the header of the segment has a wrong checksum".into(),
            ));
        }
        let base = u64::from(word(&head[16..])) | u64::from(word(&head[20..])) << 32;
        let header = Self {
            salt: word(&head[12..]),
            base: Position(base),
            follows: word(&head[24..]),
        };
        if header.base != listed.base {
            return Err(damaged(format!(
                "it begins at {base}, and its name says another position"
            )));
        }
        Ok(Some(header))
    }
}

/// Whether a file begins as a segment does, as far as a crash let it: with the magic, or with a
/// part of it (or nothing) and then only zeros.
fn is_ours(bytes: &[u8]) -> bool {
    if bytes.starts_with(&MAGIC) {
        return true;
    }
    let equal = bytes.iter().zip(MAGIC).take_while(|(a, b)| **a == *b);
    bytes[equal.count()..].iter().all(|byte| *byte == 0)
}

fn word(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |word| u32::from_le_bytes(*word))
}

/// A file with the name of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) base: Position,
    pub(super) path: PathBuf,
}

impl Listed {
    /// The file of the segment that begins at this position.
    pub(super) fn of(dir: &Path, base: Position) -> Self {
        Self {
            base,
            path: dir.join(format!("{:020}.log", base.0)),
        }
    }

    /// All its bytes.
    pub(super) fn load(&self) -> Result<Vec<u8>, JournalError> {
        self.first(u64::MAX)
    }

    /// As many of its first bytes as a header has.
    pub(super) fn head(&self) -> Result<Vec<u8>, JournalError> {
        self.first(HEADER as u64)
    }

    fn first(&self, most: u64) -> Result<Vec<u8>, JournalError> {
        if self.path.is_dir() {
            let place = self.path.display().to_string();
            return Err(JournalError::NotOurs {
                place,
                what: "it is a directory".into(),
            });
        }
        let read = || {
            let file = File::open(&self.path)?;
            let len = file.metadata()?.len().min(most);
            let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
            file.take(most).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|source| failed("reading", &self.path, source))
    }

    /// The length of its file.
    pub(super) fn len(&self) -> Result<u64, JournalError> {
        let metadata = fs::metadata(&self.path);
        let metadata = metadata.map_err(|source| failed("reading", &self.path, source))?;
        Ok(metadata.len())
    }

    /// An offset in it, for a person.
    pub(super) fn at(&self, offset: usize) -> String {
        format!("{}, byte {offset}", self.path.display())
    }
}

/// The segments of a directory, in order. Files with other names are not looked at.
pub(super) fn list(dir: &Path) -> Result<Vec<Listed>, JournalError> {
    let entries = fs::read_dir(dir).map_err(|source| failed("reading", dir, source))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|source| failed("reading", dir, source))?
            .path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(digits) = name.and_then(|name| name.strip_suffix(".log")) else {
            continue;
        };
        if digits.len() != 20 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let Ok(base) = digits.parse() else {
            let what = "no position is that large".into();
            return Err(JournalError::NotOurs {
                place: path.display().to_string(),
                what,
            });
        };
        found.push(Listed {
            base: Position(base),
            path,
        });
    }
    found.sort_by_key(|listed| listed.base);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            salt: 0xdead_beef,
            base: Position(0x1_0000_0001),
            follows: 7,
        }
    }

    #[test]
    fn a_header_reads_back() {
        let listed = Listed::of(Path::new("d"), header().base);
        assert_eq!(listed.path, Path::new("d/00000000004294967297.log"));
        assert_eq!(
            Header::read(&listed, &header().encode()).unwrap(),
            Some(header())
        );
    }

    #[test]
    fn a_file_under_another_name_is_damage() {
        let listed = Listed::of(Path::new("d"), Position(1));
        let error = Header::read(&listed, &header().encode()).unwrap_err();
        assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    }

    #[test]
    fn another_version_is_told_whatever_its_checksum_is() {
        let mut bytes = header().encode();
        bytes[8] = 2;
        let listed = Listed::of(Path::new("d"), header().base);
        let read = |bytes: &[u8]| {
            let error = Header::read(&listed, bytes).unwrap_err();
            let known = matches!(error, JournalError::OtherVersion { version: 2, .. });
            assert!(known, "{error}");
        };
        read(&bytes);
        let crc = crc32c::crc32c(&bytes[..28]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        read(&bytes);
    }

    #[test]
    fn only_what_a_crash_leaves_of_a_header_is_a_torn_one() {
        let listed = Listed::of(Path::new("d"), header().base);
        let whole = header().encode();
        for cut in 0..HEADER {
            assert_eq!(Header::read(&listed, &whole[..cut]).unwrap(), None, "{cut}");
            let mut zeros = vec![0; 3 * HEADER];
            zeros[..cut].copy_from_slice(&whole[..cut]);
            // The last byte of the checksum may be a zero of its own.
            if cut < HEADER - 4 {
                assert_eq!(Header::read(&listed, &zeros).unwrap(), None, "{cut}");
            }
        }
        for foreign in [
            &b"notes"[..],
            &[7; 20],
            b"RIFFLOG",
            b"RIFFLOG2",
            b"RIFF\0text",
        ] {
            let read = Header::read(&listed, foreign);
            if MAGIC.starts_with(foreign) {
                assert_eq!(read.unwrap(), None);
            } else {
                let error = read.unwrap_err();
                assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
            }
        }
        let mut text_at_the_end = vec![0; 3 * HEADER];
        text_at_the_end[3 * HEADER - 1] = b'x';
        let error = Header::read(&listed, &text_at_the_end).unwrap_err();
        assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
    }
}
