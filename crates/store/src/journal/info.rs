//! What a caller learns of the journal: plain values, copied out under a short lock.

/// One data group as it stands, on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataGroupLog {
    /// The first index that replay needs: one more than `purged_index`. From here on there are no holes.
    pub first_index: u64,
    /// The last index; equal to `purged_index` when there is nothing to replay, 0 when there never was an entry.
    pub last_index: u64,
    /// The term of the last entry.
    pub last_term: u64,
    /// A snapshot covers everything through this index.
    pub purged_index: u64,
    /// The term of that entry.
    pub purged_term: u64,
    /// The last Raft index, of a batch or a marker; equal to `purged_raft_index` when nothing lies behind it, 0 where there
    /// are none.
    pub last_raft_index: u64,
    /// The term of the last Raft index.
    pub last_raft_term: u64,
    /// A snapshot covers everything through this Raft index.
    pub purged_raft_index: u64,
    /// The term of that Raft index.
    pub purged_raft_term: u64,
    /// The last vote; empty when there was none.
    pub vote: Vec<u8>,
}

/// What one commit did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalCommitted {
    /// Entries that became durable and visible.
    pub entries: u64,
    /// Bytes written, headers included.
    pub bytes: u64,
    /// Time spent in `fdatasync`, microseconds.
    pub sync_us: u64,
}

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRead {
    /// Entries handed over.
    pub entries: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Continue here.
    pub next_index: u64,
}

/// What one read by Raft index brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaftRead {
    /// Entries and markers handed over.
    pub entries: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Continue here.
    pub next_raft_index: u64,
}

/// What one replay brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Entries handed over.
    pub entries: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

/// The files of the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JournalInfo {
    /// Segment files as they come, the one being written included.
    pub segments: u64,
    /// Segment files of kept entries.
    pub kept_segments: u64,
    /// Bytes of all segment files that hold records.
    pub bytes: u64,
    /// Of these, bytes in segments of kept entries.
    pub kept_bytes: u64,
}
