//! How a member's log is kept short: states that have grown are written down, and what they cover is let go of when no follower
//! needs it any more.

use lapwing_peer::GroupNumber;
use lapwing_raft::Role;
use lapwing_store::StoreError;
use lapwing_store::journal::Covered;

use super::disk::{Order, SnapshotOrder, SnapshotState};
use super::raft_thread::RaftThread;
use crate::replica::Preface;

/// Entries of metadata, behind which its state is written down anew.
const METADATA_ENTRIES: u64 = 256;
/// Entries of one group that wait for who lacks them, in bytes, while a follower is sent what lies before them, or was a moment ago.
const PINNED_BYTES_MAX: u64 = 256 << 20;

impl RaftThread {
    /// Has states written down that have grown, and lets go of what nobody needs any more.
    pub(super) fn tend(&mut self) {
        self.core.growth.tend();
        if !self.is_snapshot_busy && !self.begin_wanted_snapshot() {
            self.begin_due_snapshot();
        }
        let covered = std::mem::take(&mut self.covered);
        for (group, covered) in covered {
            if self.is_needed(group, covered.raft_index)
                || self.core.replica.compact(group, covered.raft_index).is_err()
            {
                self.covered.push((group, covered));
            } else {
                self.core.unpurged_bytes.remove(&group);
                self.purged.insert(group, covered.raft_index);
                self.disk.order(Order::Purge(group, covered));
            }
        }
    }

    /// Whether somebody may lack what lies before this Raft index: entries are less than a snapshot. Who follows does not know
    /// what others have, and may lead them next.
    fn is_needed(&self, group: GroupNumber, raft_index: u64) -> bool {
        let engine = self.core.replica.engine(group);
        let is_alone = engine.membership().all_voters().len() == 1;
        let leads = self.core.replica.status(group).role == Role::Leader;
        let have_all = leads && engine.peers().iter().all(|peer| peer.matched >= raft_index);
        let unpurged_bytes = self.core.unpurged_bytes.get(&group).copied().unwrap_or_default();
        let bytes_max = if self.moving.is_pinned(group) { PINNED_BYTES_MAX } else { self.keep_log_bytes };
        let has_room = !self.room.is_low && !self.room.is_full && unpurged_bytes < bytes_max;
        !is_alone && !have_all && has_room
    }

    /// Of a group that has grown.
    fn begin_due_snapshot(&mut self) {
        let data_groups = &self.core.data_groups;
        let grown = self.core.growth.due(self.room.is_low, |data_group| data_groups.get(data_group).holds());
        if let Some(data_group) = grown {
            self.begin_snapshot(data_group);
        } else if self.core.metadata_entries >= METADATA_ENTRIES {
            self.begin_metadata_snapshot();
        }
    }

    /// Of a group whose newest snapshot is of no use to a follower.
    fn begin_wanted_snapshot(&mut self) -> bool {
        let Some(group) = self.moving.wanted.pop_first() else { return false };
        match group {
            GroupNumber::METADATA => self.begin_metadata_snapshot(),
            group => self.begin_snapshot(u16::from(group.value())),
        }
        self.is_snapshot_busy
    }

    fn begin_snapshot(&mut self, data_group: u16) {
        let group = GroupNumber::new(data_group as u8).expect("a data group's number");
        let at = self.core.applied(group);
        // Something may be committed by the others' disks and not be on this one.
        let Ok(snapshot) = self.core.replica.engine(group).snapshot_at(at.index) else { return };
        let (frozen, holds) = {
            let state = self.core.data_groups.get(data_group);
            (state.freeze(), state.holds())
        };
        let preface = Preface { at: snapshot.at, membership: snapshot.membership };
        self.core.growth.begun(data_group, holds);
        self.order_snapshot(group, preface, SnapshotState::Data(frozen));
    }

    fn begin_metadata_snapshot(&mut self) {
        let at = self.core.applied(GroupNumber::METADATA);
        let Ok(snapshot) = self.core.replica.engine(GroupNumber::METADATA).snapshot_at(at.index) else { return };
        self.core.metadata_entries = 0;
        let preface = Preface { at: snapshot.at, membership: snapshot.membership };
        let state = SnapshotState::Cluster(Box::new(self.core.cluster.clone()));
        self.order_snapshot(GroupNumber::METADATA, preface, state);
    }

    fn order_snapshot(&mut self, group: GroupNumber, preface: Preface, state: SnapshotState) {
        self.is_snapshot_busy = true;
        self.disk.order(Order::Snapshot(SnapshotOrder { group, preface, state }));
    }

    /// A snapshot is durable, or could not be written.
    pub(super) fn written(&mut self, group: GroupNumber, written: Result<(Covered, u64), StoreError>) {
        self.is_snapshot_busy = false;
        let data_group = (group != GroupNumber::METADATA).then_some(u16::from(group.value()));
        match (written, data_group) {
            (Ok((covered, bytes)), data_group) => {
                data_group.into_iter().for_each(|data_group| self.core.growth.written(data_group, bytes));
                self.covered.retain(|(of, _)| *of != group);
                self.covered.push((group, covered));
            }
            // Tried again when it is looked for next.
            (Err(_), Some(data_group)) => self.core.growth.failed(data_group),
            (Err(_), None) => self.core.metadata_entries = METADATA_ENTRIES,
        }
    }
}
