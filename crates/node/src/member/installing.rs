//! A snapshot from a leader takes the place of a group's log and state.
//!
//! Its bytes are on disk; the engine is asked first. Then the disk's thread makes it count with the write that the engine gives,
//! and puts a data group's state in its place; nothing is applied to the group meanwhile, and no snapshot of it is written.

use std::sync::mpsc::SyncSender;

use lapwing_cluster::ClusterState;
use lapwing_peer::GroupNumber;
use lapwing_raft::{Position, Role};

use super::disk::{InstallOrder, Order};
use super::error::MemberError;
use super::links::level_of;
use super::moving::{Arrived, Word};
use super::raft_thread::RaftThread;
use crate::replica::GroupState;

/// What is to be known of it when it counts.
pub(super) struct Installing {
    group: GroupNumber,
    at: Position,
    /// Of the metadata group.
    cluster: Option<Box<ClusterState>>,
    snapshot_bytes: u64,
    reply: SyncSender<bool>,
}

impl RaftThread {
    /// Takes what the threads that move snapshots have to say, and begins what is due.
    pub(super) fn move_on(&mut self) -> Result<(), MemberError> {
        for link in std::mem::take(&mut self.core.for_snapshot) {
            self.moving.receive(link)?;
        }
        while let Some(word) = self.moving.word() {
            match word {
                Word::Arrived(arrived) => self.moving.arrived.push_back(*arrived),
                Word::Failed(error) => return Err(error.into()),
                // The status has what did not go well; the engine says again what is needed.
                Word::Sent(..) | Word::Resumed | Word::Refused(_) => {}
            }
        }
        self.begin_install();
        Ok(())
    }

    /// Begins transfers that are due.
    pub(super) fn tend_moving(&mut self) -> Result<(), MemberError> {
        let (core, others) = (&self.core, self.core.others());
        let leads = |group| {
            let status = core.replica.status(group);
            (status.role == Role::Leader).then_some(status.term)
        };
        let addresses = |node| {
            let found = others.iter().find(|(other, _)| *other == node && core.introduced.contains_key(other));
            found.map(|(_, addresses)| addresses.clone())
        };
        Ok(self.moving.tend(level_of(&core.cluster), leads, addresses)?)
    }

    /// One at a time, and none while a snapshot is written here: it may be of the same group.
    fn begin_install(&mut self) {
        if self.is_snapshot_busy || self.core.is_installing() {
            return;
        }
        let Some(arrived) = self.moving.arrived.pop_front() else { return };
        let Arrived { group, snapshot, received, state, snapshot_bytes, reply } = arrived;
        // The log has gone on without it, or will before it could count.
        let is_past = self.purged.get(&group).is_some_and(|purged| *purged > received.common_raft_index());
        if is_past || !self.core.begin_install(group, &snapshot) {
            // Whoever waits for it may have gone.
            let _ = reply.send(false);
            return;
        }
        self.covered.retain(|(of, _)| *of != group);
        let (state, cluster) = match state {
            GroupState::Data(state) => (Some(state), None),
            GroupState::Cluster(state) => (None, Some(Box::new(state))),
        };
        self.disk.order(Order::Install(Box::new(InstallOrder { group, received, state })));
        self.installing = Some(Installing { group, at: snapshot.at, cluster, snapshot_bytes, reply });
    }

    /// It counts.
    pub(super) fn installed(&mut self, group: GroupNumber) {
        let Some(installing) = self.installing.take_if(|installing| installing.group == group) else { return };
        let Installing { at, cluster, snapshot_bytes, reply, .. } = installing;
        self.core.installed(group, at);
        match cluster {
            Some(cluster) => {
                self.core.cluster = *cluster;
                self.core.metadata_entries = 0;
                self.core.has_new_members = true;
            }
            None => {
                let data_group = u16::from(group.value());
                let holds = self.core.data_groups.get(data_group).holds();
                self.core.growth.begun(data_group, holds);
                self.core.growth.written(data_group, snapshot_bytes);
            }
        }
        self.moving.counts.received += 1;
        let _ = reply.send(true);
    }
}
