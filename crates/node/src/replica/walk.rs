//! A walk along a group's log as it lies in the journal: headers for the engine, what is committed for the state, and the rest
//! as batches that wait.

use std::ops::ControlFlow;
use std::sync::Arc;

use lapwing_cluster::ClusterState;
use lapwing_ledger::DataGroupState;
use lapwing_peer::{Batch, GroupNumber, List, Record};
use lapwing_raft::{BatchHeader, Entry, EntryKind};
use lapwing_replica::read_membership;
use lapwing_store::ReadLimits;
use lapwing_store::journal::{EntryView, JournalReader, Marker, RaftEntry};

use super::disk::{BLANK, MEMBERSHIP};
use super::{GroupFault, ReplicaError, journal_group};

/// What a group's entries add up to.
#[allow(clippy::large_enum_variant, reason = "one at a time, at a start")]
pub(crate) enum GroupState {
    /// Of a data group.
    Data(DataGroupState),
    /// Of the metadata group.
    Cluster(ClusterState),
}

/// How far the walk has come, and what it has found.
pub(super) struct Walk {
    group: GroupNumber,
    /// What lies above it is in no state.
    commit: u64,
    pub(super) state: GroupState,
    pub(super) entries: Vec<Entry>,
    pub(super) waiting: Vec<(u64, Arc<Batch>)>,
    /// Bytes of the bodies that the state has.
    pub(super) applied_bytes: u64,
    /// The batch that was not handed over as a whole yet.
    open: Option<Open>,
}

/// A batch whose entries are coming.
struct Open {
    raft_index: u64,
    term: u64,
    header: BatchHeader,
    /// Copies, where it has to wait.
    records: Vec<Kept>,
}

struct Kept {
    slot: u16,
    message_id: u64,
    appended_at_us: i64,
    body: Vec<u8>,
}

impl Walk {
    pub(super) fn new(group: GroupNumber, state: GroupState, commit: u64) -> Self {
        Walk { group, commit, state, entries: vec![], waiting: vec![], applied_bytes: 0, open: None }
    }

    /// Walks from a Raft index to the end of the log.
    ///
    /// # Errors
    /// `Group`: what lies there is nothing that a member writes. `Store`.
    pub(super) fn through(mut self, reader: &JournalReader, from: u64) -> Result<Self, ReplicaError> {
        let everything = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
        let (group, mut failed) = (self.group, None);
        let mut each = |entry: RaftEntry<'_>| match self.take(entry) {
            Ok(()) => ControlFlow::Continue(()),
            Err(fault) => {
                failed = Some(fault);
                ControlFlow::Break(())
            }
        };
        reader.read_raft(journal_group(group), from, u64::MAX, everything, &mut each)?;
        match failed.map_or_else(|| self.close(), Err) {
            Ok(()) => Ok(self),
            Err(fault) => Err(ReplicaError::group(group, fault)),
        }
    }

    fn take(&mut self, entry: RaftEntry<'_>) -> Result<(), GroupFault> {
        match entry {
            RaftEntry::Marker(marker) => {
                self.close()?;
                self.entries.push(marked(&marker)?);
                Ok(())
            }
            RaftEntry::Entry(entry) => self.take_entry(&entry),
        }
    }

    fn take_entry(&mut self, entry: &EntryView<'_>) -> Result<(), GroupFault> {
        if self.open.as_ref().is_none_or(|open| open.raft_index != entry.raft_index) {
            self.close()?;
            let header = BatchHeader { first_sequence: entry.index, count: 0, bytes: 0 };
            self.open = Some(Open { raft_index: entry.raft_index, term: entry.term, header, records: vec![] });
        }
        let EntryView { slot, message_id, appended_at_us, body, .. } = *entry;
        if let Some(open) = &mut self.open {
            let bytes = Record { slot, message_id, appended_at_us, body }.encoded_bytes();
            open.header.count += 1;
            open.header.bytes = open.header.bytes.saturating_add(bytes as u32);
            if entry.raft_index > self.commit {
                open.records.push(Kept { slot, message_id, appended_at_us, body: body.to_vec() });
                return Ok(());
            }
        }
        self.applied_bytes += body.len() as u64;
        self.state.apply(entry.index, body)
    }

    /// The open batch is there as a whole.
    fn close(&mut self) -> Result<(), GroupFault> {
        let Some(Open { raft_index, term, header, records }) = self.open.take() else { return Ok(()) };
        self.entries.push(Entry { index: raft_index, term, kind: EntryKind::Batch(header) });
        if raft_index > self.commit {
            let records: Vec<Record<'_>> = records.iter().map(Kept::as_record).collect();
            let batch = Batch::of(header.first_sequence, &List::from_slice(&records));
            let batch = batch.map_err(|_| GroupFault::Log { raft_index, what: "more than a batch may have" })?;
            self.waiting.push((raft_index, Arc::new(batch)));
        }
        Ok(())
    }
}

/// The entry that a marker is.
fn marked(marker: &Marker<'_>) -> Result<Entry, GroupFault> {
    let kind = match marker.body {
        [BLANK] => Some(EntryKind::Blank),
        [MEMBERSHIP, changes @ ..] => read_membership(changes).map(EntryKind::Membership),
        _ => None,
    };
    let (index, term) = (marker.raft_index, marker.term);
    let fault = GroupFault::Log { raft_index: index, what: "neither a blank entry nor one of membership" };
    kind.map(|kind| Entry { index, term, kind }).ok_or(fault)
}

impl Kept {
    fn as_record(&self) -> Record<'_> {
        let Kept { slot, message_id, appended_at_us, ref body } = *self;
        Record { slot, message_id, appended_at_us, body }
    }
}

impl GroupState {
    /// The last entry that it has.
    pub(super) fn applied(&self) -> u64 {
        match self {
            GroupState::Data(state) => state.applied(),
            GroupState::Cluster(state) => state.applied(),
        }
    }

    fn apply(&mut self, sequence: u64, body: &[u8]) -> Result<(), GroupFault> {
        match self {
            GroupState::Data(state) => {
                state.apply(sequence, body).map_err(|fault| GroupFault::State { sequence, fault })
            }
            GroupState::Cluster(state) => {
                let entry = lapwing_cluster::Entry::decode(body);
                let entry = entry.map_err(|fault| GroupFault::Cluster { sequence, fault })?;
                // What was refused when it was committed is refused again, by everybody.
                drop(state.apply(sequence, &entry));
                Ok(())
            }
        }
    }
}
