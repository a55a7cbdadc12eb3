//! One chunk as bytes with a checksum; the same for a file and for memory. Pure.
//!
//! ```text
//! 0       4        8        12        16
//! | marker | length | crc32c | records | payload: `length` bytes
//! ```
//!
//! All numbers are u32, little endian. The checksum is over marker, length, records and payload.
//! The marker comes from the salt of the segment, and its last byte is 0xFF, which no UTF-8 text
//! has (nor has its first, in the segments that are made now): no payload can hold a marker. A
//! frame is begun only after the one before it was synced. So a marker after a bad frame proves
//! that the bad one was durable once, whether the later frame is whole or not.

/// The bytes before the payload.
pub(crate) const HEADER: usize = 16;
/// The most bytes of a payload.
pub(crate) const MOST_PAYLOAD: usize = 64 * 1024 * 1024;

/// A byte that no UTF-8 text has.
pub(crate) const NO_TEXT: u8 = 0xFF;

/// The marker of the frames of a segment with this salt.
pub(crate) fn marker(salt: u32) -> [u8; 4] {
    let [a, b, c, _] = salt.to_le_bytes();
    [a, b, c, NO_TEXT]
}

/// Appends a frame to `out`. The payload is at most [`MOST_PAYLOAD`] long: its journal checked.
pub(crate) fn encode(salt: u32, records: u32, payload: &[u8], out: &mut Vec<u8>) {
    let marker = marker(salt);
    let length = u32::try_from(payload.len())
        .unwrap_or(u32::MAX)
        .to_le_bytes();
    let records = records.to_le_bytes();
    let crc = checksum(marker, length, records, payload).to_le_bytes();
    out.reserve(HEADER + payload.len());
    for part in [marker, length, crc, records] {
        out.extend_from_slice(&part);
    }
    out.extend_from_slice(payload);
}

fn checksum(marker: [u8; 4], length: [u8; 4], records: [u8; 4], payload: &[u8]) -> u32 {
    let mut head = [0; 12];
    head[..4].copy_from_slice(&marker);
    head[4..8].copy_from_slice(&length);
    head[8..].copy_from_slice(&records);
    crc32c::crc32c_append(crc32c::crc32c(&head), payload)
}

/// A whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) records: u32,
    pub(crate) payload: &'a [u8],
}

impl Frame<'_> {
    /// Its bytes, header and all.
    pub(crate) fn len(&self) -> usize {
        HEADER + self.payload.len()
    }
}

/// Why there is no whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    /// It ends before its header, or before its payload does.
    Short,
    /// It does not begin with the marker.
    Marker,
    /// Its length or count cannot be right.
    Length,
    /// Its bytes are not those that were written.
    Checksum,
}

impl Bad {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Short => "a frame that is not whole",
            Self::Marker => "bytes that are no frame",
            Self::Length => "a frame with an impossible length",
            Self::Checksum => "a frame with a wrong checksum",
        }
    }
}

/// The frame with which the bytes begin.
pub(crate) fn read(salt: u32, bytes: &[u8]) -> Result<Frame<'_>, Bad> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(Bad::Short);
    };
    let (words, _) = head.as_chunks::<4>();
    let [found, length, crc, records] = [words[0], words[1], words[2], words[3]];
    if found != marker(salt) {
        return Err(Bad::Marker);
    }
    let len = u32::from_le_bytes(length) as usize;
    if len == 0 || len > MOST_PAYLOAD || records == [0; 4] {
        return Err(Bad::Length);
    }
    let payload = rest.get(..len).ok_or(Bad::Short)?;
    if checksum(found, length, records, payload) != u32::from_le_bytes(crc) {
        return Err(Bad::Checksum);
    }
    Ok(Frame {
        records: u32::from_le_bytes(records),
        payload,
    })
}

/// Where, if anywhere, a frame was begun after the bad one with which these bytes begin.
pub(crate) fn begun_after(salt: u32, bytes: &[u8]) -> Option<usize> {
    let marker = marker(salt);
    let later = bytes.get(HEADER..)?;
    if let Some(at) = later.windows(4).position(|window| window == marker) {
        return Some(HEADER + at);
    }
    // A marker that the end of the file cuts off; text could look like one that begins as text.
    let mut cut = (1..4).filter(|len| marker[0] == NO_TEXT && later.ends_with(&marker[..*len]));
    cut.next_back().map(|len| bytes.len() - len)
}

