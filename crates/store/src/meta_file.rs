//! The file that says what a folder of segments is of.

use std::io;
use std::path::Path;

use crate::disk::{self, Disk};
use crate::error::StoreError;
use crate::record::StreamMeta;

/// More is not read of it.
const BYTES_MAX: u64 = 4096;

/// Reads it where there are segments, so that it must be there.
///
/// # Errors
/// `Corrupt`: it is missing, or says nothing. `Io`.
pub(crate) fn read_meta(disk: &dyn Disk, file: &Path) -> Result<StreamMeta, StoreError> {
    let bytes = match disk::read_whole(disk, file, BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::corrupt(file, 0, "the file is missing while segments are there"));
        }
        Err(error) => return Err(StoreError::io("read", file, error)),
    };
    StreamMeta::decode(&bytes).map_err(|fault| StoreError::corrupt(file, 0, fault.to_string()))
}
