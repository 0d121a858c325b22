//! What the log thread and the shards know of each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::pulse::Pulse;

/// What the log thread tells everyone; written by it alone.
pub(crate) struct LogShared {
    pub(super) committed: Vec<AtomicU64>,
    /// Per shard the last LSN in a batch that it has closed; written by the shard.
    closed: Vec<AtomicU64>,
    /// Per shard the last LSN that it ever gave; written by the shard when it ends.
    given: Vec<AtomicU64>,
    pub(super) full: AtomicBool,
    /// There is still room, but for what gives room back alone.
    pub(super) low: AtomicBool,
    /// The next segment is late: what comes has to wait for it.
    pub(super) late: AtomicBool,
    pub(super) stop: AtomicBool,
    /// How long the thread has been at what it does.
    pub(crate) pulse: Pulse,
    /// Bytes of all shards on their way to the disk; each adds its own, the thread takes away what is durable.
    under_way: AtomicU64,
    /// With so many under way nobody should add to them: they have to find room when the disk turns out to be full. Written by
    /// the thread.
    under_way_max: AtomicU64,
    /// Bytes with which one shard sends its publishers away.
    lane_bytes: u64,
}

/// What may be on its way to the log while the disk may turn out to be full: a quarter of a segment, as half of it is still
/// free when publishers are told to wait for the next one. And less than a shard sends its publishers away for: what others'
/// publishers mail to it is in its lane too, and they hear of nothing but this. Little segments are for tests, and a large
/// message has to get through.
fn under_way_max(scale_bytes: u64, lane_bytes: u64) -> u64 {
    (scale_bytes / 4).min(lane_bytes.saturating_mul(2)).max(1 << 20)
}

impl LogShared {
    /// `scale_bytes`: what counts as a segment at first; `lane_bytes`: with so many on their way a shard sends its publishers
    /// away; `stall`: with so long a write or sync the disk has stalled.
    pub(crate) fn new(shards: usize, scale_bytes: u64, lane_bytes: u64, stall: Duration) -> Self {
        let zeros = || (0..shards).map(|_| AtomicU64::new(0)).collect();
        LogShared {
            committed: zeros(),
            closed: zeros(),
            given: zeros(),
            full: AtomicBool::new(false),
            low: AtomicBool::new(false),
            late: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            pulse: Pulse::new(stall),
            under_way: AtomicU64::new(0),
            under_way_max: AtomicU64::new(under_way_max(scale_bytes, lane_bytes)),
            lane_bytes,
        }
    }

    pub(crate) fn committed(&self, shard: usize) -> u64 {
        self.committed[shard].load(Ordering::Acquire)
    }

    pub(super) fn shards(&self) -> usize {
        self.committed.len()
    }

    pub(super) fn note_closed(&self, shard: usize, lsn: u64) {
        self.closed[shard].store(lsn, Ordering::Release);
    }

    pub(super) fn closed(&self, shard: usize) -> u64 {
        self.closed[shard].load(Ordering::Acquire)
    }

    pub(crate) fn note_end(&self, shard: usize, lsn: u64) {
        self.given[shard].store(lsn, Ordering::Release);
    }

    /// Records that a shard has given and that were never committed; for when all threads have ended.
    pub(crate) fn unlogged(&self, shard: usize) -> u64 {
        self.given[shard].load(Ordering::Acquire).saturating_sub(self.committed(shard))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// True while only what frees space in the end should come: acknowledgements, not messages.
    pub(crate) fn is_low(&self) -> bool {
        self.low.load(Ordering::Relaxed)
    }

    fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self, bytes: u64) {
        self.under_way.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many are durable; true when that lets the shards go on.
    pub(super) fn arrived(&self, bytes: u64) -> bool {
        let before = self.under_way.fetch_sub(bytes, Ordering::Relaxed);
        let under_way_max = self.under_way_max();
        before >= under_way_max && before - bytes < under_way_max
    }

    /// Segments are of this size now; true when that lets the shards go on.
    pub(super) fn set_scale(&self, scale_bytes: u64) -> bool {
        let now = under_way_max(scale_bytes, self.lane_bytes);
        let before = self.under_way_max.swap(now, Ordering::Relaxed);
        (before..now).contains(&self.under_way_bytes())
    }

    fn under_way_bytes(&self) -> u64 {
        self.under_way.load(Ordering::Relaxed)
    }

    fn under_way_max(&self) -> u64 {
        self.under_way_max.load(Ordering::Relaxed)
    }

    /// How many are under way where they are so many that publishers wait.
    pub(super) fn held_up_bytes(&self) -> Option<u64> {
        let under_way = self.under_way_bytes();
        (under_way >= self.under_way_max()).then_some(under_way)
    }

    /// True when connections that publish what is kept may be read.
    pub(super) fn takes_more(&self) -> bool {
        !self.is_low() && !self.is_late() && !self.is_full() && self.under_way_bytes() < self.under_way_max()
    }

    /// True when not even one more message of each of them may be taken.
    pub(super) fn takes_nothing(&self) -> bool {
        let under_way_max = self.under_way_max() + self.under_way_max() / 4;
        self.is_low() || self.is_late() || self.is_full() || self.under_way_bytes() >= under_way_max
    }

    /// Asks the thread to end once the lanes are empty. Written by the node, after its shards have ended.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }
}
