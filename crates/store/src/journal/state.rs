//! What the writer and the readers of the journal share, behind one lock that is held for moments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::active::Active;
use super::counters::JournalCounters;
use super::info::JournalInfo;
use super::manifest::Listed;
use super::map::EntryMap;
use super::sealed::OpenSegment;
use super::tail::Tail;
use crate::disk::{Disk, DiskFile};
use crate::info::StreamUuid;
use crate::notice::{Notice, Notices};
use crate::recent::Recent;
use crate::record::LIFETIME_KEPT;
use crate::segment_file::log_path;

/// The open journal. Everything but `state`, `next_sequence`, `sealed`, `counters` and `notices` never changes.
#[derive(Debug)]
pub(crate) struct Shared {
    pub disk: Arc<dyn Disk>,
    pub dir: PathBuf,
    pub uuid: StreamUuid,
    pub salt: u32,
    state: Mutex<State>,
    /// The number that the next segment gets, whoever makes one.
    next_sequence: AtomicU64,
    /// Sealed segments that were read lately.
    pub sealed: Recent<OpenSegment>,
    pub counters: JournalCounters,
    pub notices: Notices,
}

/// What readers may see: only what is synced. Changed by the writer alone.
#[derive(Debug)]
pub(crate) struct State {
    /// How each group stands on disk.
    pub groups: Vec<Tail>,
    pub map: EntryMap,
    pub active: Active,
    /// By sequence.
    pub sealed: BTreeMap<u64, Listed>,
}

/// Where a segment is read.
#[derive(Debug)]
pub(crate) struct Place {
    pub file: Arc<dyn DiskFile>,
    pub path: Arc<Path>,
    /// Where to begin, and behind the last record.
    pub from: u64,
    pub end: u64,
    /// The last index of the stretch.
    pub last: u64,
    /// No index is missing in the stretch.
    pub is_dense: bool,
    /// The segment, when it is sealed.
    pub segment: Option<Arc<OpenSegment>>,
}

impl Shared {
    /// Segments kept open for readers, each with its marks in memory: some 100 KiB.
    const OPEN_SEGMENTS_MAX: usize = 64;

    pub(crate) fn new(disk: Arc<dyn Disk>, dir: PathBuf, uuid: StreamUuid, salt: u32, state: State) -> Self {
        let last = state.sealed.keys().next_back().copied().unwrap_or(0).max(state.active.sequence);
        let next_sequence = AtomicU64::new(last + 1);
        let sealed = Recent::new(Self::OPEN_SEGMENTS_MAX);
        let (counters, notices) = (JournalCounters::default(), Notices::default());
        Self { disk, dir, uuid, salt, state: Mutex::new(state), next_sequence, sealed, counters, notices }
    }

    /// The shared state. A thread that panicked under the lock left whole values behind: each update is a few moves.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no segment had. What was not made under it leaves a gap.
    pub(crate) fn take_sequence(&self) -> u64 {
        self.next_sequence.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn notice(&self, notice: Notice) {
        if self.notices.push(notice) {
            JournalCounters::add(&self.counters.notices_dropped, 1);
        }
    }
}

/// Where a segment lies: segments of kept entries have an ending of their own.
pub(crate) fn segment_path(dir: &Path, sequence: u64, lifetime: u8) -> PathBuf {
    match lifetime {
        LIFETIME_KEPT => log_path(dir, sequence).with_extension("kept"),
        _ => log_path(dir, sequence),
    }
}

impl State {
    pub(crate) fn info(&self) -> JournalInfo {
        let kept = || self.sealed.values().filter(|listed| listed.lifetime == LIFETIME_KEPT);
        let bytes: u64 = self.sealed.values().map(|listed| listed.end).sum();
        JournalInfo {
            segments: (self.sealed.len() - kept().count()) as u64 + 1,
            kept_segments: kept().count() as u64,
            bytes: bytes + self.active.end,
            kept_bytes: kept().map(|listed| listed.end).sum(),
        }
    }

    /// Where in the active segment an entry that it holds is found.
    pub(crate) fn place_in_active(&self, group: usize, index: u64) -> Option<Place> {
        let active = &self.active;
        let (stretch, from) = active.index.seek(group, index)?;
        let (file, path) = (active.file.clone(), active.path.clone());
        Some(Place { file, path, from, end: active.end, last: stretch.last, is_dense: true, segment: None })
    }
}
