//! Segment files: their names, and how a new one comes to be.

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::os_error::is_exhausted;
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

/// Reads the opening record of a segment; also its length.
pub(crate) fn read_start(file: &dyn DiskFile, path: &Path) -> Result<(SegmentStart, u64), StoreError> {
    // Room for the most partitions that a stream may have.
    let mut bytes = vec![0; 32 << 10];
    let read = file.read_at(&mut bytes, 0).map_err(|error| StoreError::io("read", path, error))?;
    SegmentStart::decode(&bytes[..read]).map_err(|fault| StoreError::corrupt(path, 0, fault.to_string()))
}

/// Reserves `ample` bytes of a segment, or where there is less room the `bytes` that are needed; returns how many.
pub(crate) fn reserve(file: &dyn DiskFile, path: &Path, bytes: u64, ample: u64) -> Result<u64, StoreError> {
    let (reserved, result) = match file.allocate(ample) {
        Ok(_) => (ample, Ok(())),
        Err(_) => (bytes, file.allocate(bytes).map(drop)),
    };
    result.map_err(|error| StoreError::write("reserve space in", path, error))?;
    Ok(reserved)
}

/// A segment that was just made: empty behind its opening.
#[derive(Debug)]
pub(crate) struct NewSegment {
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
    pub start: SegmentStart,
    pub start_bytes: u64,
}

/// Makes a segment and reserves its space; `opening`: records that belong to its opening; `spare`: a file with reserved
/// space, and zeros, to make it of. It bears a draft's name until
/// its opening is synced, so a segment whose opening is unreadable was damaged, not torn.
///
/// # Errors
/// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`, `SyncFailed`: fatal.
pub(crate) fn create(
    disk: &dyn Disk,
    dir: &Path,
    start: SegmentStart,
    opening: &[u8],
    wanted_bytes: u64,
    spare: Option<&Path>,
) -> Result<NewSegment, StoreError> {
    let path = log_path(dir, start.sequence);
    let draft = path.with_extension("tmp");
    let made = draft_segment(disk, &draft, start, opening, wanted_bytes, spare).and_then(|made| {
        made.file.sync().map_err(|error| StoreError::sync("sync of a new segment", &draft, error))?;
        name(disk, dir, &draft, &path)?;
        Ok(NewSegment { path, ..made })
    });
    if made.is_err() {
        // What cannot be removed now is removed when the log is opened; the error that matters is the first one.
        let _ = disk.remove(&draft);
    }
    made
}

/// Gives a draft, which is synced, the name under which it counts.
///
/// # Errors
/// `Exhausted`: it has no name. `WriteFailed`, `SyncFailed`: fatal.
pub(crate) fn name(disk: &dyn Disk, dir: &Path, draft: &Path, path: &Path) -> Result<(), StoreError> {
    disk.rename(draft, path).map_err(|error| StoreError::write("name a new segment", path, error))?;
    disk.sync_dir(dir).map_err(|error| unsynced(disk, dir, path, error))
}

/// The folder's entries are not known to be durable. A folder that could not even be opened was not synced at all: then
/// the segment is taken back, because the one before it goes on.
fn unsynced(disk: &dyn Disk, dir: &Path, path: &Path, error: io::Error) -> StoreError {
    if is_exhausted(&error) && disk.remove(path).is_ok() {
        return StoreError::make("name a new segment", path, error);
    }
    StoreError::sync("sync of the folder", dir, error)
}

/// Makes the file of a segment under a draft's name and writes its opening, not synced yet.
///
/// # Errors
/// `Full`, `Exhausted`, `WriteFailed`.
pub(crate) fn draft_segment(
    disk: &dyn Disk,
    draft: &Path,
    start: SegmentStart,
    opening: &[u8],
    wanted_bytes: u64,
    spare: Option<&Path>,
) -> Result<NewSegment, StoreError> {
    let write = |error: io::Error| StoreError::write("make a new segment", draft, error);
    let make = |error: io::Error| StoreError::make("make a new segment", draft, error);
    let file = match spare {
        Some(spare) => disk.rename(spare, draft).and_then(|()| disk.open(draft, Access::Write)).map_err(make)?,
        None => disk.open(draft, Access::Create).map_err(make)?,
    };
    let mut first = vec![];
    start.encode(&mut first);
    let start_bytes = (first.len() + opening.len()) as u64;
    let bytes = wanted_bytes.max(start_bytes);
    let reserved = file.allocate(bytes).map_err(write)?;
    let start = SegmentStart { allocated_bytes: if reserved { bytes } else { 0 }, ..start };
    first.clear();
    start.encode(&mut first);
    file.write_at(&[IoSlice::new(&first), IoSlice::new(opening)], 0).map_err(write)?;
    Ok(NewSegment { file, path: draft.to_path_buf(), start, start_bytes })
}
