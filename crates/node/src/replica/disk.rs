//! What the core wants on disk, on its way into the journal: in order, and nothing left out.

use std::collections::{BTreeMap, VecDeque};

use lapwing_peer::{Batch, GroupNumber};
use lapwing_raft::Snapshot;
use lapwing_replica::{Body, GroupWrite, LogEntry, Write, membership_bytes, vote_bytes};
use lapwing_store::StoreError;
use lapwing_store::journal::{Covered, DataGroupId, Entry, JournalReader, JournalWriter, Marker, Received};

use super::{GroupFault, ReplicaError, journal_group, snapshot};

/// What is committed in one go, where nobody waits for it.
const COMMIT_BYTES: usize = 8 << 20;

/// The first byte of a marker: what it is.
pub(super) const BLANK: u8 = 0;
/// Behind it the changes.
pub(super) const MEMBERSHIP: u8 = 1;

/// Writes that the core has handed out and that are not on disk.
///
/// A journal that has no room, in memory or on disk, keeps what it took; the rest waits here and goes on where it stopped. A
/// commit may so come between any two parts of a write, but never between two entries of a batch.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    reader: JournalReader,
    /// What the journal has not taken as a whole, in order.
    waiting: VecDeque<Write>,
    /// Which part of which group of the first one comes next.
    next: (usize, usize),
    /// The last write that the journal has taken as a whole.
    taken: u64,
    /// The last write that is on disk.
    persisted: u64,
    /// Somebody waits for what is not on disk.
    must_sync: bool,
    /// Snapshots that came from a leader, of groups that begin anew behind them with a write that is still to come.
    received: BTreeMap<GroupNumber, Received>,
    /// Groups whose snapshot counts since this was asked last.
    installed: Vec<GroupNumber>,
}

impl WriteQueue {
    /// Of a journal that was just opened; writes count from 1.
    pub(crate) fn new(reader: JournalReader) -> Self {
        let (waiting, received, installed) = (VecDeque::new(), BTreeMap::new(), vec![]);
        WriteQueue { reader, waiting, next: (0, 0), taken: 0, persisted: 0, must_sync: false, received, installed }
    }

    /// Takes a write; [`WriteQueue::go_on`] brings it to the disk.
    pub(crate) fn push(&mut self, write: Write) {
        self.must_sync |= write.must_sync;
        self.waiting.push_back(write);
    }

    /// Takes what a leader has sent of a group, before the write by which the group begins anew behind it.
    pub(crate) fn receive(&mut self, group: GroupNumber, received: Received) {
        self.received.insert(group, received);
    }

    /// Groups whose received snapshot counts since this was asked last.
    pub(crate) fn take_installed(&mut self) -> Vec<GroupNumber> {
        std::mem::take(&mut self.installed)
    }

    /// What has not begun to count goes: the log is about to be closed.
    pub(crate) fn forget_received(&mut self) {
        self.received.clear();
    }

