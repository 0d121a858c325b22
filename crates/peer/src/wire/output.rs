//! Writing fields, each within its bound.

use crate::EncodeError;
use crate::bounds::NUMBER_MAX;

/// # Errors
/// There is more than `max` of it.
pub(crate) fn check_len(len: usize, max: usize, what: &'static str) -> Result<(), EncodeError> {
    if len <= max { Ok(()) } else { Err(EncodeError::TooLong { what, len, max }) }
}

/// # Errors
/// No log comes to one of these.
pub(crate) fn check_number(numbers: &[u64]) -> Result<(), EncodeError> {
    match numbers.iter().all(|number| *number <= NUMBER_MAX) {
        true => Ok(()),
        false => Err(EncodeError::Impossible("a number that no log comes to")),
    }
}

/// Appends bytes that nobody uses yet.
pub(crate) fn put_zeros<const N: usize>(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0; N]);
}

/// Appends a length of two bytes and a text of visible ASCII and spaces.
/// # Errors
/// It is longer than `bytes_max`, or another text; nothing was written.
pub(crate) fn put_text(text: &str, bytes_max: usize, what: &'static str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    check_len(text.len(), bytes_max, what)?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Err(EncodeError::Impossible("a text that is not visible ASCII"));
    }
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// The same for a text without spaces.
/// # Errors
/// As [`put_text`].
pub(crate) fn put_short_text(
    text: &str,
    bytes_max: usize,
    what: &'static str,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    if text.contains(' ') {
        return Err(EncodeError::Impossible("a name or address with a space"));
    }
    put_text(text, bytes_max, what, out)
}
