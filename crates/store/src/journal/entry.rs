//! One entry of a data group: as it is given, as it is read, and as a record.

use super::data_group::DataGroupId;
use crate::record::{Fault, LIFETIME_JOURNAL, RecordHeader, RecordKind};

/// An entry to append.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The data group.
    pub group: DataGroupId,
    /// Its place in the group: one more than that of the entry before it, the first is 1.
    pub index: u64,
    /// The term in which it was proposed; never less than the entry's before it. 0 on one node.
    pub term: u64,
    /// The Raft index of its batch, the same for all of it; never less than the entry's before it. 0 on one node.
    pub raft_index: u64,
    /// The slot (0..4096) of the publisher or session.
    pub slot: u16,
    /// The id that the broker gave the message.
    pub message_id: u64,
    /// Now, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes to keep.
    pub body: &'a [u8],
}

/// An entry as a reader sees it. `body` is borrowed from the read buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryView<'a> {
    /// The data group.
    pub group: DataGroupId,
    /// Its place in the group.
    pub index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// The Raft index of its batch; 0 on one node.
    pub raft_index: u64,
    /// The slot that the appender gave.
    pub slot: u16,
    /// The id that the appender gave.
    pub message_id: u64,
    /// When it was appended, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes that the appender gave.
    pub body: &'a [u8],
}

/// An entry on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedEntry {
    /// Its place in the group.
    pub index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// The Raft index of its batch; 0 on one node.
    pub raft_index: u64,
    /// The slot that the appender gave.
    pub slot: u16,
    /// The id that the appender gave.
    pub message_id: u64,
    /// When it was appended, microseconds since the epoch.
    pub appended_at_us: i64,
    /// The bytes that the appender gave.
    pub body: Vec<u8>,
}

impl Entry<'_> {
    pub(crate) fn header(&self) -> RecordHeader {
        RecordHeader {
            kind: RecordKind::Data,
            lifetime: LIFETIME_JOURNAL,
            slot: self.slot,
            data_group: self.group.0,
            partition: u32::from(self.group.0),
            term: self.term,
            index: self.index,
            message_id: self.message_id,
            offset: self.raft_index,
            appended_at_us: self.appended_at_us,
        }
    }
}

impl<'a> EntryView<'a> {
    /// The entry in a verified record.
    pub(crate) fn of(header: &RecordHeader, body: &'a [u8]) -> Result<Self, Fault> {
        if header.kind != RecordKind::Data || DataGroupId(header.data_group).place().is_err() {
            return Err(Fault::Misplaced("an entry belongs here"));
        }
        Ok(Self {
            group: DataGroupId(header.data_group),
            index: header.index,
            term: header.term,
            raft_index: header.offset,
            slot: header.slot,
            message_id: header.message_id,
            appended_at_us: header.appended_at_us,
            body,
        })
    }

    /// A copy on its own.
    pub fn to_owned_entry(&self) -> OwnedEntry {
        OwnedEntry {
            index: self.index,
            term: self.term,
            raft_index: self.raft_index,
            slot: self.slot,
            message_id: self.message_id,
            appended_at_us: self.appended_at_us,
            body: self.body.to_vec(),
        }
    }
}
