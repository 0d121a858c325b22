//! Numbers as LEB128.

/// Bytes of the largest number.
const BYTES_MAX: usize = 10;

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
        }
    }

    /// Is there one form of each number, and none above 64 bits?
    #[test]
    fn other_forms_are_refused() {
        assert_eq!(get(&[0x80, 0x00]), None, "a needless byte");
        assert_eq!(get(&[0xFF; 10]), None, "more than ten bytes");
        assert_eq!(get(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]), None, "above 64 bits");
    }
}
