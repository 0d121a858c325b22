//! The segment that is written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use super::data_group::{Layout, OWN, PLACES};
use super::index::SegmentIndex;
use super::manifest::Listed;
use super::tail::Tail;
use crate::clock::now_us;
use crate::disk::{Disk, DiskFile};
use crate::error::StoreError;
use crate::info::StreamUuid;
use crate::record::{LIFETIME_JOURNAL, PartitionStart, SegmentStart};
use crate::segment_file;

/// What of it is on disk.
#[derive(Debug)]
pub(crate) struct Active {
    pub sequence: u64,
    pub layout: Layout,
    pub file: Arc<dyn DiskFile>,
    pub path: Arc<Path>,
    /// Where its first commit lies.
    pub start_bytes: u64,
    /// Behind the last synced record.
    pub end: u64,
    pub created_at_us: i64,
    /// Append time of its last record.
    pub last_at_us: Option<i64>,
    pub index: SegmentIndex,
}

/// What a new segment continues.
#[derive(Debug)]
pub(crate) struct Before<'b> {
    pub uuid: StreamUuid,
    pub salt: u32,
    /// Number of the new segment.
    pub sequence: u64,
    pub layout: Layout,
    /// Where the active segment before it ends; 0 when there is none.
    pub previous_end: u64,
    pub previous_last_at_us: i64,
    pub groups: &'b [Tail],
    /// The sealed segments, the one before it included.
    pub segments: BTreeMap<u64, Listed>,
}

impl Before<'_> {
    fn start(&self, created_at_us: i64) -> SegmentStart {
        let first = |place: usize, tail: &Tail| if place == OWN as usize { 0 } else { tail.next() };
        let partition = |(place, tail)| PartitionStart { first_offset: first(place, tail), previous_bytes: 0 };
        debug_assert_eq!(self.groups.len(), PLACES);
        SegmentStart {
            lifetime: LIFETIME_JOURNAL,
            uuid: self.uuid,
            sequence: self.sequence,
            // One salt for the whole journal: records that wait for a new segment keep their checksums.
            salt: self.salt,
            allocated_bytes: 0,
            created_at_us,
            previous_end: self.previous_end,
            previous_last_at_us: self.previous_last_at_us,
            partitions: self.groups[..self.layout.started()].iter().enumerate().map(partition).collect(),
        }
    }
}

/// Makes the segment with room for `wanted_bytes`, of a `spare` file if there is one; also how many bytes were reserved.
///
/// # Errors
/// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`, `SyncFailed`: fatal.
pub(crate) fn create(
    disk: &dyn Disk,
    dir: &Path,
    before: Before<'_>,
    wanted_bytes: u64,
    spare: Option<&Path>,
) -> Result<(Active, u64), StoreError> {
    let created_at_us = now_us();
    let start = before.start(created_at_us);
    let layout = before.layout;
    let checkpoint = Checkpoint { layout, groups: before.groups.to_vec(), segments: before.segments };
    let opening = checkpoint.encode(created_at_us, start.salt);
    let new = segment_file::create(disk, dir, start, &opening, wanted_bytes + opening.len() as u64, spare)?;
    let active = Active {
        sequence: new.start.sequence,
        layout,
        file: new.file,
        path: new.path.into(),
        start_bytes: new.start_bytes,
        end: new.start_bytes,
        created_at_us,
        last_at_us: None,
        index: SegmentIndex::new(),
    };
    Ok((active, new.start.allocated_bytes))
}
