//! Text in lines of the trail: short, without a token, in ASCII.

use std::fmt::Write as _;

use serde_json::Value;

use crate::secrets::without_secrets;

/// Characters of one text that are written.
const CHARACTERS_MAX: usize = 256;
/// Entries of one list that are written.
const ENTRIES_MAX: usize = 50;

/// The text, or so much of its beginning as is written.
fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// A text that somebody chose, as it is told: cut, without tokens.
pub(crate) fn told(text: &str) -> String {
    cut(&without_secrets(text))
}

/// `value` with all its texts cut and without tokens, and its lists cut.
pub(super) fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(told(&text)),
        Value::Array(values) => values.into_iter().take(ENTRIES_MAX).map(cleaned).collect(),
        Value::Object(fields) => {
            fields.into_iter().take(ENTRIES_MAX).map(|(key, value)| (cut(&key), cleaned(value))).collect()
        }
        other => other,
    }
}

/// JSON as it is in ASCII: the same value to every reader, and nothing that a terminal takes for an order.
pub(super) fn ascii(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() && character != '\u{7f}' {
            line.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(line, "\\u{unit:04x}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Is everything that could forge a line, or turn it around, escaped, and the value the same?
    #[test]
    fn a_line_is_ascii_and_one() {
        let value = json!({"name": "x\n{\"event\":\"started\"}\r\u{1b}[2J\u{202e}\u{85}\u{2028}\u{7f}\u{1F426}é"});
        let line = ascii(&value.to_string());
        assert!(line.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }

    /// Is a token hidden in what stands in a line, before it is cut?
    #[test]
    fn tokens_are_hidden() {
        let token = format!("lapwing_{}", "aB-_0".repeat(9));
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk";
        let long = "x".repeat(CHARACTERS_MAX - 14);
        let nested = cleaned(json!({"a": [{"b": token}, jwt], "c": format!("{long} {token} yy"), "n": 7}));
        assert_eq!(
            nested,
            json!({"a": [{"b": "lapwing_***"}, "***"], "c": format!("{long} lapwing_*** y..."), "n": 7})
        );
    }

    /// Is every text bounded, without being cut within a character?
    #[test]
    fn texts_are_cut() {
        assert_eq!(cut(&"é".repeat(256)), "é".repeat(256));
        assert_eq!(cut(&"é".repeat(60_000)), format!("{}...", "é".repeat(256)));
        assert_eq!(cleaned(json!(vec![1; 1_000])).as_array().unwrap().len(), ENTRIES_MAX);
    }
}
