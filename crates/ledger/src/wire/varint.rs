//! Numbers as LEB128.

/// Bytes of the largest number.
const BYTES_MAX: usize = 10;
/// Set in each byte of a number but its last.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Appends `value`.
#[inline]
pub(crate) fn put(value: u64, out: &mut Vec<u8>) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads a number at the start of `bytes` and how many bytes it takes; nothing when it is cut off, too large, or longer
/// than needed.
#[inline]
pub(crate) fn get(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    if let Some(word) = bytes.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
        && let last = !word & HIGH_BITS
        && last != 0
    {
        return get_of_word(word, last);
    }
    get_by_byte(bytes, first)
}

/// The same where the number ends within a word: `last` has the high bit of each byte that may be its last.
#[inline]
fn get_of_word(word: u64, last: u64) -> Option<(u64, usize)> {
    let bits = last.trailing_zeros() + 1;
    let word = word & u64::MAX >> (64 - bits);
    // Seven bits of each byte, drawn together by twos.
    let word = (word & 0x007F_007F_007F_007F) | (word & 0x7F00_7F00_7F00_7F00) >> 1;
    let word = (word & 0x0000_3FFF_0000_3FFF) | (word & 0x3FFF_0000_3FFF_0000) >> 2;
    let value = (word & 0x0000_0000_0FFF_FFFF) | (word & 0x0FFF_FFFF_0000_0000) >> 4;
    let length = bits / 8;
    (value >> (7 * (length - 1)) != 0).then_some((value, length as usize))
}

/// The same where it may end with the bytes, or is longer than a word.
fn get_by_byte(bytes: &[u8], first: u8) -> Option<(u64, usize)> {
    let mut value = u64::from(first & 0x7F);
    for (place, byte) in bytes.iter().enumerate().take(BYTES_MAX).skip(1) {
        if place == BYTES_MAX - 1 && *byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7F) << (7 * place);
        if *byte < 0x80 {
            return (*byte != 0).then_some((value, place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each number read back, from all its bytes only?
    #[test]
    fn numbers_read_back() {
        let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX >> bit]);
        for value in edges {
            let mut bytes = vec![];
            put(value, &mut bytes);
            assert_eq!(get(&bytes), Some((value, bytes.len())));
            (0..bytes.len()).for_each(|length| assert_eq!(get(&bytes[..length]), None));
            // Others come behind it: most are read as a word.
            let more = [&bytes[..], &[0xFF; 8]].concat();
            assert_eq!(get(&more), Some((value, bytes.len())));
        }
    }

    /// Is there one form of each number, and none above 64 bits?
    #[test]
    fn other_forms_are_refused() {
        for length in 2..=9 {
            let needless = [&[0xFF; 8][..length - 1], &[0; 9]].concat();
            assert_eq!(get(&needless[..length]), None, "a needless byte");
            assert_eq!(get(&needless), None, "a needless byte, and others behind it");
        }
        assert_eq!(get(&[0xFF; 10]), None, "more than ten bytes");
        assert_eq!(get(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]), None, "above 64 bits");
    }
}