    /// Whether everything is on disk for which somebody waits.
    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.must_sync
    }

    /// Gives the journal what waits, and commits where somebody waits for that or much has gathered. Returns the number of the
    /// last write that is on disk: it, and every one before it, is persisted.
    ///
    /// # Errors
    /// `Store`, where it is retryable: the disk is full. Nothing is lost, call again. Anything else is fatal.
    pub(crate) fn go_on(&mut self, journal: &mut JournalWriter) -> Result<u64, ReplicaError> {
        while let Some(write) = self.waiting.front() {
            let (group, part) = self.next;
            let Some(group) = write.groups.get(group) else {
                self.taken = write.number;
                self.next = (0, 0);
                self.waiting.pop_front();
                continue;
            };
            // What an installed snapshot voids, and the record by which it counts, are one commit.
            let is_install = part == 0 && group.install.is_some();
            if is_install && journal.pending_bytes() > 0 {
                self.commit(journal)?;
                continue;
            }
            if is_install && self.received.contains_key(&group.group) {
                let number = group.group;
                self.install(journal, number)?;
                self.next.1 += 1;
                continue;
            }
            match self.take_part(journal, group, part) {
                Ok(true) => self.next.1 += 1,
                Ok(false) => self.next = (self.next.0 + 1, 0),
                Err(ReplicaError::Store(StoreError::Pending { .. })) => self.commit(journal)?,
                Err(error) => return Err(error),
            }
        }
        if self.must_sync || journal.pending_bytes() >= COMMIT_BYTES || journal.pending_bytes() == 0 {
            self.commit(journal)?;
        }
        Ok(self.persisted)
    }

    /// Makes what came from a leader count, with all that it refers to. Where there is no room it is kept.
    fn install(&mut self, journal: &mut JournalWriter, group: GroupNumber) -> Result<(), ReplicaError> {
        if let Some(received) = self.received.get_mut(&group) {
            journal.install(received)?;
            self.received.remove(&group);
            self.installed.push(group);
        }
        Ok(())
    }

    /// Makes durable what the journal has taken.
    fn commit(&mut self, journal: &mut JournalWriter) -> Result<(), ReplicaError> {
        journal.commit()?;
        self.persisted = self.taken;
        self.must_sync &= !self.waiting.is_empty();
        Ok(())
    }

    /// Gives the journal one part of what a group stores: the snapshot, the truncation, each entry, the vote. False: there are no
    /// more.
    fn take_part(&self, journal: &mut JournalWriter, write: &GroupWrite, part: usize) -> Result<bool, ReplicaError> {
        let group = journal_group(write.group);
        match part {
            0 => {
                if let Some(snapshot) = &write.install {
                    begin_anew(journal, &self.reader, group, self.covered_by(write, snapshot)?)?;
                }
            }
            1 => {
                if let Some(from) = write.truncate_from {
                    journal.truncate_raft(group, from)?;
                }
            }
            _ => match write.entries.get(part - 2) {
                Some(entry) => append(journal, group, entry)?,
                None => {
                    if let Some(vote) = &write.vote {
                        journal.vote(group, &vote_bytes(vote))?;
                    }
                    return Ok(false);
                }
            },
        }
        Ok(true)
    }

    /// What the snapshot covers that the group begins anew with. Its file is durable already.
    fn covered_by(&self, write: &GroupWrite, installed: &Snapshot) -> Result<Covered, ReplicaError> {
        match snapshot::newest(&self.reader, write.group)? {
            Some(found) if found.preface.is_of(installed) => Ok(found.covered),
            _ => Err(ReplicaError::group(write.group, GroupFault::Snapshot("the snapshot to begin with is not there"))),
        }
    }
}

/// Everything in a group's log is void: it goes on behind a snapshot whose file is durable. Nothing waits for a commit; the next
/// one brings both records or none.
pub(super) fn begin_anew(
    journal: &mut JournalWriter,
    reader: &JournalReader,
    group: DataGroupId,
    covered: Covered,
) -> Result<(), StoreError> {
    let log = reader.group(group)?;
    if covered.raft_index <= log.purged_raft_index {
        return Ok(());
    }
    journal.truncate_raft(group, log.purged_raft_index + 1)?;
    journal.purge_raft(group, covered)
}

fn append(journal: &mut JournalWriter, group: DataGroupId, entry: &LogEntry) -> Result<(), StoreError> {
    let mark = |journal: &mut JournalWriter, body: &[u8]| {
        journal.mark(Marker { group, raft_index: entry.raft_index, term: entry.term, body })
    };
    match &entry.body {
        Body::Blank => mark(journal, &[BLANK]),
        Body::Membership(changes) => mark(journal, &[&[MEMBERSHIP], &*membership_bytes(changes)].concat()),
        Body::Batch(batch) => append_batch(journal, group, entry, batch),
    }
}

fn append_batch(
    journal: &mut JournalWriter,
    group: DataGroupId,
    LogEntry { raft_index, term, .. }: &LogEntry,
    batch: &Batch,
) -> Result<(), StoreError> {
    let (mut next, records) = (batch.head().first_sequence, batch.records());
    let entries = records.iter().map(move |record| {
        let index = next;
        next += 1;
        Entry {
            group,
            index,
            term: *term,
            raft_index: *raft_index,
            slot: record.slot,
            message_id: record.message_id,
            appended_at_us: record.appended_at_us,
            body: record.body,
        }
    });
    journal.append_batch(entries)
}
