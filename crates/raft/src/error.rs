//! Why an engine does not start, and why it does not do what it is asked for. What a peer may have done wrong: [`Refusal`].

use thiserror::Error;

use crate::config::Config;
use crate::entry::BatchHeader;
use crate::verdict::Verdict;

/// Why there is no engine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StartError {
    /// Settings that no engine runs with.
    #[error("no engine with {config:?}: ids are above 0, and elections come later than heartbeats")]
    Config {
        /// The settings.
        config: Config,
    },
    /// The log cannot have been written by an engine.
    #[error("the log is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// The log ends before what its own vote record calls committed: this replica lost entries.
    #[error(
        "committed through {commit}, but the log ends at {last}: this replica lost entries; remove it, then join anew"
    )]
    Lost {
        /// What the vote record says.
        commit: u64,
        /// The last index that is there.
        last: u64,
    },
}

/// Why a batch is not in the log, with the batch: it is the caller's again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotProposed {
    /// Somebody else leads, or nobody.
    #[error("this node does not lead the group")]
    NotLeader {
        /// Who does; 0: not known.
        leader: u64,
        /// What was to be proposed.
        batch: BatchHeader,
    },
    /// The leadership is being handed over, and as many wait already as may. Retry when that is decided.
    #[error("{limit} batches wait for the leadership to be handed over, and no more may")]
    Full {
        /// [`Config::waiting_max`].
        limit: usize,
        /// What was to be proposed.
        batch: BatchHeader,
    },
    /// No message in it, or sequences that cannot be: the caller's fault.
    #[error("{batch:?} has no messages, or impossible sequences")]
    Malformed {
        /// What was to be proposed.
        batch: BatchHeader,
    },
    /// The replica stopped.
    #[error("the replica stopped: {verdict}")]
    Stopped {
        /// Why.
        verdict: Verdict,
        /// What was to be proposed.
        batch: BatchHeader,
    },
}

/// Why something that the caller asked for is not done. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotDone {
    /// Only a leader can do it.
    #[error("this node does not lead the group")]
    NotLeader {
        /// Who does; 0: not known.
        leader: u64,
    },
    /// A leader, or the node named, cannot have it: it leads already.
    #[error("the node leads the group already")]
    Leads,
    /// The node has no vote.
    #[error("node {node} has no vote in the group")]
    NoVoter {
        /// The node.
        node: u64,
    },
    /// Something of this node's log is not on its disk yet, a snapshot is on its way, or the caller forbade it.
    #[error("this node may not lead now: its log is not on its disk, or it lacks what is committed")]
    NotElectable,
    /// A leader that has not committed anything in its own term does not know what is committed. Retry.
    #[error("nothing of this leader's term is committed yet")]
    TermNotCommitted,
    /// As many questions wait already as may. Retry.
    #[error("{limit} questions wait for an answer, and no more may")]
    TooManyReads {
        /// [`READS_MAX`](crate::READS_MAX).
        limit: usize,
    },
    /// The last change of the membership is not through, or the leadership is being handed over. Retry.
    #[error("another change of the group is under way")]
    ChangeUnderWay,
    /// The change leads nowhere: no voters, no such change, or nothing to leave.
    #[error("the change cannot be made of this membership")]
    ChangeInvalid,
    /// The log has what the snapshot says, or more: throw it away.
    #[error("the log has all up to {index} already")]
    NotNeeded {
        /// The snapshot's index.
        index: u64,
    },
    /// The snapshot is of a group without this node, or has numbers that cannot be.
    #[error("no snapshot for this node: {what}")]
    NoSnapshot {
        /// What is wrong.
        what: &'static str,
    },
    /// Asked beyond what there is: a turn that was not handed out, or compaction above what is applied.
    #[error("{asked} is above {limit}")]
    Beyond {
        /// What was asked.
        asked: u64,
        /// The highest that can be.
        limit: u64,
    },
    /// The replica stopped.
    #[error("the replica stopped: {0}")]
    Stopped(Verdict),
}
