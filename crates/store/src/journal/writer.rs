//! The one writer of the journal: what may be asked of it.

use std::sync::Arc;

use super::compact::Compaction;
use super::config::JournalConfig;
use super::counters::JournalCounters;
use super::data_group::DataGroupId;
use super::entry::Entry;
use super::info::JournalCommitted;
use super::op::Op;
use super::pending::Pending;
use super::segment_writer::SegmentWriter;
use super::state::Shared;
use super::tail::{Tail, VOTE_BYTES_MAX};
use crate::clock::now_us;
use crate::error::StoreError;
use crate::lock::FolderLock;
use crate::record::{BODY_BYTES_MAX, LIFETIME_JOURNAL, RecordHeader, RecordKind, check_next, record_bytes};

/// The one writer of the journal: `append` gathers, `commit` makes durable and visible. `Send`, owned by the log thread.
#[derive(Debug)]
pub struct JournalWriter {
    pub(crate) shared: Arc<Shared>,
    config: JournalConfig,
    /// How each group stands, counting what waits.
    pub(super) groups: Vec<Tail>,
    pending: Pending,
    pub(crate) segment: SegmentWriter,
    pub(crate) compaction: Compaction,
    /// The first fatal error; nothing is done after it.
    stopped: Option<String>,
    /// Held until both this and the writer of streams go.
    _lock: Option<Arc<FolderLock>>,
}

/// What a record that is no entry says of its group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbers {
    pub index: u64,
    pub raft_index: u64,
    pub term: u64,
}

impl JournalWriter {
    pub(crate) fn new(
        shared: Arc<Shared>,
        config: JournalConfig,
        allocated_bytes: u64,
        lock: Option<Arc<FolderLock>>,
    ) -> Self {
        let groups = shared.state().groups.clone();
        let segment = SegmentWriter::new(&shared, &config, allocated_bytes);
        let (pending, compaction) = (Pending::new(), Compaction::default());
        Self { shared, config, groups, pending, segment, compaction, stopped: None, _lock: lock }
    }

    /// Takes an entry. Durable and visible after the next `commit`.
    ///
    /// # Errors
    /// `Pending`: too much waits, commit first. `NotNext`, `TermFell`, `RaftError::IndexFell`, `NumbersEnd`, `BodyTooLarge`,
    /// `NoDataGroup`: the entry is refused and nothing changed. `Stopped`: fatal.
    pub fn append(&mut self, entry: Entry<'_>) -> Result<(), StoreError> {
        let place = entry.group.place()?;
        self.check_room(entry.body.len())?;
        self.take(place, entry)
    }

    /// Takes an entry for which there is room.
    #[inline]
    pub(super) fn take(&mut self, place: usize, entry: Entry<'_>) -> Result<(), StoreError> {
        let tail = &mut self.groups[place];
        let (group, index, term, raft_index) = (entry.group.0, entry.index, entry.term, entry.raft_index);
        if index != tail.next() {
            return Err(StoreError::NotNext { group, index, next: tail.next() });
        }
        check_next(index)?;
        let last_term = tail.last_term();
        if term < last_term {
            return Err(StoreError::TermFell { group, index, term, last_term });
        }
        if raft_index > 0 || tail.raft.is_used() {
            tail.take_raft(group, (raft_index, term), index)?;
        }
        tail.append(index, index, term);
        self.pending.entry(&entry, self.shared.salt);
        Ok(())
    }

    /// Remembers the vote of a group, at most 256 bytes. Durable after the next `commit`.
    ///
    /// # Errors
    /// `VoteTooLarge`, `Pending`, `NoDataGroup`, `Stopped`.
    pub fn vote(&mut self, group: DataGroupId, vote: &[u8]) -> Result<(), StoreError> {
        let place = group.place()?;
        self.check_room(vote.len())?;
        if vote.len() > VOTE_BYTES_MAX {
            return Err(StoreError::VoteTooLarge { vote_bytes: vote.len(), vote_bytes_max: VOTE_BYTES_MAX });
        }
        self.groups[place].vote = vote.to_vec();
        self.record(RecordKind::Vote, group, Numbers::default(), vote, Op::Vote(vote.into()));
        Ok(())
    }

    /// Entries of a group from `from_index` on are void; appending goes on there. Durable after the next `commit`.
    ///
    /// # Errors
    /// `BelowPurged`: what a snapshot covers is settled. `RaftError::HasRaftIndexes`: see [`JournalWriter::truncate_raft`]. `Pending`,
    /// `NoDataGroup`, `Stopped`.
    pub fn truncate(&mut self, group: DataGroupId, from_index: u64) -> Result<(), StoreError> {
        let place = self.place_without_raft(group)?;
        let tail = &mut self.groups[place];
        if from_index <= tail.purged {
            let purged_index = tail.purged;
            return Err(StoreError::BelowPurged { group: group.0, from_index, purged_index });
        }
        if from_index > tail.last {
            return Ok(());
        }
        tail.truncate(from_index);
        let numbers = Numbers { index: from_index, ..Numbers::default() };
        self.record(RecordKind::Truncation, group, numbers, &[], Op::Truncate { from: from_index, raft_index: 0 });
        Ok(())
    }

