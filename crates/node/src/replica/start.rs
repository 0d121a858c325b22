//! What a member begins with: the logs for its engines, and the states of its groups as far as they are known to be committed.

use std::sync::Arc;

use lapwing_cluster::ClusterState;
use lapwing_ledger::DataGroupState;
use lapwing_peer::{Batch, GroupNumber};
use lapwing_raft::{LogTail, Position, StartError, Vote};
use lapwing_replica::read_vote;
use lapwing_store::journal::{Covered, DataGroupLog, JournalReader, JournalWriter};

use super::disk::begin_anew;
use super::snapshot::{self, Newest};
use super::walk::{GroupState, Walk};
use super::{GroupFault, Preface, ReplicaError, journal_group};
use crate::data_groups::{DataGroups, Extent, Extents};
use crate::log::snapshot as ledger_snapshot;
use crate::slot::DATA_GROUPS;

/// All that is there when a member starts.
pub(crate) struct Started {
    /// The states of the data groups, through the commit of their votes and no further.
    pub(crate) data_groups: DataGroups,
    /// What a start has read of each.
    pub(crate) extents: Extents,
    /// The state of the metadata group, through the commit of its vote.
    pub(crate) cluster: ClusterState,
    /// For each group, by number, what its engine begins with.
    pub(crate) logs: Vec<StartedLog>,
}

/// One group's log.
pub(crate) struct StartedLog {
    /// Whose.
    pub(crate) group: GroupNumber,
    /// For its engine.
    pub(crate) tail: LogTail,
    /// Batches above the commit of the vote, by Raft index: they wait for a leader's word.
    pub(crate) waiting: Vec<(u64, Arc<Batch>)>,
}

/// Makes of a journal what its groups begin with. Nothing waits in it. An installed snapshot that a crash kept from counting
/// counts from now on.
///
/// # Errors
/// `Group`: names the one that cannot go on, and why: `Lost`, where its vote says that more is committed than it has. `Store`.
pub(crate) fn start(journal: &mut JournalWriter, reader: &JournalReader) -> Result<Started, ReplicaError> {
    let (mut states, mut cluster, mut extents, mut logs) = (vec![], ClusterState::new(), Extents::default(), vec![]);
    for group in GroupNumber::all() {
        let (log, state, extent) = start_group(journal, reader, group)?;
        logs.push(log);
        match state {
            GroupState::Data(state) => {
                extents[states.len()] = extent;
                states.push(state);
            }
            GroupState::Cluster(state) => cluster = state,
        }
    }
    debug_assert_eq!(states.len(), usize::from(DATA_GROUPS));
    Ok(Started { data_groups: DataGroups::of(states), extents, cluster, logs })
}

fn start_group(
    journal: &mut JournalWriter,
    reader: &JournalReader,
    group: GroupNumber,
) -> Result<(StartedLog, GroupState, Extent), ReplicaError> {
    let (preface, snapshot_bytes, state) = match snapshot::newest(reader, group)? {
        Some(Newest { preface, covered, file_bytes, state }) => {
            settle(journal, reader, group, covered)?;
            (preface, file_bytes, GroupState::read(group, covered.index, state)?)
        }
        None => (Preface::of_nothing(), 0, GroupState::new(group)),
    };
    let Preface { at: compacted, membership } = preface;
    let log = reader.group(journal_group(group))?;
    if log.purged_raft_index > compacted.index || log.purged_index > state.applied() {
        let fault = GroupFault::Snapshot("the log no longer has what its snapshot does not have yet");
        return Err(ReplicaError::group(group, fault));
    }
    let vote = vote_of(group, &log, compacted)?;
    let mut extent = Extent { snapshot_bytes, holds: state.holds(), tail_bytes: 0 };
    let walk = Walk::new(group, state, vote.commit).through(reader, compacted.index + 1)?;
    extent.tail_bytes = walk.applied_bytes;
    let tail = LogTail { compacted, membership, entries: walk.entries, vote };
    Ok((StartedLog { group, tail, waiting: walk.waiting }, walk.state, extent))
}

/// Has the log begin where its snapshot ends, if a crash came between that snapshot's file and the record by which it counts.
fn settle(
    journal: &mut JournalWriter,
    reader: &JournalReader,
    group: GroupNumber,
    covered: Covered,
) -> Result<(), ReplicaError> {
    let id = journal_group(group);
    if covered.raft_index <= reader.group(id)?.purged_raft_index {
        return Ok(());
    }
    let fits = reader.raft_term(id, covered.raft_index)? == Some(covered.term)
        && reader.index_through(id, covered.raft_index)? == Some(covered.index);
    // The log as it goes on behind it, or the one of another history, which a leader's snapshot has voided.
    match fits {
        true => journal.purge_raft(id, covered)?,
        false => begin_anew(journal, reader, id, covered)?,
    }
    journal.commit()?;
    Ok(())
}

/// The vote record, with what the log itself is evidence of: a crash may have come before the record that says so. What is in
/// a snapshot is committed. A node that has an entry of a term has heard of that term, and has voted for nobody in it whom its
/// record does not name: no vote leaves before it is on disk.
fn vote_of(group: GroupNumber, log: &DataGroupLog, compacted: Position) -> Result<Vote, ReplicaError> {
    let malformed = GroupFault::Snapshot("its vote is nothing that a member writes");
    let written = read_vote(&log.vote).ok_or_else(|| ReplicaError::group(group, malformed))?;
    let (term, commit) = (log.last_raft_term.max(compacted.term), written.commit.max(compacted.index));
    let vote = match written.term < term {
        true => Vote { term, voted_for: 0, commit },
        false => Vote { commit, ..written },
    };
    let last = log.last_raft_index;
    match vote.commit > last {
        true => Err(ReplicaError::group(group, StartError::Lost { commit: vote.commit, last })),
        false => Ok(vote),
    }
}

impl GroupState {
    fn new(group: GroupNumber) -> Self {
        match group {
            GroupNumber::METADATA => GroupState::Cluster(ClusterState::new()),
            _ => GroupState::Data(DataGroupState::new()),
        }
    }

    /// As a snapshot has it, which is through `sequence`.
    pub(super) fn read(group: GroupNumber, sequence: u64, mut bytes: impl std::io::Read) -> Result<Self, ReplicaError> {
        let state = match group {
            GroupNumber::METADATA => GroupState::Cluster(snapshot::read_cluster(sequence, bytes)?),
            _ => {
                let state = ledger_snapshot::read(&mut bytes);
                GroupState::Data(state.map_err(|why| ReplicaError::unreadable(group, sequence, why))?)
            }
        };
        match state.applied() == sequence {
            true => Ok(state),
            false => Err(ReplicaError::group(group, GroupFault::Snapshot("its snapshot is of another entry"))),
        }
    }

    fn holds(&self) -> u64 {
        match self {
            GroupState::Data(state) => state.holds(),
            GroupState::Cluster(_) => 0,
        }
    }
}
