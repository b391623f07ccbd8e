//! A checksum inside the file that it is of: what describes a store is not believed if it was changed.

/// How it stands in the file. Inside a string its quotes would be escaped, so it is there only once.
const BEFORE: &[u8] = b"\"saltus_digest\": \"";
/// Its place before it is known.
pub(super) const BLANK: &str = "00000000";

/// Where the digest of a file is.
fn place(text: &[u8]) -> Option<std::ops::Range<usize>> {
    let found = text.windows(BEFORE.len()).position(|window| window == BEFORE)?;
    let first = found + BEFORE.len();
    (text.len() >= first + BLANK.len()).then_some(first..first + BLANK.len())
}

/// The digest of a file, whatever stands in its place.
fn of(text: &[u8], place: &std::ops::Range<usize>) -> String {
    let before = crc32c::crc32c(&text[..place.start]);
    let blank = crc32c::crc32c_append(before, BLANK.as_bytes());
    format!("{:08x}", crc32c::crc32c_append(blank, &text[place.end..]))
}

/// Puts the digest where it is blank.
pub(super) fn insert(text: &mut [u8]) {
    if let Some(place) = place(text) {
        let digest = of(text, &place);
        text[place].copy_from_slice(digest.as_bytes());
    }
}

/// Whether a file is as it was when its digest was put there.
pub(super) fn is_right(text: &[u8]) -> bool {
    place(text).is_some_and(|place| text[place.clone()] == *of(text, &place).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let mut text = br#"{"a": [1, 2], "saltus_digest": "00000000", "b": "x"}"#.to_vec();
        assert!(!is_right(&text));
        insert(&mut text);
        assert!(is_right(&text));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut changed = text.clone();
                changed[at] ^= 1 << bit;
                assert!(!is_right(&changed), "{at}");
            }
            assert!(!is_right(&text[..at]));
        }
    }
}
