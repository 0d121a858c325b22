//! The replicas of all groups with their states: what is committed and on this disk is applied here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use lapwing_cluster::{ClusterState, Entry};
use lapwing_peer::{Batch, GroupNumber, NodeId};
use lapwing_raft::{NotProposed, Position, Role, Snapshot};
use lapwing_replica::{Body, Committed, Replica, Stop, Turn, Write};
use lapwing_store::journal::JournalReader;

use super::error::MemberError;
use super::joining::Desk;
use super::links::{ForSnapshot, Introduced, Own};
use super::telling::Telling;
use super::uncommitted::Uncommitted;
use crate::data_groups::{DataGroups, Extents};
use crate::log::Growth;
use crate::replica::{GroupFault, ReplicaError, Started};
use crate::slot::DATA_GROUPS;

/// Entries that did not hold and are remembered: one for each member and table, and some.
const REFUSED_MAX: usize = 128;

/// Everything of a member that is decided on its raft thread, without sockets and without the disk's writing end.
pub(super) struct Core {
    pub(super) own: Own,
    pub(super) replica: Replica,
    pub(super) data_groups: DataGroups,
    pub(super) cluster: ClusterState,
    pub(super) growth: Growth,
    /// What nodes say of themselves.
    pub(super) telling: Telling,
    /// Batches that this node leads on with, and that wait for their commit.
    pub(super) uncommitted: Uncommitted,
    /// Who waits for an entry of metadata.
    pub(super) desk: Desk,
    pub(super) reader: JournalReader,
    /// Committed, and not applied: in order, by group.
    waiting: BTreeMap<GroupNumber, VecDeque<Committed>>,
    /// The last entry that each state has.
    applied: BTreeMap<GroupNumber, Position>,
    /// Who is connected, with what it said of itself.
    pub(super) introduced: BTreeMap<NodeId, Introduced>,
    /// What each node that was ever heard had drawn at its start, and in which boot.
    pub(super) starts: BTreeMap<NodeId, (u64, u64)>,
    /// Entries of metadata that did not hold, the newest first.
    refused: Vec<Entry>,
    /// Bytes of each group's entries since its log was shortened last.
    pub(super) unpurged_bytes: BTreeMap<GroupNumber, u64>,
    /// Entries of metadata since its state was written down.
    pub(super) metadata_entries: u64,
    /// Somebody joined, left, or said something of itself: connections may have to follow.
    pub(super) has_new_members: bool,
    /// Replicas that have stopped, and why.
    pub(super) stopped: BTreeMap<GroupNumber, Stop>,
    /// Connections over which somebody sends a snapshot.
    pub(super) for_snapshot: Vec<ForSnapshot>,
    /// A group whose state is to be another one, once that is on this disk: nothing is applied to it.
    installing: Option<GroupNumber>,
    /// Something is left for the next turn.
    pub(super) has_more: bool,
    /// The first defect that a frame for a peer met.
    pub(super) failure: Option<MemberError>,
}

impl Core {
    /// Of what a start has found.
    pub(super) fn new(own: Own, replica: Replica, reader: JournalReader, started: Found, desk: Desk) -> Core {
        let Found { data_groups, cluster, applied, growth } = started;
        let waiting = GroupNumber::all().map(|group| (group, VecDeque::new())).collect();
        Core {
            own,
            replica,
            data_groups,
            cluster,
            growth,
            telling: Telling::new(Instant::now()),
            uncommitted: Uncommitted::default(),
            desk,
            reader,
            waiting,
            applied,
            introduced: BTreeMap::new(),
            starts: BTreeMap::new(),
            refused: Vec::new(),
            unpurged_bytes: BTreeMap::new(),
            metadata_entries: 0,
            has_new_members: true,
            stopped: BTreeMap::new(),
            for_snapshot: Vec::new(),
            installing: None,
            has_more: false,
            failure: None,
        }
    }

