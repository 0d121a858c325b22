//! What does not fit the Raft indexes of a data group.

use thiserror::Error;

/// Why something that goes by Raft index was refused. Each is the answer to one request and changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RaftError {
    /// A Raft index is less than the one before it, or is that of another batch or of a marker. Nothing was taken.
    #[error("Raft index {raft_index} does not follow in data group {group}: the last one is {last_raft_index}")]
    IndexFell {
        /// The data group.
        group: u16,
        /// The Raft index of the entry or marker.
        raft_index: u64,
        /// The last one before it.
        last_raft_index: u64,
    },
    /// A snapshot covers what has this Raft index: it cannot be truncated, nor read by Raft index.
    #[error(
        "Raft index {raft_index} of data group {group} is purged: a snapshot covers all through {purged_raft_index}"
    )]
    Purged {
        /// The data group.
        group: u16,
        /// The Raft index asked for.
        raft_index: u64,
        /// How far it is purged.
        purged_raft_index: u64,
    },
    /// A snapshot names an entry and a Raft index that do not belong together. Nothing was taken.
    #[error(
        "a snapshot of data group {group} has Raft index {raft_index} and entry {index}, and here that is {ends_with}"
    )]
    NotCovered {
        /// The data group.
        group: u16,
        /// The Raft index that it covers.
        raft_index: u64,
        /// The entry that it covers.
        index: u64,
        /// The last entry through that Raft index, or the last one of all.
        ends_with: u64,
    },
    /// A group with Raft indexes is truncated and purged by these.
    #[error("data group {group} has Raft indexes: it is truncated and purged by these")]
    HasRaftIndexes {
        /// The data group.
        group: u16,
    },
}
