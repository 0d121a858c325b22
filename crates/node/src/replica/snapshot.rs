//! Snapshots of a member's groups: the preface, then the state. Durable when they are written; only then may the log be purged.

use std::io::{self, Read, Write};

use lapwing_cluster::{ClusterState, SNAPSHOT_BYTES_MAX};
use lapwing_ledger::FrozenState;
use lapwing_peer::GroupNumber;
use lapwing_store::StoreError;
use lapwing_store::journal::{Covered, JournalReader, Snapshot, SnapshotDraft};

use super::preface::Preface;
use super::{GroupFault, ReplicaError, journal_group};
use crate::log::snapshot::{self, Unreadable, store_error};

/// Writes a data group's state as it was at the preface's place. Returns what the log may be purged by now, and the bytes of the
/// file.
///
/// # Errors
/// `Full`: nothing is left behind. Anything else is fatal.
pub(crate) fn write_data_group(
    reader: &JournalReader,
    group: GroupNumber,
    preface: &Preface,
    state: FrozenState,
) -> Result<(Covered, u64), StoreError> {
    let index = state.applied();
    write(reader, group, (preface, index), |out| snapshot::write(state, out))
}

/// The same for the state of the metadata group.
///
/// # Errors
/// `Full`: nothing is left behind. Anything else is fatal.
pub(crate) fn write_cluster(
    reader: &JournalReader,
    preface: &Preface,
    state: &ClusterState,
) -> Result<(Covered, u64), StoreError> {
    write(reader, GroupNumber::METADATA, (preface, state.applied()), |out| out.write_all(&state.snapshot()))
}

fn write(
    reader: &JournalReader,
    group: GroupNumber,
    (preface, index): (&Preface, u64),
    state: impl FnOnce(&mut SnapshotDraft) -> io::Result<()>,
) -> Result<(Covered, u64), StoreError> {
    let (raft_index, term) = (preface.at.index, preface.at.term);
    let mut draft = reader.new_snapshot(journal_group(group), index, term)?;
    preface.write(&mut draft).and_then(|()| state(&mut draft)).map_err(store_error)?;
    Ok((Covered { index, raft_index, term }, draft.finish()?))
}

/// A group's newest snapshot.
pub(super) struct Newest<R> {
    /// Where it lies.
    pub(super) preface: Preface,
    /// The same for the journal.
    pub(super) covered: Covered,
    /// Of its file.
    pub(super) file_bytes: u64,
    /// What is left of it to read.
    pub(super) state: R,
}

/// A group's newest snapshot; nothing where there is none.
///
/// # Errors
/// `Group`: it is no member's. `Store`.
pub(super) fn newest(
    reader: &JournalReader,
    group: GroupNumber,
) -> Result<Option<Newest<impl Read + use<>>>, ReplicaError> {
    let Some(found) = reader.snapshot(journal_group(group))? else { return Ok(None) };
    let (index, file_bytes) = (found.index(), found.file_bytes());
    let read = Preface::read::<Snapshot>(found);
    let (preface, state) = read.map_err(|why| ReplicaError::unreadable(group, index, why))?;
    let Some(preface) = preface else {
        let fault = GroupFault::Snapshot("its snapshot was written by a node on its own");
        return Err(ReplicaError::group(group, fault));
    };
    let covered = Covered { index, raft_index: preface.at.index, term: preface.at.term };
    Ok(Some(Newest { preface, covered, file_bytes, state }))
}

/// Reads the state of the metadata group, behind its preface.
///
/// # Errors
/// `Cluster`: it is none. `Store`.
pub(super) fn read_cluster(sequence: u64, state: impl Read) -> Result<ClusterState, ReplicaError> {
    let group = GroupNumber::METADATA;
    let mut bytes = vec![];
    let read = state.take(SNAPSHOT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| ReplicaError::unreadable(group, sequence, Unreadable::Io(error)))?;
    let restored = ClusterState::restore(&bytes);
    restored.map_err(|fault| ReplicaError::group(group, GroupFault::Cluster { sequence, fault }))
}
