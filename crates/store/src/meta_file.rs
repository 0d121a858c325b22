//! The file that says what a folder of segments is of.
//!
//! It is made together with the first segment, and named when that is there: a folder without segments that has it has lost
//! them. Until then it is a draft, by which a start that a crash has cut short is told from damage.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};

use crate::disk::{self, Access, Disk};
use crate::error::StoreError;
use crate::record::StreamMeta;

/// More is not read of it.
const BYTES_MAX: u64 = 4096;
/// The name of the draft.
pub(crate) const DRAFT: &str = "meta.tmp";

/// Where it lies.
pub(crate) fn meta_path(dir: &Path) -> PathBuf {
    dir.join("meta")
}

/// Writes it as a draft, which is durable when this returns. Then the first segment is made, and [`name`] called.
///
/// # Errors
/// `Full`, and the fatal ones.
pub(crate) fn draft(disk: &dyn Disk, dir: &Path, meta: &StreamMeta) -> Result<(), StoreError> {
    let file = dir.join(DRAFT);
    let write = |error| StoreError::write("write", &file, error);
    let handle = disk.open(&file, Access::Create).map_err(write)?;
    handle.write_at(&[IoSlice::new(&meta.encode())], 0).map_err(write)?;
    handle.sync().map_err(|error| StoreError::sync("sync", &file, error))?;
    disk::sync_names(disk, dir)
}

/// The draft becomes the file.
///
/// # Errors
/// `WriteFailed`, `SyncFailed`.
pub(crate) fn name(disk: &dyn Disk, dir: &Path) -> Result<(), StoreError> {
    let file = meta_path(dir);
    disk.rename(&dir.join(DRAFT), &file).map_err(|error| StoreError::write("name", &file, error))?;
    disk::sync_names(disk, dir)
}

/// Whether a crash came between the first segment and the name of this file; `names`: all that lies in a folder with segments.
pub(crate) fn is_cut_short(names: &[String]) -> bool {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    has(DRAFT) && !has("meta")
}

/// Reads it where there are segments, so that it must be there.
///
/// # Errors
/// `Corrupt`: it is missing, or says nothing. `WrongKind`, `Io`.
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
