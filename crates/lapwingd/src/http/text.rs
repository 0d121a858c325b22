//! Text of others in answers: as the package writes it, in JSON and between quotes of a sentence.

use std::fmt::Write as _;

use lapwing_node::is_hidden;
use serde_json::Value as Json;

/// A JSON document in which nothing drives a terminal or turns a line around: what has no shape of its own is escaped as JSON
/// does it, and a parser reads the same.
pub(super) fn json_text(document: &Json) -> String {
    let text = document.to_string();
    if !text.contains(is_hidden) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

/// A name within a sentence: `'readings'`, or in the other quotes where it has an apostrophe.
pub(super) fn quoted(name: &str) -> String {
    let quote = if name.contains('\'') && !name.contains('"') { '"' } else { '\'' };
    let mut shown = String::from(quote);
    for character in name.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            '\\' => shown.push_str("\\\\"),
            _ if character == quote => shown.extend(['\\', quote]),
            _ if is_hidden(character) => {
                let code = u32::from(character);
                let _ = match code {
                    0..=0xff => write!(shown, "\\x{code:02x}"),
                    0x100..=0xffff => write!(shown, "\\u{code:04x}"),
                    _ => write!(shown, "\\U{code:08x}"),
                };
            }
            _ => shown.push(character),
        }
    }
    shown.push(quote);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is what is shown on one line, and in JSON still what it was?
    #[test]
    fn nothing_hidden_is_left() {
        let named = "a\u{202e}b\u{7f}\u{e0041}c\nd";
        let text = json_text(&Json::from(named));
        assert_eq!(text, r#""a\u202eb\u007f\udb40\udc41c\nd""#);
        assert_eq!(serde_json::from_str::<String>(&text).expect("it is JSON"), named);
        for (name, shown) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("'\"", r#"'\'"'"#),
            ("a\\b\n", r"'a\\b\n'"),
            ("\u{1b}ü\u{200b}\u{e0041}", r"'\x1bü\u200b\U000e0041'"),
        ] {
            assert_eq!(quoted(name), shown);
        }
    }
}
