//! Entries as the engine sees them: headers. Bodies lie where the caller keeps them.

use crate::bounds::{CHANGES_MAX, SEQUENCE_MAX};
use crate::membership::Change;

/// What an owner hands over for its data group in one turn: so many messages under one Raft index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The sequence of its first message, as its owner numbers them.
    pub first_sequence: u64,
    /// How many messages there are; at least one.
    pub count: u32,
    /// Bytes of the bodies together: what a message to a peer is bounded by.
    pub bytes: u32,
}

impl BatchHeader {
    /// The sequence behind its last message.
    pub fn end(&self) -> u64 {
        self.first_sequence.saturating_add(u64::from(self.count))
    }

    /// Whether there is a message in it, and all have sequences that can be.
    pub fn is_valid(&self) -> bool {
        self.count > 0 && self.end() <= SEQUENCE_MAX
    }
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its Raft index.
    pub index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// What it says.
    pub kind: EntryKind,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A new leader's first: what lies before it is committed with it.
    Blank,
    /// Messages of the data group.
    Batch(BatchHeader),
    /// Who belongs to the group from here on, once it is committed. No change at all: a joint membership ends.
    Membership(Vec<Change>),
}

impl EntryKind {
    /// Whether a log may hold it.
    pub(crate) fn is_valid(&self) -> bool {
        match self {
            EntryKind::Blank => true,
            EntryKind::Batch(batch) => batch.is_valid(),
            EntryKind::Membership(changes) => {
                changes.len() <= CHANGES_MAX && changes.iter().all(|change| change.node != 0)
            }
        }
    }

    /// Bytes of the bodies that go with it.
    pub(crate) fn body_bytes(&self) -> u64 {
        match self {
            EntryKind::Batch(batch) => u64::from(batch.bytes),
            EntryKind::Blank | EntryKind::Membership(_) => 0,
        }
    }
}
