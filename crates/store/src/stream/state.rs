//! What the writer and the readers of a stream share, behind one lock that is held for moments.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::named_readers::NamedReaders;
use super::sealed::{OPEN_SEGMENTS_MAX, SealedCache};
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::index::SparseIndex;
use crate::info::{PartitionInfo, StreamIndex, StreamInfo, StreamUuid};

/// One stream. Everything but `state` and `sealed_cache` never changes.
#[derive(Debug)]
pub(crate) struct Stream {
    pub index: StreamIndex,
    pub name: String,
    pub dir: PathBuf,
    pub uuid: StreamUuid,
    pub partitions: u32,
    state: Mutex<State>,
    pub sealed_cache: SealedCache,
}

/// What readers may see: only what is synced. Changed by the writer, except `readers`.
#[derive(Debug)]
pub(crate) struct State {
    /// Oldest first; sequences have no gaps.
    pub sealed: VecDeque<Sealed>,
    pub active: Active,
    pub readers: NamedReaders,
}

/// A segment that is written no more.
#[derive(Debug, Clone)]
pub(crate) struct Sealed {
    pub sequence: u64,
    /// Behind its last record.
    pub end: u64,
    pub last_at_us: i64,
    /// Per partition the first offset that it may hold.
    pub first: Box<[u64]>,
    /// Per partition the bytes of its records.
    pub bytes: Box<[u64]>,
}

/// The segment that is written.
#[derive(Debug)]
pub(crate) struct Active {
    pub sequence: u64,
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
    pub salt: u32,
    /// Where its first commit lies.
    pub start_bytes: u64,
    pub created_at_us: i64,
    /// Behind the last synced record.
    pub end: u64,
    /// Append times of its first and last record.
    pub times_us: Option<(i64, i64)>,
    pub first: Box<[u64]>,
    pub next: Vec<u64>,
    pub bytes: Vec<u64>,
    pub index: SparseIndex,
}

/// Where an offset is to be looked for.
#[derive(Debug)]
pub(crate) enum Place {
    /// In the active segment, walking `from..end` of the file.
    Active { file: Arc<dyn DiskFile>, path: PathBuf, salt: u32, from: u64, end: u64 },
    /// In this sealed one.
    Sealed { sequence: u64, end: u64 },
}

impl Stream {
    pub(crate) fn new(
        index: StreamIndex,
        name: String,
        dir: PathBuf,
        uuid: StreamUuid,
        partitions: u32,
        state: State,
    ) -> Self {
        Self {
            index,
            name,
            dir,
            uuid,
            partitions,
            state: Mutex::new(state),
            sealed_cache: SealedCache::new(OPEN_SEGMENTS_MAX),
        }
    }

    /// The shared state. A thread that panicked under the lock left whole values behind: each update is a few moves.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error for a partition that is not there.
    pub(crate) fn no_partition(&self, partition: u32) -> StoreError {
        StoreError::NoPartition { stream: self.name.clone(), partition, partitions: self.partitions }
    }

    pub(crate) fn info(&self) -> StreamInfo {
        let state = self.state();
        let partitions = (0..self.partitions).map(|partition| state.partition(partition)).collect();
        StreamInfo {
            index: self.index,
            name: self.name.clone(),
            uuid: self.uuid,
            segments: state.sealed.len() as u64 + 1,
            bytes: state.active.end + state.sealed.iter().map(|segment| segment.end).sum::<u64>(),
            partitions,
            readers: state.readers.list(),
        }
    }
}

impl State {
    /// The first offset kept.
    pub(crate) fn first_offset(&self, partition: u32) -> u64 {
        self.sealed.front().map_or(&self.active.first, |segment| &segment.first)[partition as usize]
    }

    fn partition(&self, partition: u32) -> PartitionInfo {
        let place = partition as usize;
        let sealed_bytes: u64 = self.sealed.iter().map(|segment| segment.bytes[place]).sum();
        PartitionInfo {
            partition,
            first_offset: self.first_offset(partition),
            next_offset: self.active.next[place],
            bytes: sealed_bytes + self.active.bytes[place],
        }
    }

    /// Where `offset` lies; it is at or above the first and below the next offset.
    pub(crate) fn locate(&self, partition: u32, offset: u64) -> Place {
        let place = partition as usize;
        let active = &self.active;
        if offset < active.first[place] {
            let behind = self.sealed.partition_point(|segment| segment.first[place] <= offset);
            if let Some(segment) = behind.checked_sub(1).and_then(|place| self.sealed.get(place)) {
                return Place::Sealed { sequence: segment.sequence, end: segment.end };
            }
        }
        let from = active.index.seek(partition, offset).map_or(active.start_bytes, |entry| entry.position);
        let (file, path) = (active.file.clone(), active.path.clone());
        Place::Active { file, path, salt: active.salt, from, end: active.end }
    }

    /// Per partition the offset behind the oldest sealed segment: the first one of the segment that follows.
    pub(crate) fn second_first(&self) -> &[u64] {
        self.sealed.get(1).map_or(&self.active.first, |segment| &segment.first)
    }
}
