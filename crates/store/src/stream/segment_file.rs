//! Segment files: their names, and how a new one comes to be.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile};
use crate::error::{StoreError, is_exhausted};
use crate::record::SegmentStart;

/// Where the segment of this number lies.
pub(crate) fn log_path(dir: &Path, sequence: u64) -> PathBuf {
    dir.join(format!("{sequence:020}.log"))
}

/// Where its index lies.
pub(crate) fn index_path(dir: &Path, sequence: u64) -> PathBuf {
    dir.join(format!("{sequence:020}.idx"))
}

/// The number in a file name with this ending.
pub(crate) fn sequence_of(name: &str, ending: &str) -> Option<u64> {
    let digits = name.strip_suffix(ending)?;
    (digits.len() == 20).then(|| digits.parse().ok()).flatten()
}

/// A segment that was just made: durable, empty behind its opening record.
#[derive(Debug)]
pub(crate) struct NewSegment {
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
    pub start: SegmentStart,
    pub start_bytes: u64,
}

/// Makes a segment and reserves its space. It bears a draft's name until its opening record is synced, so a segment
/// whose opening record is unreadable was damaged, not torn.
///
/// # Errors
/// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`, `SyncFailed`: fatal.
pub(crate) fn create(
    disk: &dyn Disk,
    dir: &Path,
    start: SegmentStart,
    wanted_bytes: u64,
) -> Result<NewSegment, StoreError> {
    let path = log_path(dir, start.sequence);
    let draft = path.with_extension("tmp");
    let made = draft_segment(disk, &draft, start, wanted_bytes).and_then(|(file, start, start_bytes)| {
        disk.rename(&draft, &path).map_err(|error| StoreError::write("name a new segment", &path, error))?;
        disk.sync_dir(dir).map_err(|error| unsynced(disk, dir, &path, error))?;
        Ok(NewSegment { file, path, start, start_bytes })
    });
    if made.is_err() {
        // What cannot be removed now is removed when the log is opened; the error that matters is the first one.
        let _ = disk.remove(&draft);
    }
    made
}

/// The folder's entries are not known to be durable. A folder that could not even be opened was not synced at all: then
/// the segment is taken back, because the one before it goes on.
fn unsynced(disk: &dyn Disk, dir: &Path, path: &Path, error: io::Error) -> StoreError {
    if is_exhausted(&error) && disk.remove(path).is_ok() {
        return StoreError::make("name a new segment", path, error);
    }
    StoreError::sync("sync of the folder", dir, error)
}

type Draft = (Arc<dyn DiskFile>, SegmentStart, u64);

fn draft_segment(disk: &dyn Disk, draft: &Path, start: SegmentStart, bytes: u64) -> Result<Draft, StoreError> {
    let write = |error: io::Error| StoreError::write("make a new segment", draft, error);
    let make = |error: io::Error| StoreError::make("make a new segment", draft, error);
    let file = disk.open(draft, Access::Create).map_err(make)?;
    let mut opening = vec![];
    start.encode(&mut opening);
    let start_bytes = opening.len() as u64;
    let reserved = file.allocate(bytes.max(start_bytes)).map_err(write)?;
    let start = SegmentStart { allocated_bytes: if reserved { bytes.max(start_bytes) } else { 0 }, ..start };
    opening.clear();
    start.encode(&mut opening);
    file.write_at(&[IoSlice::new(&opening)], 0).map_err(write)?;
    file.sync().map_err(|error| StoreError::sync("sync of a new segment", draft, error))?;
    Ok((file, start, start_bytes))
}
