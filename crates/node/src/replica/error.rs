//! Why a folder's replicas cannot go on.

use std::io;
use std::path::PathBuf;

use lapwing_peer::GroupNumber;
use lapwing_raft::StartError;
use lapwing_store::StoreError;
use thiserror::Error;

use crate::error::NodeError;
use crate::log::snapshot::{Unreadable, store_error};

/// What went wrong, and with what.
#[derive(Debug, Error)]
pub(crate) enum ReplicaError {
    /// The log could not be read or written; retryable where its error is.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One group's log, snapshot or vote is not what it should be; the others may be whole.
    #[error("data group {group}: {fault}")]
    Group {
        /// Which.
        group: GroupNumber,
        /// What is wrong.
        fault: GroupFault,
    },
    /// The node's own state could not be read.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A cluster was to be founded in a folder that has one.
    #[error("{} is a member's folder already: start the broker, which belongs to its cluster", .dir.display())]
    Member {
        /// The folder.
        dir: PathBuf,
    },
    /// A node was to join with a folder that has a node's data.
    #[error("{} is not empty: who joins gets everything from the cluster; name a folder that is empty", .dir.display())]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// What was said of the cluster or its first node cannot be.
    #[error(transparent)]
    Said(#[from] lapwing_cluster::Fault),
    /// The file that says whose folder it is cannot be read or written.
    #[error("cannot {operation} {}: {source}", .file.display())]
    Identity {
        /// What was being done.
        operation: &'static str,
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file that says whose folder it is says what cannot be.
    #[error("{}: {what}; restore the file, or empty the folder and join anew", .file.display())]
    Stranger {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// What is wrong with a group.
#[derive(Debug, Error)]
pub(crate) enum GroupFault {
    /// No engine starts from its log: it lost entries.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An entry or the snapshot of a data group says what this program does not understand.
    #[error("up to entry {sequence}: {fault}")]
    State {
        /// The entry, or the last one that the snapshot has.
        sequence: u64,
        /// What is wrong.
        fault: lapwing_ledger::Fault,
    },
    /// An entry or the snapshot of the metadata says what this program does not understand.
    #[error("up to entry {sequence}: {fault}")]
    Cluster {
        /// The entry, or the last one that the snapshot has.
        sequence: u64,
        /// What is wrong.
        fault: lapwing_cluster::Fault,
    },
    /// The snapshot and the log do not go together.
    #[error("{0}")]
    Snapshot(&'static str),
    /// What lies at a Raft index is nothing that a member writes.
    #[error("Raft index {raft_index}: {what}")]
    Log {
        /// The Raft index.
        raft_index: u64,
        /// What is wrong.
        what: &'static str,
    },
}

impl ReplicaError {
    pub(crate) fn group(group: GroupNumber, fault: impl Into<GroupFault>) -> Self {
        ReplicaError::Group { group, fault: fault.into() }
    }

    /// What came out while a snapshot through `sequence` was read.
    pub(super) fn unreadable(group: GroupNumber, sequence: u64, why: Unreadable) -> Self {
        match why {
            Unreadable::Io(error) => ReplicaError::Store(store_error(error)),
            Unreadable::Fault(fault) => ReplicaError::group(group, GroupFault::State { sequence, fault }),
        }
    }

    /// Nothing was lost; the same call may succeed later.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self, ReplicaError::Store(error) if error.is_retryable())
    }
}
