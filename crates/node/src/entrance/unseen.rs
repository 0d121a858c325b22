//! Names of users in which something stands that nobody sees: whoever types one as it looks is somebody else.

use std::fmt::Write as _;

use crate::audit::told;
use crate::one_line::is_hidden;

/// What of a name nobody sees, in words behind it; none: all of it shows.
pub fn unseen_in_name(name: &str) -> Option<&'static str> {
    Some(match () {
        () if name.starts_with(char::is_whitespace) => "begins with a space, which nobody sees",
        () if name.ends_with(char::is_whitespace) => "ends with a space, which nobody sees",
        () if name.contains(is_unseen) => "has a character that nobody sees, or one that looks like a space",
        () => return None,
    })
}

/// What to say of a users file with such names, behind its own: the first of them, and how many more there are.
pub(super) fn unseen_names<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut unseen = names.filter_map(|name| Some((name, unseen_in_name(name)?)));
    let (name, what) = unseen.next()?;
    let more = match unseen.count() {
        0 => String::new(),
        more => format!(" ({more} more like it)"),
    };
    let name = shown(&told(name));
    Some(format!("has the user \"{name}\", whose name {what}: who types it as it looks is not that user{more}"))
}

/// Beside what a line must not hold: letters and signs without a shape, and spaces other than the plain one.
fn is_unseen(character: char) -> bool {
    is_hidden(character)
        || (character != ' ' && character.is_whitespace())
        || matches!(
            character,
            '\u{34F}'
                | '\u{115F}'
                | '\u{1160}'
                | '\u{17B4}'
                | '\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{FE00}'..='\u{FE0F}'
                | '\u{FFA0}'
        )
}

fn shown(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        if is_unseen(character) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are spaces at the ends and all that has no shape found, and is no name of any language taken for one?
    #[test]
    fn what_nobody_sees_is_found() {
        for name in [
            " alice",
            "\u{a0}alice",
            "alice ",
            "alice\t",
            "al\u{a0}ice",
            "al\u{200b}ice",
            "alice\u{3164}",
            "\u{feff}a",
            "a\u{fe0f}",
            "\u{2800}",
        ] {
            assert!(unseen_in_name(name).is_some(), "{name:?}");
        }
        for name in ["alice", "a b", "ü mlaut", "東京", "नमस्ते", "'", "a/b+#"] {
            assert_eq!(unseen_in_name(name), None, "{name:?}");
        }
    }

    /// Is the first named so that it is seen, and how many more there are?
    #[test]
    fn one_line_tells_of_all() {
        assert_eq!(unseen_names(["alice", "bob"].into_iter()), None);
        let told = unseen_names(["alice", "b\u{3164} ", "c ", " d"].into_iter()).unwrap();
        assert!(told.starts_with("has the user \"b\\u{3164} \", whose name ends with a space"), "{told}");
        assert!(told.ends_with("(2 more like it)"), "{told}");
    }
}
