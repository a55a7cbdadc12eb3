//! The fingerprint of a text, so that a person sees which link.toml a file was made of.

/// FNV-1a with 64 bits, over the text with `\n` as its line ends: a checkout may change those.
///
/// It tells two versions of a file apart. It guards nothing: whether a file is fresh is told by
/// making it again.
pub(super) fn fingerprint(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.replace("\r\n", "\n").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn the_fingerprint_is_fnv_1a() {
        assert_eq!(fingerprint(""), "cbf29ce484222325");
        assert_eq!(fingerprint("a"), "af63dc4c8601ec8c");
        assert_eq!(fingerprint("foobar"), "85944171f73967e8");
    }

    #[test]
    fn line_ends_do_not_count() {
        assert_eq!(fingerprint("a\r\nb\r\n"), fingerprint("a\nb\n"));
    }
}
