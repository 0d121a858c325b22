//! Text of strangers in lines for people: a client id, a share name, a topic may hold whatever UTF-8 can.

use std::fmt::Write as _;

/// The text with everything escaped that a terminal or a log would not show as it is: control characters, so that nobody
/// writes a line of his own, and what turns the direction of writing or has no width, so that a line reads as it stands.
pub fn one_line(text: String) -> String {
    if !text.contains(is_hidden) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Control characters, line and paragraph separators, marks of direction, and characters without width.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}'
                | '\u{600}'..='\u{605}'
                | '\u{61C}'
                | '\u{6DD}'
                | '\u{70F}'
                | '\u{180E}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
                | '\u{FFF9}'..='\u{FFFB}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is text of every language as it was, and nothing left that makes a second line or hides one?
    #[test]
    fn only_what_is_shown_is_left() {
        for text in ["group alarms on a/b is behind", "Überwachung на 東京", ""] {
            assert_eq!(one_line(text.to_owned()), text);
        }
        for (text, shown) in [
            ("x\nnotice: forged", r"x\u{a}notice: forged"),
            ("\u{1b}[2Jgone", r"\u{1b}[2Jgone"),
            (
                "a\u{202e}b\u{200b}c\u{85}d\u{2028}e\u{feff}\u{ad}\u{e0041}",
                r"a\u{202e}b\u{200b}c\u{85}d\u{2028}e\u{feff}\u{ad}\u{e0041}",
            ),
        ] {
            assert_eq!(one_line(text.to_owned()), shown);
        }
    }
}
