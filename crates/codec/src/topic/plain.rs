//! One pass over a topic name, eight bytes at a time.
//!
//! Every PUBLISH has a topic, and nearly every topic is short ASCII. UTF-8, U+0000, wildcards and the number of levels
//! are four questions about the same bytes; asked in four passes they cost more than the rest of the packet.

const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const HIGH: u64 = !LOW;

/// The topic and its separators, when it is ASCII without U+0000, `+` and `#`; `None`: look closer.
#[inline]
pub(super) fn scan(bytes: &[u8]) -> Option<(&str, usize)> {
    let mut separators = 0;
    let mut refused = 0;
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        let mut chunk = [0; 8];
        chunk.copy_from_slice(word);
        let word = u64::from_le_bytes(chunk);
        refused |= not_plain(word);
        separators += count(word);
    }
    let last = tail(words.remainder(), bytes);
    refused |= not_plain(last);
    separators += count(last);
    if refused != 0 {
        return None;
    }
    // SAFETY: no byte of `bytes` has its high bit set (`not_plain` reports it), so all are ASCII, which is UTF-8.
    Some((unsafe { std::str::from_utf8_unchecked(bytes) }, separators))
}

/// The last 0..=7 bytes as a word, filled up with bytes that ask no question.
#[inline]
fn tail(remainder: &[u8], bytes: &[u8]) -> u64 {
    const FILL: u64 = u64::from_le_bytes([b'.'; 8]);
    let used_bits = 8 * remainder.len() as u32;
    if used_bits == 0 {
        return FILL;
    }
    let filled = FILL << used_bits;
    match bytes.last_chunk::<8>() {
        // Read the last eight bytes again and shift those out that were seen.
        Some(last) => u64::from_le_bytes(*last) >> (64 - used_bits) | filled,
        None => remainder.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)) | filled,
    }
}

/// Non-zero when a byte is above 0x7F, zero, `+` or `#`.
#[inline]
const fn not_plain(word: u64) -> u64 {
    // `#` is 0x23 and `+` is 0x2B: the same but for bit 3.
    (word & HIGH) | equal(word, 0) | equal(word | splat(0x08), b'+')
}

/// Number of `/`, when no byte is above 0x7F.
#[inline]
const fn count(word: u64) -> usize {
    equal(word, b'/').count_ones() as usize
}

/// The high bit of each byte that equals `byte`; exact, because sums of seven bits do not carry into their neighbour.
#[inline]
const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ splat(byte);
    !(((difference & LOW) + LOW) | difference | LOW)
}

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
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
    }
}