    /// Proposes a batch in a group.
    ///
    /// # Errors
    /// As [`Replica::propose`].
    pub(super) fn propose(&mut self, group: GroupNumber, batch: Arc<Batch>) -> Result<(), NotProposed> {
        let first_sequence = batch.head().first_sequence;
        self.replica.propose(group, batch)?;
        self.uncommitted.appended(group, self.replica.status(group).term, first_sequence, Instant::now());
        Ok(())
    }

    /// Takes a turn of the replicas; gives what is to be written.
    pub(super) fn turn(&mut self) -> (Option<Write>, Turn) {
        let mut turn = self.replica.turn();
        for entry in turn.committed.drain(..) {
            if let Body::Batch(batch) = &entry.body {
                self.uncommitted.committed(entry.group, batch.head().first_sequence);
            }
            self.waiting.entry(entry.group).or_default().push_back(entry);
        }
        self.stopped.extend(turn.stopped.iter().copied());
        self.has_new_members |= !turn.memberships.is_empty();
        (turn.write.take(), turn)
    }

    /// Applies what is committed, be it by the others' disks alone: who reads what this one does not have yet waits for it. True
    /// when anything was.
    ///
    /// # Errors
    /// An entry that this program does not understand.
    pub(super) fn apply(&mut self) -> Result<bool, MemberError> {
        let mut has_any = false;
        let installing = self.installing;
        for group in GroupNumber::all().filter(|group| installing != Some(*group)) {
            while let Some(entry) = self.waiting.get_mut(&group).and_then(VecDeque::pop_front) {
                has_any = true;
                self.apply_entry(&entry)?;
                self.applied.insert(group, Position { index: entry.raft_index, term: entry.term });
            }
        }
        Ok(has_any)
    }

    fn apply_entry(&mut self, entry: &Committed) -> Result<(), MemberError> {
        let Body::Batch(batch) = &entry.body else { return Ok(()) };
        let (group, first) = (entry.group, batch.head().first_sequence);
        for (sequence, record) in (first..).zip(batch.records().iter()) {
            if group == GroupNumber::METADATA {
                self.apply_metadata(sequence, record.body)?;
                continue;
            }
            let data_group = u16::from(group.value());
            let applied = self.data_groups.get(data_group).apply(sequence, record.body);
            applied.map_err(|fault| ReplicaError::group(group, GroupFault::State { sequence, fault }))?;
            self.growth.entry(data_group, record.body.len() as u64);
            *self.unpurged_bytes.entry(group).or_default() += record.body.len() as u64;
        }
        Ok(())
    }

    fn apply_metadata(&mut self, sequence: u64, body: &[u8]) -> Result<(), MemberError> {
        let entry = Entry::decode(body);
        let entry = entry
            .map_err(|fault| ReplicaError::group(GroupNumber::METADATA, GroupFault::Cluster { sequence, fault }))?;
        // What does not hold changes nothing, on any node. Whoever says it need not say it again.
        let answer = self.cluster.apply(sequence, &entry);
        self.desk.applied(&entry, &answer, &self.cluster);
        if answer.is_err() {
            self.refuse(entry);
        }
        self.metadata_entries += 1;
        self.has_new_members = true;
        Ok(())
    }

    /// Begins to put a snapshot in the place of a group's log. False: the engine does not want it.
    pub(super) fn begin_install(&mut self, group: GroupNumber, snapshot: &Snapshot) -> bool {
        if self.installing.is_some() || self.replica.install(group, snapshot).is_err() {
            return false;
        }
        self.installing = Some(group);
        true
    }

    /// The snapshot of a group counts, and its state has taken the place of the one before.
    pub(super) fn installed(&mut self, group: GroupNumber, at: Position) {
        self.installing = None;
        self.applied.insert(group, at);
        self.unpurged_bytes.remove(&group);
        // What was committed before and not applied is in it.
        let waiting = self.waiting.entry(group).or_default();
        waiting.retain(|entry| entry.raft_index > at.index);
        self.has_more = true;
    }

