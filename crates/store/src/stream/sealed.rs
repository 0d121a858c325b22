//! Sealed segments as readers use them: opened when needed, the last few kept open with their index.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::segment_file::{index_path, log_path};
use super::state::Stream;
use crate::disk::{self, Access, DiskFile};
use crate::error::StoreError;
use crate::index::{Sidecar, SparseIndex};
use crate::notice::{Notice, StoreCounters};
use crate::record::SegmentStart;
use crate::scan::{Walked, scan};
use crate::shared::Shared;

/// An open sealed segment. Whoever holds it can read on when retention deletes the file.
#[derive(Debug)]
pub(crate) struct OpenSegment {
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
    pub salt: u32,
    pub start_bytes: u64,
    pub index: SparseIndex,
}

/// The last few that were read: readers of a stream tend to be at a few places.
#[derive(Debug, Default)]
pub(crate) struct SealedCache {
    recent: Mutex<VecDeque<(u64, Arc<OpenSegment>)>>,
}

impl SealedCache {
    const SEGMENTS_MAX: usize = 16;

    /// The segment, opened now or before. Loading happens under the lock: two readers never rebuild one index at once.
    ///
    /// # Errors
    /// `Io` (also when retention deleted it), `Corrupt`.
    pub(crate) fn get(
        &self,
        shared: &Shared,
        stream: &Stream,
        sequence: u64,
        end: u64,
    ) -> Result<Arc<OpenSegment>, StoreError> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent.iter().position(|(number, _)| *number == sequence);
        let entry = match known.and_then(|place| recent.remove(place)) {
            Some(entry) => entry,
            None => (sequence, Arc::new(load(shared, stream, sequence, end)?)),
        };
        let segment = entry.1.clone();
        recent.truncate(Self::SEGMENTS_MAX - 1);
        recent.push_front(entry);
        Ok(segment)
    }

    /// Closes a segment that was deleted, so that its space is freed as soon as no read uses it.
    pub(crate) fn forget(&self, sequence: u64) {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != sequence);
    }
}

fn load(shared: &Shared, stream: &Stream, sequence: u64, end: u64) -> Result<OpenSegment, StoreError> {
    let path = log_path(&stream.dir, sequence);
    let file = shared.disk.open(&path, Access::Read).map_err(|error| StoreError::io("open", &path, error))?;
    let (start, start_bytes) = read_start(&*file, &path)?;
    let walked = Walked { file: &*file, path: &path, start: &start, start_bytes, limit: end };
    let index = load_index(shared, stream, walked)?;
    let salt = start.salt;
    Ok(OpenSegment { file, path, salt, start_bytes, index })
}

/// Reads the opening record of a segment; also its length.
pub(crate) fn read_start(file: &dyn DiskFile, path: &std::path::Path) -> Result<(SegmentStart, u64), StoreError> {
    // Room for the most partitions that a stream may have.
    let mut bytes = vec![0; 32 << 10];
    let read = file.read_at(&mut bytes, 0).map_err(|error| StoreError::io("read", path, error))?;
    SegmentStart::decode(&bytes[..read]).map_err(|fault| StoreError::corrupt(path, 0, fault.to_string()))
}

/// The index from its file; when that is missing or damaged, from the segment, and the file is written again. Damage in
/// the segment ends the index there: whoever reads on meets it and hears of it.
fn load_index(shared: &Shared, stream: &Stream, walked: Walked<'_>) -> Result<SparseIndex, StoreError> {
    let file = index_path(&stream.dir, walked.start.sequence);
    let sidecar = Sidecar { sequence: walked.start.sequence, salt: walked.start.salt, end: walked.limit };
    let why = match disk::read_whole(&*shared.disk, &file, walked.limit) {
        Ok(bytes) => match sidecar.decode(&bytes, stream.partitions as usize) {
            Ok(index) => return Ok(index),
            Err(fault) => fault.to_string(),
        },
        Err(error) => error.to_string(),
    };
    let found = scan(walked)?;
    StoreCounters::add(&shared.counters.indexes_rebuilt, 1);
    shared.notice(Notice::IndexRebuilt { file: file.clone(), why });
    if found.stopped.is_none() {
        write_index(shared, &file, sidecar, &found.index);
    }
    Ok(found.index)
}

/// Writes a sidecar. It only saves time, so a failure is told and otherwise without consequence.
pub(crate) fn write_index(shared: &Shared, file: &std::path::Path, sidecar: Sidecar, index: &SparseIndex) {
    if let Err(error) = disk::replace(&*shared.disk, file, &sidecar.encode(index)) {
        shared.notice(Notice::Postponed { file: file.to_path_buf(), why: error.to_string() });
    }
}
