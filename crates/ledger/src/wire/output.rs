//! Writing fields, each within its bound.

use super::varint;
use crate::Fault;

/// Appends a number.
#[inline]
pub(crate) fn put_number(value: u64, out: &mut Vec<u8>) {
    varint::put(value, out);
}

/// Appends a length and the bytes.
/// # Errors
/// There are more than `bytes_max`; nothing was written.
pub(crate) fn put_bytes(bytes: &[u8], bytes_max: usize, what: &'static str, out: &mut Vec<u8>) -> Result<(), Fault> {
    if bytes.len() > bytes_max {
        return Err(Fault::TooLong { what, bytes: bytes.len() as u64, bytes_max: bytes_max as u64 });
    }
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
    Ok(())
}

/// The same for a text, of at most what MQTT can carry.
pub(crate) fn put_text(text: &str, what: &'static str, out: &mut Vec<u8>) -> Result<(), Fault> {
    put_bytes(text.as_bytes(), crate::bounds::TEXT_BYTES_MAX, what, out)
}
