//! Names that rules and groups go by.

use lapwing_node::is_hidden;

use super::web::is_blank;

const STREAM_CHARACTERS_MAX: usize = 64;
const GROUP_BYTES_MAX: usize = 256;

/// A name that is one segment of a URL and one folder on any file system.
///
/// # Errors
/// It has other characters, is empty or too long.
pub(super) fn stream_name(text: &str) -> Result<String, &'static str> {
    let is_one = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && !text.contains('*');
    is_one
        .then(|| stream_pattern(text).ok())
        .flatten()
        .ok_or("1 to 64 of letters, digits, '.', '_' and '-', starting with a letter or digit")
}

/// A stream's name with `*` for any characters.
///
/// # Errors
/// It has characters that no stream's name has.
pub(super) fn stream_pattern(text: &str) -> Result<String, &'static str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._*-".contains(&byte);
    let is_one = (1..=STREAM_CHARACTERS_MAX).contains(&text.len()) && text.bytes().all(is_part);
    is_one
        .then(|| text.to_owned())
        .ok_or("the name of a stream, with * for any characters, as in \"readings\" or \"*\"")
}

/// A share name, or a pattern of such with `*` for any characters.
///
/// # Errors
/// It is empty, too long, or has what no share name has, or nobody sees.
pub(super) fn group_name(text: &str) -> Result<String, &'static str> {
    let is_one = (1..=GROUP_BYTES_MAX).contains(&text.len())
        && !text.contains(['/', '+', '#'])
        && !text.contains(|c| is_hidden(c) || (is_blank(c) && c != ' ') || is_private(c));
    is_one
        .then(|| text.to_owned())
        .ok_or("1 to 256 bytes without \"/\", \"+\" and \"#\", * for any characters: \"alarms\", \"alarm-*\"")
}

/// Characters that each program shows otherwise, or not at all.
fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}') || u32::from(c) & 0xFFFE == 0xFFFE
}
