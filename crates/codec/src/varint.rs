//! The variable byte integer: 7 bits a byte, low first, at most 4 bytes.

/// The largest value that four bytes hold: 268,435,455.
pub const VARINT_MAX: u32 = 0x0FFF_FFFF;

/// What [`decode`] found at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Varint {
    /// `value` in `len` bytes; `minimal` when no shorter form exists.
    Value { value: u32, len: usize, minimal: bool },
    /// The bytes end inside the integer.
    Incomplete,
    /// A fifth byte would follow.
    TooLong,
}

/// Reads one integer from the start of `bytes`.
#[inline]
pub(crate) fn decode(bytes: &[u8]) -> Varint {
    match bytes.first() {
        Some(&byte) if byte < 0x80 => Varint::Value { value: u32::from(byte), len: 1, minimal: true },
        Some(_) => decode_long(bytes),
        None => Varint::Incomplete,
    }
}

fn decode_long(bytes: &[u8]) -> Varint {
    let mut value = 0u32;
    for (index, &byte) in bytes.iter().take(4).enumerate() {
        value |= u32::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            // A last byte of zero after a continued one adds nothing: a shorter form exists.
            return Varint::Value { value, len: index + 1, minimal: index == 0 || byte != 0 };
        }
    }
    if bytes.len() < 4 { Varint::Incomplete } else { Varint::TooLong }
}

/// Bytes that `value` takes; `value` is at most [`VARINT_MAX`].
#[inline]
pub(crate) const fn len(value: u32) -> usize {
    match value {
        0..=0x7F => 1,
        0x80..=0x3FFF => 2,
        0x4000..=0x1F_FFFF => 3,
        _ => 4,
    }
}

/// Appends `value`, which is at most [`VARINT_MAX`], in its shortest form.
#[inline]
pub(crate) fn encode(mut value: u32, out: &mut Vec<u8>) {
    debug_assert!(value <= VARINT_MAX);
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_survives_and_has_the_stated_length() {
        for (value, expected) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (2_097_151, 3), (2_097_152, 4), (VARINT_MAX, 4)]
        {
            let mut bytes = Vec::new();
            encode(value, &mut bytes);
            assert_eq!((bytes.len(), len(value)), (expected, expected));
            assert_eq!(decode(&bytes), Varint::Value { value, len: expected, minimal: true });
            for cut in 0..bytes.len() {
                assert_eq!(decode(&bytes[..cut]), Varint::Incomplete);
            }
        }
    }

    #[test]
    fn five_bytes_are_too_long_and_padding_is_seen() {
        assert_eq!(decode(&[0x80, 0x80, 0x80, 0x80, 0x01]), Varint::TooLong);
        assert_eq!(decode(&[0xFF, 0xFF, 0xFF, 0xFF]), Varint::TooLong);
        assert_eq!(decode(&[0x81, 0x00]), Varint::Value { value: 1, len: 2, minimal: false });
        assert_eq!(decode(&[0x80, 0x80, 0x80, 0x00]), Varint::Value { value: 0, len: 4, minimal: false });
    }
}
