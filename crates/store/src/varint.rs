//! Small numbers in few bytes: seven bits a byte, the lowest first.

/// Appends a number.
pub(crate) fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes the number that `bytes` begins with; nothing when there is none, or one that is too long.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_and_every_truncation_is_noticed() {
        for number in [0, 1, 127, 128, 300, 1 << 20, u64::MAX / 2, u64::MAX] {
            let mut bytes = vec![];
            put(number, &mut bytes);
            assert_eq!(take(&mut &bytes[..]), Some(number));
            for length in 0..bytes.len() {
                assert_eq!(take(&mut &bytes[..length]), None);
            }
        }
        assert_eq!(take(&mut &[0xFF; 11][..]), None);
    }
}