/// Whether these bytes are space that was filled ahead: only zeros. Nothing at all is, too.
pub(crate) fn is_filling(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| *word == [0; 16]) && rest.iter().all(|byte| *byte == 0)
}

/// How far the bytes of a segment are whole frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The whole frames.
    pub(crate) frames: u64,
    /// The records of the whole frames.
    pub(crate) records: u64,
    /// Where the last whole frame begins, if there is one.
    pub(crate) last: Option<usize>,
    /// Where the whole frames end.
    pub(crate) end: usize,
    /// What comes then, if it is no end: neither that of the bytes, nor zeros up to it.
    pub(crate) bad: Option<Bad>,
    /// Where a frame was begun after the bad one: then it is damage, not a torn end.
    pub(crate) follows: Option<usize>,
}

/// Walks over the whole frames of these bytes.
pub(crate) fn walk(salt: u32, bytes: &[u8]) -> Walk {
    let mut walk = Walk {
        frames: 0,
        records: 0,
        last: None,
        end: 0,
        bad: None,
        follows: None,
    };
    while walk.end < bytes.len() {
        match read(salt, &bytes[walk.end..]) {
            Ok(frame) => {
                walk.frames += 1;
                walk.records += u64::from(frame.records);
                walk.last = Some(walk.end);
                walk.end += frame.len();
            }
            Err(_) if is_filling(&bytes[walk.end..]) => break,
            Err(bad) => {
                walk.bad = Some(bad);
                let follows = begun_after(salt, &bytes[walk.end..]);
                walk.follows = follows.map(|at| walk.end + at);
                break;
            }
        }
    }
    walk
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: u32 = 0x0102_03FF;

    fn two() -> Vec<u8> {
        let mut out = Vec::new();
        encode(SALT, 1, b"one\n", &mut out);
        encode(SALT, 2, b"two\nthree\n", &mut out);
        out
    }

    #[test]
    fn frames_read_back() {
        let bytes = two();
        let walk = walk(SALT, &bytes);
        assert_eq!(
            (walk.records, walk.last, walk.end, walk.bad),
            (3, Some(20), 46, None)
        );
        let frame = read(SALT, &bytes[20..]).unwrap();
        assert_eq!((frame.records, frame.payload), (2, &b"two\nthree\n"[..]));
    }

    #[test]
    fn a_cut_end_is_torn_and_a_flipped_bit_before_a_whole_frame_is_damage() {
        let bytes = two();
        for cut in 21..bytes.len() {
            let walk = walk(SALT, &bytes[..cut]);
            assert_eq!(
                (walk.end, walk.bad, walk.follows),
                (20, Some(Bad::Short), None),
                "{cut}"
            );
        }
        for bit in 0..20 * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let walk = walk(SALT, &bytes);
            assert_eq!((walk.end, walk.follows), (0, Some(20)), "{bit}");
        }
    }

    #[test]
    fn a_flipped_bit_before_any_part_of_a_later_frame_is_damage() {
        let bytes = two();
        for cut in 21..bytes.len() {
            for bit in 0..20 * 8 {
                let mut bytes = bytes[..cut].to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                let walk = walk(SALT, &bytes);
                assert_eq!((walk.end, walk.follows), (0, Some(20)), "{bit}, {cut}");
            }
        }
    }

    #[test]
    fn text_is_no_part_of_a_marker_that_begins_as_text() {
        let salt = u32::from_le_bytes(*b"one!");
        let mut bytes = Vec::new();
        encode(salt, 1, b"two one", &mut bytes);
        bytes[HEADER] ^= 1;
        assert_eq!(walk(salt, &bytes).follows, None);
        bytes.extend_from_slice(&marker(salt));
        assert_eq!(walk(salt, &bytes).follows, Some(HEADER + 7));
    }

    #[test]
    fn zeros_are_the_end_and_nothing_but_zeros_is() {
        let whole = two();
        for more in 0..70 {
            let mut bytes = whole.clone();
            bytes.resize(whole.len() + more, 0);
            let found = walk(SALT, &bytes);
            assert_eq!((found.end, found.bad), (whole.len(), None), "{more}");
            for at in whole.len()..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[at] = 1;
                assert!(walk(SALT, &bytes).bad.is_some(), "{more}, {at}");
            }
        }
    }

    #[test]
    fn a_frame_of_another_segment_is_no_frame() {
        assert_eq!(read(SALT - 1, &two()), Err(Bad::Marker));
    }
}
