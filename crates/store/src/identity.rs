//! Identities and salts, made once and kept on disk.

use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::random::random_bytes;

/// The identity of something new.
///
/// # Errors
/// `Io`.
pub(crate) fn new_uuid() -> Result<StreamUuid, StoreError> {
    let mut bytes: [u8; 16] = random_bytes()?;
    bytes[6] = bytes[6] & 0x0F | 0x40; // Version 4 and variant of RFC 9562.
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Ok(StreamUuid(bytes))
}

/// Never 0: that is the salt of records outside segments.
///
/// # Errors
/// `Io`.
pub(crate) fn new_salt() -> Result<u32, StoreError> {
    Ok(u32::from_le_bytes(random_bytes()?).max(1))
}
