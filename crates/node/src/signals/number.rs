//! Whole numbers as text.

use std::ops::RangeInclusive;

/// The number that `text` is, if it is one of `range`: decimal digits and nothing else.
pub(super) fn number(text: &str, range: RangeInclusive<u64>) -> Option<u64> {
    // `parse` alone would take a plus sign.
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_digits && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_within_the_range_are_a_number() {
        for (text, expected) in [("5", Some(5)), ("0009", Some(9)), ("4", None), ("10", None)] {
            assert_eq!(number(text, 5..=9), expected, "{text}");
        }
        for text in ["", "+5", "-5", " 5", "5 ", "5.0", "5e0", "0x5", "\u{0665}", "18446744073709551616"] {
            assert_eq!(number(text, 0..=u64::MAX), None, "{text}");
        }
        assert_eq!(number("18446744073709551615", 0..=u64::MAX), Some(u64::MAX));
    }
}
