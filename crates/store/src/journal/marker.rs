//! What has a Raft index and no entry.

use super::data_group::DataGroupId;
use super::entry::EntryView;

/// The largest body of a marker: who the members are fits many times.
pub(crate) const MARKER_BYTES_MAX: usize = 4 << 10;

/// A blank entry of Raft, or one of membership: it has a Raft index, and no index of its own, for nothing refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker<'a> {
    /// The data group.
    pub group: DataGroupId,
    /// Higher than any before it.
    pub raft_index: u64,
    /// The term in which it was proposed; never less than the one before it.
    pub term: u64,
    /// The bytes to keep, at most 4 KiB.
    pub body: &'a [u8],
}

/// What a Raft index is: an entry of its batch, or a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaftEntry<'a> {
    /// One of the entries of a batch.
    Entry(EntryView<'a>),
    /// A marker.
    Marker(Marker<'a>),
}

impl RaftEntry<'_> {
    /// Its Raft index.
    pub fn raft_index(&self) -> u64 {
        match self {
            Self::Entry(entry) => entry.raft_index,
            Self::Marker(marker) => marker.raft_index,
        }
    }

    /// Bytes of its body.
    pub(crate) fn body_bytes(&self) -> u64 {
        match self {
            Self::Entry(entry) => entry.body.len() as u64,
            Self::Marker(marker) => marker.body.len() as u64,
        }
    }
}
