//! What a crash left of the segment being written: its records up to the last whole commit, and nothing behind.

use std::io::IoSlice;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile};
use crate::error::StoreError;
use crate::notice::Notice;
use crate::record::SegmentStart;
use crate::scan::{Visitor, Walked, search_tail, walk};

/// The active segment, ready to be read and written on.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub file: Arc<dyn DiskFile>,
    /// Reserved; 0 where space cannot be.
    pub allocated_bytes: u64,
    /// Behind the last whole commit.
    pub end: u64,
    pub torn: Option<Notice>,
}

/// Walks the active segment and tells `visitor` of it. Damage below a position that some later commit record says was
/// synced is `Corrupt`; anything else behind the last whole commit was never synced, and is overwritten with zeros so
/// that no later recovery takes it for something. Everything left is synced before anyone reads it.
///
/// # Errors
/// `Corrupt`, `Io`, `WriteFailed`, `SyncFailed`.
pub(crate) fn recover(
    disk: &dyn Disk,
    path: &Path,
    start: &SegmentStart,
    start_bytes: u64,
    visitor: &mut impl Visitor,
) -> Result<Recovered, StoreError> {
    let file = disk.open(path, Access::Write).map_err(|error| StoreError::io("open", path, error))?;
    let bytes = file.bytes().map_err(|error| StoreError::io("measure", path, error))?;
    if bytes < start.allocated_bytes {
        let what = format!("the file had {} bytes reserved and ends here", start.allocated_bytes);
        return Err(StoreError::corrupt(path, bytes, what));
    }
    let walked = Walked { file: &*file, path, start, start_bytes, limit: bytes };
    let walk = walk(walked, visitor)?;
    let torn = match &walk.stopped {
        None => None,
        Some((at, fault)) => {
            let tail = search_tail(walked, walk.end)?;
            if *at < tail.synced {
                return Err(StoreError::corrupt(path, *at, fault.to_string()));
            }
            wipe(&*file, path, walk.end, tail.dirty_end)?;
            let torn = Notice::TornTail { file: path.to_path_buf(), at: walk.end, bytes: tail.dirty_end - walk.end };
            (tail.dirty_end > walk.end).then_some(torn)
        }
    };
    file.sync().map_err(|error| StoreError::sync("sync", path, error))?;
    // A segment may have grown: it is longer only where that was reserved too.
    let allocated_bytes = if start.allocated_bytes > 0 { bytes } else { 0 };
    Ok(Recovered { file, allocated_bytes, end: walk.end, torn })
}

fn wipe(file: &dyn DiskFile, path: &Path, from: u64, until: u64) -> Result<(), StoreError> {
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    while at < until {
        let bytes = (until - at).min(zeros.len() as u64) as usize;
        file.write_at(&[IoSlice::new(&zeros[..bytes])], at)
            .map_err(|error| StoreError::write("wipe the torn tail of", path, error))?;
        at += bytes as u64;
    }
    Ok(())
}
