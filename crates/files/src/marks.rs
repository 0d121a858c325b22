//! Marks of encoding that editors put in front of a text, and that stay in its midst where files are put together.

use std::borrow::Cow;

/// U+FEFF in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// `text` without the marks of UTF-8 at the beginning of its lines.
///
/// Readers of PEM take lines that begin with hyphens and pass over all others: of a file with a mark they would find nothing, and
/// of several put together less than there is, without a word. OpenSSL passes over the marks too.
pub fn without_marks(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.windows(MARK.len()).any(|window| window == MARK) {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    Cow::Owned(lines.map(without_mark).collect::<Vec<_>>().concat())
}

fn without_mark(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(MARK) {
        line = rest;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do marks go wherever a line begins, and does all else stay as it is?
    #[test]
    fn only_what_begins_a_line_goes() {
        for (text, left) in [
            ("", ""),
            ("\u{feff}", ""),
            ("-----BEGIN", "-----BEGIN"),
            ("\u{feff}-----BEGIN", "-----BEGIN"),
            ("\u{feff}\u{feff}a\r\n\u{feff}b\n\u{feff}\n", "a\r\nb\n\n"),
            ("a\u{feff}b\n c\n", "a\u{feff}b\n c\n"),
        ] {
            assert_eq!(&*without_marks(text.as_bytes()), left.as_bytes(), "{text:?}");
        }
        assert_eq!(&*without_marks(b"\xef\xbb\n\xbb\xbf"), b"\xef\xbb\n\xbb\xbf", "half of one is none");
    }
}
