//! What a caller learns about streams: plain values, copied out under a short lock.

use std::fmt;

use crate::notice::TrimmedUnread;

/// The place of a stream in the list given to `Log::open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamIndex(pub u32);

/// Tells a stream from one of the same name made later. Displayed as a version 4 UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamUuid(pub [u8; 16]);

impl fmt::Display for StreamUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// One stream as it stands.
#[derive(Debug, Clone)]
pub struct StreamInfo {
    /// Its place, the key to `append` and `read`.
    pub index: StreamIndex,
    /// Its name.
    pub name: String,
    /// Its identity, kept over restarts.
    pub uuid: StreamUuid,
    /// Segment files.
    pub segments: u64,
    /// Bytes of all segment files that hold records.
    pub bytes: u64,
    /// One entry per partition, in order.
    pub partitions: Vec<PartitionInfo>,
    /// Readers that gave a name.
    pub readers: Vec<ReaderInfo>,
}

/// One partition as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Counted from 0.
    pub partition: u32,
    /// The first offset kept.
    pub first_offset: u64,
    /// The first offset not synced yet; the partition is empty when it equals `first_offset`.
    pub next_offset: u64,
    /// Bytes of its records on disk, headers included.
    pub bytes: u64,
}

/// What is remembered of one named reader.
#[derive(Debug, Clone)]
pub struct ReaderInfo {
    /// The name that it gave.
    pub name: String,
    /// When it read last, in milliseconds since the epoch.
    pub seen_at_ms: i64,
    /// (partition, offset it asked for last); everything before that offset counts as read.
    pub positions: Vec<(u32, u64)>,
}

/// One record as a reader sees it. `body` is borrowed from the read buffer.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'a> {
    /// Its offset in the partition.
    pub offset: u64,
    /// When the log took it, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The id that the appender gave.
    pub message_id: u64,
    /// The slot that the appender gave.
    pub slot: u16,
    /// The bytes that the appender gave.
    pub body: &'a [u8],
}

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Records handed over.
    pub messages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// Continue here.
    pub next_offset: u64,
    /// The first offset kept when the read began.
    pub first_offset: u64,
    /// The first offset not synced when the read began.
    pub end_offset: u64,
}

/// Where a read stops, whichever comes first. At least one record is handed over when there is one.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    /// Records at most.
    pub messages_max: u64,
    /// Bytes of bodies at most, the first record excepted.
    pub bytes_max: u64,
}

/// What one commit did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Committed {
    /// Records that became durable and visible.
    pub records: u64,
    /// Bytes written, headers included.
    pub bytes: u64,
    /// Streams synced.
    pub streams: u32,
    /// Time spent in `fdatasync`, microseconds.
    pub sync_us: u64,
}

/// What one `retain` deleted.
#[derive(Debug, Clone, Default)]
pub struct Trimmed {
    /// Segment files deleted.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Named readers that had not read what went: the alarm.
    pub unread: Vec<TrimmedUnread>,
}
