//! A segment file that waits for its turn: its space is reserved, it has no number yet.
//!
//! It is made ahead of time, so that a new segment costs no allocation while somebody waits for a commit, and so that a
//! disk that fills up still takes what frees it: acknowledgements, purges, the records of compaction.

use std::path::{Path, PathBuf};

use crate::disk::{Access, Disk};
use crate::error::StoreError;

/// Where it lies.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("spare")
}

/// Whether one of at least this size is there; a smaller one is removed.
pub(crate) fn find(disk: &dyn Disk, dir: &Path, bytes: u64) -> bool {
    let file = path(dir);
    let found = disk.open(&file, Access::Read).and_then(|handle| handle.bytes());
    match found {
        Ok(found) if found >= bytes => true,
        Ok(_) => {
            // It is made anew; what cannot be removed is written over then.
            let _ = disk.remove(&file);
            false
        }
        Err(_) => false,
    }
}

/// Makes one of this size; false where space cannot be reserved.
///
/// # Errors
/// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`.
pub(crate) fn make(disk: &dyn Disk, dir: &Path, bytes: u64) -> Result<bool, StoreError> {
    let file = path(dir);
    let make = |error| StoreError::make("make a spare segment", &file, error);
    let reserved = disk.open(&file, Access::Create).map_err(make)?.allocate(bytes);
    if !matches!(reserved, Ok(true)) {
        // What cannot be removed is written over at the next try.
        let _ = disk.remove(&file);
    }
    reserved.map_err(|error| StoreError::write("reserve space in", &file, error))
}
