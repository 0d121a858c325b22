//! Counters of one journal since it was opened.

use std::sync::atomic::{AtomicU64, Ordering};

/// Written by the writer and by readers, read by anyone.
#[derive(Debug, Default)]
pub struct JournalCounters {
    pub(crate) entries: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) sync_us: AtomicU64,
    pub(crate) full: AtomicU64,
    pub(crate) torn_tails: AtomicU64,
    pub(crate) torn_bytes: AtomicU64,
    pub(crate) indexes_rebuilt: AtomicU64,
    pub(crate) corrupt_reads: AtomicU64,
    pub(crate) read_entries: AtomicU64,
    pub(crate) deleted_segments: AtomicU64,
    pub(crate) deleted_bytes: AtomicU64,
    pub(crate) kept_entries: AtomicU64,
    pub(crate) kept_bytes: AtomicU64,
    pub(crate) snapshots: AtomicU64,
    pub(crate) snapshot_bytes: AtomicU64,
    pub(crate) notices_dropped: AtomicU64,
}

impl JournalCounters {
    /// Every counter with its name and its meaning, for a metrics page.
    pub fn list(&self) -> Vec<(&'static str, &'static str, u64)> {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        vec![
            ("entries", "Entries committed to the journal", of(&self.entries)),
            ("bytes", "Bytes committed to the journal, headers included", of(&self.bytes)),
            ("commits", "Group commits of the journal", of(&self.commits)),
            ("sync_us", "Microseconds spent in fdatasync of the journal", of(&self.sync_us)),
            ("full", "Commits of the journal put off because no space was left", of(&self.full)),
            ("torn_tails", "Torn tails of the journal cut at recovery", of(&self.torn_tails)),
            ("torn_bytes", "Bytes of torn tails of the journal cut at recovery", of(&self.torn_bytes)),
            ("indexes_rebuilt", "Indexes of the journal's segments rebuilt", of(&self.indexes_rebuilt)),
            ("corrupt_reads", "Reads of the journal that met damage", of(&self.corrupt_reads)),
            ("read_entries", "Entries of the journal handed to readers", of(&self.read_entries)),
            ("deleted_segments", "Segments of the journal deleted by compaction", of(&self.deleted_segments)),
            ("deleted_bytes", "Bytes of the journal deleted by compaction", of(&self.deleted_bytes)),
            ("kept_entries", "Live entries of the journal copied by compaction", of(&self.kept_entries)),
            ("kept_bytes", "Bytes of the journal written by compaction", of(&self.kept_bytes)),
            ("snapshots", "Snapshots of data groups written", of(&self.snapshots)),
            ("snapshot_bytes", "Bytes of these snapshots", of(&self.snapshot_bytes)),
            ("notices_dropped", "Notices of the journal dropped because nobody took them", of(&self.notices_dropped)),
        ]
    }

    /// Group commits, each with one fdatasync, and the microseconds spent in these.
    pub fn syncs(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.sync_us.load(Ordering::Relaxed))
    }

    pub(crate) fn add(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}
