//! What the log thread and the shards know of each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What the log thread tells everyone; written by it alone.
pub(crate) struct LogShared {
    pub(super) committed: Vec<AtomicU64>,
    /// Per shard the last ticket in a batch that it has closed; written by the shard.
    closed: Vec<AtomicU64>,
    /// Per shard the last ticket that it ever gave; written by the shard when it ends.
    given: Vec<AtomicU64>,
    pub(super) full: AtomicBool,
    /// There is still room, but for what gives room back alone.
    pub(super) low: AtomicBool,
    /// The next segment is late: what comes has to wait for it.
    pub(super) late: AtomicBool,
    pub(super) stop: AtomicBool,
    /// Bytes of all shards on their way to the disk; each adds its own, the thread takes away what is durable.
    under_way: AtomicU64,
    /// With so many under way nobody should add to them: they have to find room when the disk turns out to be full.
    under_way_max: u64,
}

impl LogShared {
    /// `under_way_max`: bytes that all shards together may have on their way.
    pub(crate) fn new(shards: usize, under_way_max: u64) -> Self {
        let zeros = || (0..shards).map(|_| AtomicU64::new(0)).collect();
        LogShared {
            committed: zeros(),
            closed: zeros(),
            given: zeros(),
            full: AtomicBool::new(false),
            low: AtomicBool::new(false),
            late: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            under_way: AtomicU64::new(0),
            under_way_max,
        }
    }

    pub(crate) fn committed(&self, shard: usize) -> u64 {
        self.committed[shard].load(Ordering::Acquire)
    }

    pub(super) fn shards(&self) -> usize {
        self.committed.len()
    }

    pub(super) fn note_closed(&self, shard: usize, ticket: u64) {
        self.closed[shard].store(ticket, Ordering::Release);
    }

    pub(super) fn closed(&self, shard: usize) -> u64 {
        self.closed[shard].load(Ordering::Acquire)
    }

    pub(crate) fn note_end(&self, shard: usize, ticket: u64) {
        self.given[shard].store(ticket, Ordering::Release);
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
        before >= self.under_way_max && before - bytes < self.under_way_max
    }

    /// True when connections that publish what is kept may be read.
    pub(super) fn takes_more(&self) -> bool {
        !self.is_low()
            && !self.is_late()
            && !self.is_full()
            && self.under_way.load(Ordering::Relaxed) < self.under_way_max
    }

    /// True when not even one more message of each of them may be taken.
    pub(super) fn takes_nothing(&self) -> bool {
        let under_way_max = self.under_way_max + self.under_way_max / 4;
        self.is_low() || self.is_late() || self.is_full() || self.under_way.load(Ordering::Relaxed) >= under_way_max
    }

    /// Asks the thread to end once the lanes are empty. Written by the node, after its shards have ended.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }
}
