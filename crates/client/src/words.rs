//! Reason strings: words for people, never many.

/// Bytes of one that are sent or kept.
const WORDS_BYTES_MAX: usize = 512;

/// The first 512 bytes at most, in whole characters.
pub(crate) fn cut(words: &str) -> &str {
    let mut end = words.len().min(WORDS_BYTES_MAX);
    while !words.is_char_boundary(end) {
        end -= 1;
    }
    &words[..end]
}