    /// A durable snapshot covers a group's entries through `through_index`: replay no longer needs them, and what is not
    /// live of them may go. `through_index` may lie beyond the last entry, when a snapshot came from elsewhere: the group
    /// goes on behind it. `term`: that of the entry, which counts only then.
    ///
    /// # Errors
    /// `RaftError::HasRaftIndexes`: see [`JournalWriter::purge_raft`]. `Pending`, `NoDataGroup`, `Stopped`.
    pub fn purge(&mut self, group: DataGroupId, through_index: u64, term: u64) -> Result<(), StoreError> {
        let place = self.place_without_raft(group)?;
        let tail = &mut self.groups[place];
        if through_index <= tail.purged {
            return Ok(());
        }
        tail.purge(through_index, term);
        let (through, raft_index, term) = (through_index, 0, tail.purged_term);
        let numbers = Numbers { index: through, raft_index, term };
        self.record(RecordKind::Purge, group, numbers, &[], Op::Purge { through, raft_index, term });
        Ok(())
    }

    /// The index of the next entry of a group, counting what waits.
    ///
    /// # Errors
    /// `NoDataGroup`.
    pub fn next_index(&self, group: DataGroupId) -> Result<u64, StoreError> {
        Ok(self.groups[group.place()?].next())
    }

    /// Bytes that wait for a commit.
    pub fn pending_bytes(&self) -> usize {
        self.pending.batch.bytes()
    }

    /// The disk has no room for what should be set aside: nothing more should be taken in but what frees space in the end, as
    /// acknowledgements and purges do. Found out, and ended, by [`JournalWriter::room_made`].
    pub fn is_low_on_space(&self) -> bool {
        self.segment.room.is_low()
    }

    /// Half of the active segment is used and the next one is still being made: nothing more should be taken in until
    /// [`JournalWriter::room_made`] says that it is there, or that there is no room.
    pub fn waits_for_room(&self) -> bool {
        self.segment.room.is_late(self.segment.used(&self.shared))
    }

    /// Writes and syncs what waits, then lets readers see it. Does nothing when nothing waits.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: everything is kept, call again when space may have returned. Anything else is fatal: the writer
    /// does nothing any more.
    pub fn commit(&mut self) -> Result<JournalCommitted, StoreError> {
        self.check_running()?;
        if self.pending.batch.is_empty() {
            return Ok(JournalCommitted::default());
        }
        let result = self.segment.commit(&self.shared, &mut self.pending);
        let committed = self.note(result)?;
        let counters = &self.shared.counters;
        JournalCounters::add(&counters.entries, committed.entries);
        JournalCounters::add(&counters.bytes, committed.bytes);
        JournalCounters::add(&counters.sync_us, committed.sync_us);
        JournalCounters::add(&counters.commits, 1);
        Ok(committed)
    }

    /// Commits what waits and names the end in a last commit record.
    ///
    /// # Errors
    /// As `commit`; on `Full` what waited is lost.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.commit()?;
        self.segment.name_end(&self.shared)
    }

    pub(crate) fn check_running(&self) -> Result<(), StoreError> {
        match &self.stopped {
            Some(reason) => Err(StoreError::Stopped { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Remembers an error that stops the journal, counts one that does not; what finds no space has the reserve at its next
    /// try.
    pub(crate) fn note<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            if matches!(error, StoreError::Full { .. }) {
                self.give_up_reserve();
            }
            match error.is_retryable() {
                true => JournalCounters::add(&self.shared.counters.full, 1),
                false => self.stopped = Some(error.to_string()),
            }
        }
        result
    }

    /// A body of this size may be taken now.
    pub(super) fn check_room(&self, body_bytes: usize) -> Result<(), StoreError> {
        self.check_running()?;
        self.check_body(body_bytes)?;
        self.check_pending(record_bytes(body_bytes))
    }

    /// A body may be so large.
    pub(super) fn check_body(&self, body_bytes: usize) -> Result<(), StoreError> {
        let body_bytes_max = self.config.body_bytes_max.min(BODY_BYTES_MAX);
        match body_bytes > body_bytes_max {
            true => Err(StoreError::BodyTooLarge { body_bytes, body_bytes_max }),
            false => Ok(()),
        }
    }

    /// So many bytes of records may wait beside what waits already.
    pub(super) fn check_pending(&self, bytes: usize) -> Result<(), StoreError> {
        let (pending_bytes, pending_bytes_max) = (self.pending_bytes(), self.config.pending_bytes_max);
        // One record, or batch, always fits, so that a limit below the largest body cannot block for ever.
        match pending_bytes > 0 && pending_bytes + bytes > pending_bytes_max {
            true => Err(StoreError::Pending { pending_bytes, pending_bytes_max }),
            false => Ok(()),
        }
    }

    /// Gathers a record of the journal itself.
    pub(super) fn record_own(&mut self, header: &RecordHeader, body: &[u8], op: Op) {
        self.pending.record(header, body, op, self.shared.salt);
    }

    /// What waits will not be committed: the groups stand as they do on disk.
    pub(super) fn forget_pending(&mut self) {
        self.pending.clear();
        self.groups = self.shared.state().groups.clone();
    }

    /// Gathers a record that is no entry.
    pub(super) fn record(&mut self, kind: RecordKind, group: DataGroupId, numbers: Numbers, body: &[u8], op: Op) {
        let Numbers { index, raft_index, term } = numbers;
        let header = RecordHeader {
            lifetime: LIFETIME_JOURNAL,
            data_group: group.0,
            partition: u32::from(group.0),
            term,
            index,
            offset: raft_index,
            ..RecordHeader::own(kind, now_us())
        };
        self.pending.record(&header, body, op, self.shared.salt);
    }
}