    /// Whether a snapshot is being put in the place of a log.
    pub(super) fn is_installing(&self) -> bool {
        self.installing.is_some()
    }

    /// The last sequence that a data group's state has.
    pub(super) fn applied_sequence(&self, data_group: u16) -> u64 {
        self.data_groups.get(data_group).applied()
    }

    /// The last entry that a group's state has.
    pub(super) fn applied(&self, group: GroupNumber) -> Position {
        self.applied.get(&group).copied().unwrap_or_default()
    }

    /// Whether every state has everything that is in this node's log, and the disk too: who serves goes on behind that, and reads
    /// first what waits in the log.
    pub(super) fn has_applied_all(&self) -> bool {
        GroupNumber::all().all(|group| {
            let status = self.replica.status(group);
            self.applied(group).index == status.last && status.persisted == status.last
        })
    }

    /// Whether nothing of the metadata group is under way: the next entry's number is known.
    pub(super) fn may_propose_metadata(&self) -> bool {
        let status = self.replica.status(GroupNumber::METADATA);
        status.role == Role::Leader && status.last == self.applied(GroupNumber::METADATA).index
    }

    /// It does not hold, and need not be said again.
    pub(super) fn refuse(&mut self, entry: Entry) {
        self.refused.truncate(REFUSED_MAX - 1);
        self.refused.insert(0, entry);
    }

    /// The term of each data group.
    pub(super) fn terms(&self) -> [u64; DATA_GROUPS as usize] {
        let mut terms = [0; DATA_GROUPS as usize];
        let groups = GroupNumber::all().map(|group| self.replica.engine(group).term());
        terms.iter_mut().zip(groups).for_each(|(term, found)| *term = found);
        terms
    }

    /// The term of the metadata group.
    pub(super) fn metadata_term(&self) -> u64 {
        self.replica.engine(GroupNumber::METADATA).term()
    }

    /// Whether something was left for the next turn.
    pub(super) fn take_has_more(&mut self) -> bool {
        std::mem::take(&mut self.has_more)
    }

    /// Whether this was said before, and did not hold.
    pub(super) fn is_refused(&self, entry: &Entry) -> bool {
        self.refused.contains(entry)
    }

    /// The first one counts.
    pub(super) fn fail(&mut self, error: MemberError) {
        self.failure.get_or_insert(error);
    }

    /// Other members, and where they are: as the metadata has them, and who is connected as it says itself.
    pub(super) fn others(&self) -> Vec<(NodeId, Vec<String>)> {
        let own = self.own.node;
        // Who is gone may be needed still, to be taken out of the groups.
        let members = self.cluster.members().filter(|member| !self.is_out(member.id));
        let others = members.filter_map(|member| Some((NodeId::new(member.id.0)?, member.said.addresses.clone())));
        others.filter(|(node, _)| *node != own).collect()
    }
}

/// What a start has found, beside the logs.
pub(super) struct Found {
    data_groups: DataGroups,
    cluster: ClusterState,
    applied: BTreeMap<GroupNumber, Position>,
    growth: Growth,
}

impl Found {
    /// `snapshot_bytes`: the least that comes to a state before it is written anew.
    pub(super) fn of(started: &Started, snapshot_bytes: u64) -> Found {
        let Started { data_groups, extents, cluster, logs } = started;
        let extents: &Extents = extents;
        let position = |log: &crate::replica::StartedLog| {
            let commit = log.tail.vote.commit;
            let entry = log.tail.entries.iter().find(|entry| entry.index == commit);
            let position = entry.map_or(log.tail.compacted, |entry| Position { index: commit, term: entry.term });
            (log.group, position)
        };
        Found {
            data_groups: data_groups.clone(),
            cluster: cluster.clone(),
            applied: logs.iter().map(position).collect(),
            growth: Growth::of(extents, snapshot_bytes),
        }
    }
}
