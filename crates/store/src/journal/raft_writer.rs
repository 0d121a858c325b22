//! What only a node of a cluster asks of the writer: everything here goes by Raft index.

use std::sync::Arc;

use super::data_group::DataGroupId;
use super::entry::Entry;
use super::marker::{MARKER_BYTES_MAX, Marker};
use super::op::Op;
use super::raft_error::RaftError;
use super::tail::Tail;
use super::writer::{JournalWriter, Numbers};
use crate::error::StoreError;
use crate::record::{RecordKind, check_next, record_bytes};

/// What a snapshot covers of a data group, by each way of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// The last entry.
    pub index: u64,
    /// The last Raft index: that of the entry, or of a marker behind it.
    pub raft_index: u64,
    /// The term of the Raft index.
    pub term: u64,
}

impl JournalWriter {
    /// Takes the entries of one batch, all or none: no commit comes between two of them, so no crash leaves half of it. They
    /// follow each other and have one group, term and Raft index. One batch always fits, however large, where nothing waits.
    ///
    /// # Errors
    /// As for [`JournalWriter::append`], and nothing changed.
    pub fn append_batch<'a>(&mut self, entries: impl Iterator<Item = Entry<'a>> + Clone) -> Result<(), StoreError> {
        self.check_running()?;
        let (mut bytes, mut end) = (0, 0);
        for entry in entries.clone() {
            self.check_body(entry.body.len())?;
            (bytes, end) = (bytes + record_bytes(entry.body.len()), entry.index);
        }
        self.check_pending(bytes)?;
        check_next(end)?;
        for entry in entries {
            // It is the first that may be refused: the others follow it.
            self.take(entry.group.place()?, entry)?;
        }
        Ok(())
    }

    /// Takes a marker. Durable and visible after the next `commit`.
    ///
    /// # Errors
    /// `Pending`: too much waits, commit first. `RaftError::IndexFell`, `TermFell`, `NumbersEnd`, `BodyTooLarge`, `NoDataGroup`: it is
    /// refused and nothing changed. `Stopped`: fatal.
    pub fn mark(&mut self, marker: Marker<'_>) -> Result<(), StoreError> {
        let Marker { group, raft_index, term, body } = marker;
        let place = group.place()?;
        self.check_room(body.len())?;
        if body.len() > MARKER_BYTES_MAX {
            return Err(StoreError::BodyTooLarge { body_bytes: body.len(), body_bytes_max: MARKER_BYTES_MAX });
        }
        let tail = &mut self.groups[place];
        let (group_number, last_raft_index, last_term) = (group.0, tail.raft.last, tail.least_term());
        if raft_index <= last_raft_index {
            return Err(RaftError::IndexFell { group: group_number, raft_index, last_raft_index }.into());
        }
        check_next(raft_index)?;
        if term < last_term {
            return Err(StoreError::TermFell { group: group_number, index: tail.last, term, last_term });
        }
        let kept: Arc<[u8]> = body.into();
        tail.raft.marker((raft_index, term), tail.last, kept.clone());
        let numbers = Numbers { index: 0, raft_index, term };
        self.record(RecordKind::Marker, group, numbers, body, Op::Marker { raft_index, term, body: kept });
        Ok(())
    }

    /// What has the Raft index `from_raft_index` or a higher one is void, entries and markers; appending goes on there. Durable
    /// after the next `commit`.
    ///
    /// # Errors
    /// `RaftError::Purged`: what a snapshot covers is settled. `Pending`, `NoDataGroup`, `Stopped`.
    pub fn truncate_raft(&mut self, group: DataGroupId, from_raft_index: u64) -> Result<(), StoreError> {
        let place = group.place()?;
        self.check_room(0)?;
        let tail = &mut self.groups[place];
        let (raft_index, purged_raft_index) = (from_raft_index, tail.raft.purged);
        if raft_index <= purged_raft_index {
            return Err(RaftError::Purged { group: group.0, raft_index, purged_raft_index }.into());
        }
        if raft_index > tail.raft.last {
            return Ok(());
        }
        let from = tail.raft.index_through(raft_index - 1) + 1;
        tail.truncate(from);
        tail.raft.truncate(raft_index);
        let numbers = Numbers { index: from, raft_index, term: 0 };
        self.record(RecordKind::Truncation, group, numbers, &[], Op::Truncate { from, raft_index });
        Ok(())
    }

    /// A durable snapshot covers so much of a group, as for [`JournalWriter::purge`]. It may reach beyond the last Raft index, when
    /// it came from elsewhere; what contradicts it is to be truncated before.
    ///
    /// # Errors
    /// `RaftError::NotCovered`: the Raft index does not end with that entry. `Pending`, `NoDataGroup`, `Stopped`.
    pub fn purge_raft(&mut self, group: DataGroupId, covered: Covered) -> Result<(), StoreError> {
        let place = group.place()?;
        self.check_room(0)?;
        let Covered { index, raft_index, term } = covered;
        check_next(raft_index).and(check_next(index))?;
        let tail = &mut self.groups[place];
        if raft_index <= tail.raft.purged {
            return Ok(());
        }
        tail.check_covered(group.0, covered)?;
        tail.raft.purge((raft_index, term), index);
        tail.purge(index, term);
        let term = tail.raft.purged_term;
        let numbers = Numbers { index, raft_index, term };
        self.record(RecordKind::Purge, group, numbers, &[], Op::Purge { through: index, raft_index, term });
        Ok(())
    }

    /// The place of a group that has no Raft index, when a record may be taken.
    pub(super) fn place_without_raft(&self, group: DataGroupId) -> Result<usize, StoreError> {
        let place = group.place()?;
        self.check_room(0)?;
        match self.groups[place].raft.is_used() {
            true => Err(RaftError::HasRaftIndexes { group: group.0 }.into()),
            false => Ok(place),
        }
    }
}

impl Tail {
    /// Notes the Raft index of the entry that follows, if it may follow. Apart from what a node on its own does for an entry.
    #[cold]
    pub(super) fn take_raft(
        &mut self,
        group: u16,
        (raft_index, term): (u64, u64),
        index: u64,
    ) -> Result<(), StoreError> {
        let last_term = self.least_term();
        if term < last_term {
            return Err(StoreError::TermFell { group, index, term, last_term });
        }
        if !self.raft.takes(raft_index, term) {
            return Err(RaftError::IndexFell { group, raft_index, last_raft_index: self.raft.last }.into());
        }
        check_next(raft_index)?;
        self.raft.batch((raft_index, term), index, index);
        Ok(())
    }

    /// A snapshot may say so: its Raft index ends with its entry, or lies beyond the end with it.
    fn check_covered(&self, group: u16, covered: Covered) -> Result<(), StoreError> {
        let Covered { index, raft_index, .. } = covered;
        let is_there = raft_index <= self.raft.last;
        let ends_with = if is_there { self.raft.index_through(raft_index) } else { self.last };
        match if is_there { index == ends_with } else { index >= ends_with } {
            true => Ok(()),
            false => Err(RaftError::NotCovered { group, raft_index, index, ends_with }.into()),
        }
    }
}
