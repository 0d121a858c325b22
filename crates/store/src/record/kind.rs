//! The kinds of records. Who meets one that it does not know refuses what it lies in.

/// What a record is. Numbers are for ever.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// A body that an appender gave.
    Data = 1,
    /// Opens a group commit.
    Commit = 2,
    /// Opens a segment.
    SegmentStart = 3,
    /// Describes a stream.
    StreamMeta = 4,
    /// Positions of named readers.
    Readers = 5,
    /// Index of a sealed segment.
    Index = 6,
    /// The vote of a data group.
    Vote = 16,
    /// Entries of a data group from an index on are void.
    Truncation = 17,
    /// Entries of a data group through an index are covered by a snapshot.
    Purge = 18,
    /// How every data group stands, and which segments there are, when a segment of the journal begins.
    Checkpoint = 19,
    /// Segments of the journal gave way to another one, or to none.
    Replaced = 20,
    /// In a segment of kept entries: what follows begins a new stretch of its data group.
    Stretch = 21,
    /// Index of a sealed segment of the journal: where the entries lie.
    JournalIndex = 22,
    /// What belongs to it: marks and lengths.
    JournalMarks = 23,
    /// A part of a data group's snapshot.
    Snapshot = 24,
    /// What lay here was damaged, and its loss was accepted; its body is zeros. See [`super::LOST_OFFSET`].
    Lost = 25,
    /// A Raft index of a data group that has no entry.
    Marker = 26,
    /// `Checkpoint` of a cluster: with the number of groups, and what Raft counts in each.
    ClusterCheckpoint = 27,
}

impl RecordKind {
    pub(super) fn from_u8(byte: u8) -> Option<Self> {
        use RecordKind::*;
        let streams = [Data, Commit, SegmentStart, StreamMeta, Readers, Index];
        let journal = [Vote, Truncation, Purge, Checkpoint, Replaced, Stretch, JournalIndex, JournalMarks, Snapshot];
        let later = [Lost, Marker, ClusterCheckpoint];
        streams.into_iter().chain(journal).chain(later).find(|kind| *kind as u8 == byte)
    }
}
