//! What a node's replicas are made with.

use lapwing_peer::{GroupNumber, NodeId};
use lapwing_raft::LogTail;

use crate::lag::NamedBatch;

/// Settings; times are in ticks, and a tick is whatever time lies between two calls of [`Replica::tick`](crate::Replica::tick).
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// This node.
    pub node: NodeId,
    /// The times of elections come from it: the same seed, the same run. Nodes have different ones.
    pub seed: u64,
    /// A leader speaks to everybody at least so often.
    pub heartbeat_ticks: u32,
    /// Who has heard of no leader for this long, and up to half more, asks for votes.
    pub election_ticks: u32,
    /// Batches that are applied and stored stay in memory up to so many bytes, all groups together: for who lags a little.
    pub tail_bytes: u64,
    /// Bytes of batches that another node may send beyond those that are done with; what this node's hello says.
    pub window_bytes: u64,
}

/// What a group has when its node starts.
#[derive(Clone, Debug)]
pub struct GroupStart {
    /// Which group.
    pub group: GroupNumber,
    /// Its log: headers.
    pub log: LogTail,
    /// The batches of all entries behind what is committed by the log's own vote record: the state has the others.
    pub batches: Vec<NamedBatch>,
}

impl GroupStart {
    /// A group that this node has nothing of, or that begins without entries.
    pub fn empty(group: GroupNumber, log: LogTail) -> GroupStart {
        GroupStart { group, log, batches: Vec::new() }
    }
}
