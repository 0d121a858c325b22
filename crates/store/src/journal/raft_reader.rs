//! Reading by Raft index: what is sent to a follower, and what an engine asks of its storage.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::data_group::DataGroupId;
use super::info::RaftRead;
use super::marker::{Marker, RaftEntry};
use super::raft_error::RaftError;
use super::reader::JournalReader;
use crate::error::StoreError;
use crate::info::ReadLimits;

/// What of a range is looked up at once: entries between markers.
struct Plan {
    /// The first entry, and the last one.
    entries: (u64, u64),
    markers: Vec<Planned>,
    to_raft_index: u64,
}

/// A marker to hand over behind an entry.
struct Planned {
    raft_index: u64,
    term: u64,
    behind: u64,
    body: Arc<[u8]>,
}

/// What one read handed over so far.
struct Progress {
    read: RaftRead,
    limits: ReadLimits,
    done: bool,
}

impl Progress {
    /// Hands it over, unless a limit was reached before the batch that it belongs to: a batch is never cut.
    fn hand(
        &mut self,
        entry: RaftEntry<'_>,
        each: &mut impl FnMut(RaftEntry<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let RaftRead { entries, bytes, next_raft_index } = &mut self.read;
        let is_enough = *entries >= self.limits.messages_max || *bytes >= self.limits.bytes_max;
        let begins = entry.raft_index() >= *next_raft_index;
        if begins && is_enough && *entries > 0 {
            self.done = true;
            return ControlFlow::Break(());
        }
        (*entries, *bytes) = (*entries + 1, bytes.saturating_add(entry.body_bytes()));
        *next_raft_index = entry.raft_index() + 1;
        let flow = each(entry);
        self.done = flow.is_break();
        flow
    }
}

impl JournalReader {
    /// Hands what has the Raft indexes `from_raft_index..=to_raft_index` of a group to `each`, entries and markers, in order, until
    /// `Break` or a limit. A batch is handed over whole, so limits are passed by as much as that; one at least is.
    ///
    /// What is truncated meanwhile may or may not be handed over.
    /// # Errors
    /// `RaftError::Purged`: a snapshot has it. `NoDataGroup`: the caller's. `Corrupt`, `Io`: the journal's; what was handed over before is
    /// good.
    pub fn read_raft(
        &self,
        group: DataGroupId,
        from_raft_index: u64,
        to_raft_index: u64,
        limits: ReadLimits,
        each: &mut impl FnMut(RaftEntry<'_>) -> ControlFlow<()>,
    ) -> Result<RaftRead, StoreError> {
        let plan = self.plan(group, from_raft_index, to_raft_index)?;
        let read = RaftRead { entries: 0, bytes: 0, next_raft_index: from_raft_index };
        let mut progress = Progress { read, limits, done: false };
        let (mut next, last) = plan.entries;
        for Planned { raft_index, term, behind, body } in plan.markers {
            self.read_batches(group, (next, behind), &mut progress, each)?;
            next = behind + 1;
            let marker = RaftEntry::Marker(Marker { group, raft_index, term, body: &body });
            if progress.done || progress.hand(marker, each).is_break() {
                return Ok(progress.read);
            }
        }
        self.read_batches(group, (next, last), &mut progress, each)?;
        if !progress.done {
            progress.read.next_raft_index = progress.read.next_raft_index.max(plan.to_raft_index + 1);
        }
        Ok(progress.read)
    }

    /// The term of a Raft index of a group: of one that is there, or of the last one purged. Nothing for any other.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub fn raft_term(&self, group: DataGroupId, raft_index: u64) -> Result<Option<u64>, StoreError> {
        let place = group.place()?;
        Ok(self.shared.state().groups[place].raft.term(raft_index))
    }

    /// The last entry through a Raft index of a group, which is there or the last one purged; nothing for any other.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub fn index_through(&self, group: DataGroupId, raft_index: u64) -> Result<Option<u64>, StoreError> {
        let place = group.place()?;
        let state = self.shared.state();
        let raft = &state.groups[place].raft;
        Ok(raft.term(raft_index).map(|_| raft.index_through(raft_index)))
    }

    fn plan(&self, group: DataGroupId, from: u64, to: u64) -> Result<Plan, StoreError> {
        let place = group.place()?;
        let state = self.shared.state();
        let raft = &state.groups[place].raft;
        if from <= raft.purged {
            let purged_raft_index = raft.purged;
            return Err(RaftError::Purged { group: group.0, raft_index: from, purged_raft_index }.into());
        }
        let to_raft_index = to.min(raft.last).max(from - 1);
        let planned = |(raft_index, behind, body)| {
            let term = raft.term(raft_index).unwrap_or_default();
            Planned { raft_index, term, behind, body }
        };
        let markers =
            if from <= to_raft_index { raft.markers(from..=to_raft_index).map(planned).collect() } else { vec![] };
        let entries = (raft.index_through(from - 1) + 1, raft.index_through(to_raft_index));
        Ok(Plan { entries, markers, to_raft_index })
    }

    /// Hands over entries that lie between two markers.
    fn read_batches(
        &self,
        group: DataGroupId,
        (from, to): (u64, u64),
        progress: &mut Progress,
        each: &mut impl FnMut(RaftEntry<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        if progress.done || from > to {
            return Ok(());
        }
        let whole = ReadLimits { messages_max: u64::MAX, bytes_max: u64::MAX };
        self.read(group, from, to, whole, &mut |entry| progress.hand(RaftEntry::Entry(entry), each)).map(drop)
    }
}
