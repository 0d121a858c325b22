//! Random bytes from the system, for identities and salts.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::StoreError;

/// `N` bytes that nobody can guess.
///
/// # Errors
/// `Io`.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0; N];
    let read = File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| StoreError::io("read", source, error))?;
    Ok(bytes)
}
