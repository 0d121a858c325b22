//! Sealed segments as readers use them: opened when needed, the last few kept open with their index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::scan::scan;
use super::state::Stream;
use crate::disk::{self, Access, DiskFile};
use crate::error::StoreError;
use crate::index::{Sidecar, SparseIndex};
use crate::notice::{Notice, StoreCounters};
use crate::recent::Recent;
use crate::scan::Walked;
use crate::segment_file::{index_path, log_path, read_start};
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

/// The last few that were read.
pub(crate) type SealedCache = Recent<OpenSegment>;

/// How many are kept open.
pub(crate) const OPEN_SEGMENTS_MAX: usize = 16;

/// The segment, opened now or before.
///
/// # Errors
/// `Io` (also when retention deleted it), `Corrupt`.
pub(crate) fn open(shared: &Shared, stream: &Stream, sequence: u64, end: u64) -> Result<Arc<OpenSegment>, StoreError> {
    stream.sealed_cache.get(sequence, || load(shared, stream, sequence, end))
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
    let (found, end) = scan(walked)?;
    StoreCounters::add(&shared.counters.indexes_rebuilt, 1);
    shared.notice(Notice::IndexRebuilt { file: file.clone(), why });
    if end.stopped.is_none() {
        write_index(shared, &file, &sidecar.encode(&found.index));
    }
    Ok(found.index)
}

/// Writes a sidecar. It only saves time, so a failure is told and otherwise without consequence.
pub(crate) fn write_index(shared: &Shared, file: &Path, encoded: &[u8]) {
    if let Err(error) = disk::replace(&*shared.disk, file, encoded) {
        shared.notice(Notice::Postponed { file: file.to_path_buf(), why: error.to_string() });
    }
}
