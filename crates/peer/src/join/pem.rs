//! Texts of several lines: certificates, keys and requests in PEM.

use crate::wire::{Input, check_len};
use crate::{EncodeError, Fault};

fn is_good(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' ' || byte == b'\n' || byte == b'\r'
}

/// Appends a length of two bytes and a text of visible ASCII, spaces and ends of lines.
/// # Errors
/// It is longer than `bytes_max`, or another text; nothing was written.
pub(super) fn put_pem(text: &str, bytes_max: usize, what: &'static str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    check_len(text.len(), bytes_max, what)?;
    if !text.bytes().all(is_good) {
        return Err(EncodeError::Impossible("a text in PEM that is not visible ASCII"));
    }
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Reads one. Whether it is PEM is for who uses it to say.
pub(super) fn take_pem<'a>(input: &mut Input<'a>, bytes_max: usize, what: &'static str) -> Result<&'a str, Fault> {
    let len = input.len(bytes_max, what)?;
    let here = *input;
    let bytes = input.bytes(len, what)?;
    let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.iter().copied().all(is_good));
    text.ok_or(here.malformed(what))
}
