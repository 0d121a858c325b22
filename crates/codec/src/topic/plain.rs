//! One pass over a topic name.
//!
//! Every PUBLISH has a topic, and nearly every topic is short ASCII. UTF-8, U+0000, wildcards and the number of levels
//! are four questions about the same bytes; asked in four passes they cost more than the rest of the packet.

use crate::swar::{equal, for_each_word, not_ascii, splat};

/// Separators are counted in eight lanes that are summed in one byte.
const BYTES_MAX: usize = u8::MAX as usize;

/// The topic and its separators, when it is short ASCII without U+0000, `+` and `#`; `None`: look closer.
#[inline(always)]
pub(super) fn scan(bytes: &[u8]) -> Option<(&str, usize)> {
    if bytes.len() > BYTES_MAX {
        return None;
    }
    let mut separators = 0;
    let mut refused = 0;
    for_each_word(bytes, |word| {
        // `#` is 0x23 and `+` is 0x2B: the same but for bit 3.
        refused |= not_ascii(word) | equal(word, 0) | equal(word | splat(0x08), b'+');
        separators += equal(word, b'/') >> 7;
    });
    if refused != 0 {
        return None;
    }
    let separators = separators.wrapping_mul(splat(1)) >> 56;
    // SAFETY: no byte of `bytes` has its high bit set (`not_ascii` reports it), so all are ASCII, which is UTF-8.
    Some((unsafe { std::str::from_utf8_unchecked(bytes) }, separators as usize))
}

#[cfg(test)]
mod tests {
    use super::scan;

    fn scan_slowly(bytes: &[u8]) -> Option<(&str, usize)> {
        let plain = bytes.iter().all(|byte| byte.is_ascii() && !matches!(byte, 0 | b'+' | b'#'));
        let separators = bytes.iter().filter(|&&byte| byte == b'/').count();
        if plain { std::str::from_utf8(bytes).ok().map(|topic| (topic, separators)) } else { None }
    }

    #[test]
    fn every_byte_at_every_place_is_seen() {
        for len in 0..=25 {
            let background = vec![b'a'; len];
            assert_eq!(scan(&background), scan_slowly(&background));
            for place in 0..len {
                for byte in 0..=255 {
                    let mut bytes = background.clone();
                    bytes[place] = byte;
                    assert_eq!(scan(&bytes), scan_slowly(&bytes), "{byte:#x} at {place} of {len}");
                }
            }
        }
    }

    #[test]
    fn neighbours_do_not_disturb_the_count() {
        for bytes in [&b"////////"[..], b"/./././.", b"./0.//0/./0./", b"/", b"", b"///////", b"/////////"] {
            assert_eq!(scan(bytes), scan_slowly(bytes));
        }
        assert_eq!(scan(&[b'/'; 255]).map(|(_, separators)| separators), Some(255));
        assert_eq!(scan(&[b'/'; 256]), None, "longer ones take the general way");
    }
}
