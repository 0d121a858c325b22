//! Lengths as LEB128: seven bits a byte, lowest first, at most five bytes, no needless ones.

/// Appends `value`.
pub(crate) fn put(value: u32, out: &mut Vec<u8>) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Reads a value at `at` and the place behind it; nothing when it is cut off, too large, or longer than needed.
pub(crate) fn get(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let mut value = 0u32;
    for place in 0..5 {
        let byte = *bytes.get(at + place)?;
        let bits = u32::from(byte & 0x7F);
        if place == 4 && byte > 0x0F {
            return None;
        }
        value |= bits << (7 * place);
        if byte & 0x80 == 0 {
            let is_shortest = place == 0 || byte != 0;
            return is_shortest.then_some((value, at + place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_back_in_their_shortest_form_only() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_456, u32::MAX] {
            let mut bytes = vec![];
            put(value, &mut bytes);
            assert_eq!(get(&bytes, 0), Some((value, bytes.len())));
            (0..bytes.len()).for_each(|length| assert_eq!(get(&bytes[..length], 0), None));
        }
        assert_eq!(get(&[0x80, 0x00], 0), None, "a needless byte");
        assert_eq!(get(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], 0), None, "above 32 bits");
        assert_eq!(get(&[], 7), None);
    }
}
