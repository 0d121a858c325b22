//! UTF-8 encoded strings (section 1.5.4): well-formed, no surrogates, no U+0000.

use crate::swar::{equal, for_each_word, not_ascii};

/// Why bytes are no UTF-8 encoded string of MQTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    /// Ill-formed UTF-8, a surrogate among it [MQTT-1.5.4-1].
    NotUtf8,
    /// U+0000 [MQTT-1.5.4-2].
    Null,
}

impl TextError {
    /// The same as a fixed text.
    pub const fn what(self) -> &'static str {
        match self {
            TextError::NotUtf8 => "a string that is not well-formed UTF-8",
            TextError::Null => "a string with U+0000",
        }
    }
}

/// Checks a string field, whole and without what stands around it.
/// # Errors
/// It is no text, or has U+0000.
#[inline]
pub fn from_bytes(bytes: &[u8]) -> Result<&str, TextError> {
    match short_ascii(bytes) {
        Some(text) => Ok(text),
        None => from_any_bytes(bytes),
    }
}

/// The usual string: up to 64 bytes of ASCII without U+0000. Longer ones are faster in `simdutf8`.
#[inline]
fn short_ascii(bytes: &[u8]) -> Option<&str> {
    let mut refused = u64::from(bytes.len() > 64);
    if refused == 0 {
        for_each_word(bytes, |word| refused |= not_ascii(word) | equal(word, 0));
    }
    // SAFETY: no byte of `bytes` has its high bit set (`not_ascii` reports it), so all are ASCII, which is UTF-8.
    (refused == 0).then(|| unsafe { std::str::from_utf8_unchecked(bytes) })
}

fn from_any_bytes(bytes: &[u8]) -> Result<&str, TextError> {
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| TextError::NotUtf8)?;
    if memchr::memchr(0, bytes).is_some() { Err(TextError::Null) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surrogates_overlong_forms_and_null_are_refused() {
        for bytes in [&b"\xED\xA0\x80"[..], b"\xED\xBF\xBF", b"\xC0\x80", b"\xF4\x90\x80\x80", b"\xE2\x82", b"\xFF"] {
            assert_eq!(from_bytes(bytes), Err(TextError::NotUtf8), "{bytes:x?}");
        }
        assert_eq!(from_bytes(b"a\0b"), Err(TextError::Null));
    }

    #[test]
    fn short_and_long_strings_are_checked_alike() {
        for len in (0..=80).chain([1000, 65_535]) {
            let mut bytes = vec![b'a'; len];
            assert!(from_bytes(&bytes).is_ok());
            for place in [0, len / 2, len.saturating_sub(1)].into_iter().filter(|&place| place < len) {
                for (byte, error) in [(0, TextError::Null), (0xFF, TextError::NotUtf8)] {
                    bytes[place] = byte;
                    assert_eq!(from_bytes(&bytes), Err(error), "{byte:#x} at {place} of {len}");
                }
                bytes[place] = b'a';
            }
        }
    }

    #[test]
    fn everything_else_is_kept_even_a_byte_order_mark() {
        for text in ["", "a", "\u{FEFF}a", "\u{10FFFF}", "\u{1}\u{7F}\u{9F}\u{FFFF}", "motörhead/柔"] {
            assert_eq!(from_bytes(text.as_bytes()), Ok(text));
        }
    }
}
