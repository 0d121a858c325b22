//! What a leader says of the snapshot that it sends.

use lapwing_peer::{GroupNumber, SnapshotBegin};
use lapwing_raft::{Membership, Position};
use lapwing_replica::read_whole_membership;
use lapwing_store::journal::Covered;

use crate::replica::Preface;

/// It, apart from the bytes that it came in.
pub(super) struct Said {
    pub(super) group: GroupNumber,
    pub(super) snapshot: u64,
    pub(super) covered: Covered,
    pub(super) membership: Membership,
    pub(super) bytes: u64,
    leader_term: u64,
    state_chunks: u32,
    entries: u64,
    membership_bytes: Vec<u8>,
}

impl Said {
    /// Nothing: its membership is none, or it covers nothing.
    pub(super) fn of(begin: &SnapshotBegin<'_>) -> Option<Said> {
        let covered = Covered { index: begin.last_sequence, raft_index: begin.raft_index, term: begin.term };
        let membership = read_whole_membership(begin.membership)?;
        let is_any = covered.raft_index > 0 && covered.term > 0;
        is_any.then(|| Said {
            group: begin.group,
            snapshot: begin.snapshot,
            covered,
            membership,
            bytes: begin.bytes,
            leader_term: begin.leader_term,
            state_chunks: begin.state_chunks,
            entries: begin.entries,
            membership_bytes: begin.membership.to_vec(),
        })
    }

    /// As it came.
    pub(super) fn frame(&self) -> SnapshotBegin<'_> {
        let Covered { index, raft_index, term } = self.covered;
        SnapshotBegin {
            group: self.group,
            snapshot: self.snapshot,
            leader_term: self.leader_term,
            raft_index,
            term,
            last_sequence: index,
            state_chunks: self.state_chunks,
            entries: self.entries,
            bytes: self.bytes,
            membership: &self.membership_bytes,
        }
    }

    pub(super) fn position(&self) -> Position {
        Position { index: self.covered.raft_index, term: self.covered.term }
    }

    /// What stands in front of the state.
    pub(super) fn preface(&self) -> Preface {
        Preface { at: self.position(), membership: self.membership.clone() }
    }
}
