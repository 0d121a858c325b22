//! What a node has to do since the last turn.

use std::sync::Arc;

use lapwing_peer::{Batch, GroupNumber, NodeId};
use lapwing_raft::{Membership, SnapshotOffer, Verdict};

use crate::write::{Body, Write};

/// What there is to do: write, apply, and say when it is written. What goes to other nodes is had by
/// [`Replica::fill`](crate::Replica::fill).
#[derive(Debug, Default)]
pub struct Turn {
    /// To be stored, if anything is.
    pub write: Option<Write>,
    /// What is committed since the last turn: of each group in order, without gaps.
    pub committed: Vec<Committed>,
    /// Batches that were taken and will not be in the log: another node leads. Each group's in the order in which they came.
    pub returned: Vec<(GroupNumber, Arc<Batch>)>,
    /// Nodes that lack what this node's log no longer has: they need a snapshot.
    pub lagging: Vec<(GroupNumber, NodeId)>,
    /// The leader has a snapshot for this node, and will send it.
    pub offers: Vec<(GroupNumber, SnapshotOffer)>,
    /// Who belongs to a group, where that has changed.
    pub memberships: Vec<(GroupNumber, Membership)>,
    /// Groups whose replica here has stopped for ever, and why. Told once.
    pub stopped: Vec<(GroupNumber, Stop)>,
}

/// One entry that is committed.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// Whose.
    pub group: GroupNumber,
    /// Its Raft index: one more than that of the one before.
    pub raft_index: u64,
    /// The term in which it was proposed.
    pub term: u64,
    /// What it is.
    pub body: Body,
}

/// Why a replica of a group has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// It lost what it had acknowledged, or another one did.
    #[error("{0}")]
    Verdict(Verdict),
    /// An entry without its batch: a defect of ours.
    #[error("entry {raft_index} of term {term} has lost its batch on the way: this is a defect of Lapwing")]
    NoBatch {
        /// The Raft index of the entry.
        raft_index: u64,
        /// Its term.
        term: u64,
    },
}
