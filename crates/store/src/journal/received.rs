//! A snapshot that a leader sends: its bytes, and the entries that it refers to and this journal does not have.
//!
//! Both are written beside what counts, from any thread: the bytes into a file of the folder `snapshots` with a name of its own,
//! the entries into a segment of kept entries that no record lists. [`JournalWriter::install`] makes all of it count with one
//! commit: what contradicts it is void, the log goes on behind it, and the segment is listed. The file gets its name behind
//! that; where a crash comes in between, the next opening does it: it knows a snapshot that counts by how far the log is purged.

use std::io::{self, Write};
use std::sync::Arc;

use super::data_group::{DataGroupId, Layout, OWN};
use super::entry::{Entry, EntryView};
use super::kept_draft::{KeptDraft, KeptSegment, WRITE_BYTES};
use super::manifest::Replaced;
use super::op::Op;
use super::raft_error::RaftError;
use super::raft_writer::Covered;
use super::reader::JournalReader;
use super::snapshot::{Snapshot, SnapshotDraft, name_received, received_path};
use super::state::Shared;
use super::tail::Tail;
use super::writer::JournalWriter;
use crate::clock::now_us;
use crate::error::StoreError;
use crate::record::{LIFETIME_JOURNAL, RecordHeader, RecordKind};

/// Where the log here is equal to the leader's, as this node knows: its last entry there, and its Raft index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Common {
    index: u64,
    raft_index: u64,
}

/// A snapshot that is being received. Dropped before [`ReceivedDraft::finish`], it leaves nothing.
#[derive(Debug)]
pub struct ReceivedDraft {
    shared: Arc<Shared>,
    group: DataGroupId,
    covered: Covered,
    common: Common,
    bytes: SnapshotDraft,
    /// The entries: a file is made for the first one, with room for so many bytes.
    kept: Option<KeptDraft>,
    kept_bytes: u64,
    /// The last entry that was given.
    last: u64,
}

/// A snapshot that was received as a whole, and is durable. It counts after [`JournalWriter::install`]; dropped before, it leaves
/// nothing.
#[derive(Debug)]
pub struct Received {
    shared: Arc<Shared>,
    group: DataGroupId,
    covered: Covered,
    common: Common,
    kept: Option<KeptSegment>,
    /// It counts, or may: its files stay.
    stays: bool,
}

impl JournalReader {
    /// Begins to receive a snapshot of a group that covers so much. `common_raft_index`: up to there this journal has what the
    /// leader has, as what is committed; only entries behind that are taken. `kept_bytes`: of those, likely.
    ///
    /// # Errors
    /// `RaftError::Purged`: this journal is purged as far, or further. `NoDataGroup`, `Full`, `Exhausted`, `WriteFailed`.
    pub fn receive_snapshot(
        &self,
        group: DataGroupId,
        covered: Covered,
        common_raft_index: u64,
        kept_bytes: u64,
    ) -> Result<ReceivedDraft, StoreError> {
        let place = group.place()?;
        let shared = self.shared.clone();
        let Covered { index, raft_index, term } = covered;
        let common = {
            let state = shared.state();
            let tail = &state.groups[place];
            tail.check_beyond(group.0, raft_index)?;
            let common_raft_index = common_raft_index.clamp(tail.raft.purged, tail.raft.last);
            Common { index: tail.index_at(common_raft_index), raft_index: common_raft_index }
        };
        let named = received_path(&shared.dir, group.0, index, raft_index);
        let bytes = SnapshotDraft::begin(&shared, (group.0, index, term), named)?;
        Ok(ReceivedDraft { shared, group, covered, common, bytes, kept: None, kept_bytes, last: 0 })
    }
}

impl Tail {
    /// The last entry through a Raft index that is there, or is the last one purged.
    fn index_at(&self, raft_index: u64) -> u64 {
        if raft_index == self.raft.purged { self.purged } else { self.raft.index_through(raft_index) }
    }

    fn check_beyond(&self, group: u16, raft_index: u64) -> Result<(), StoreError> {
        match raft_index > self.raft.purged {
            true => Ok(()),
            false => Err(RaftError::Purged { group, raft_index, purged_raft_index: self.raft.purged }.into()),
        }
    }
}

impl ReceivedDraft {
    /// Takes an entry that the snapshot refers to; they ascend. One that this journal has is passed over.
    ///
    /// # Errors
    /// `NotNext`: it does not come behind the one before it, or lies beyond the snapshot: nothing was taken. `Full`, `Exhausted`;
    /// `WriteFailed`: fatal.
    pub fn keep(&mut self, entry: Entry<'_>) -> Result<(), StoreError> {
        let Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body } = entry;
        if group != self.group || index <= self.last || index > self.covered.index {
            return Err(StoreError::NotNext { group: group.0, index, next: self.last + 1 });
        }
        self.last = index;
        if index <= self.common.index {
            return Ok(());
        }
        if self.kept.is_none() {
            self.kept = Some(KeptDraft::begin(self.shared.clone(), Layout::Cluster, self.kept_bytes)?);
        }
        let Some(draft) = &mut self.kept else { return Ok(()) };
        draft.take(&EntryView { group, index, term, raft_index, slot, message_id, appended_at_us, body }, false);
        match draft.waiting_bytes() >= WRITE_BYTES {
            true => draft.write().map(drop),
            false => Ok(()),
        }
    }

    /// The last entry that this journal has, by what was known when it began: none up to there is wanted.
    pub fn common_index(&self) -> u64 {
        self.common.index
    }

    /// Everything was given: makes it durable.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`, `SyncFailed`: fatal.
    pub fn finish(mut self) -> Result<Received, StoreError> {
        let kept = match self.kept.take() {
            Some(draft) => draft.finish()?,
            None => None,
        };
        // From here on whatever is dropped is removed.
        let (shared, group, covered, common) = (self.shared.clone(), self.group, self.covered, self.common);
        let received = Received { shared, group, covered, common, kept, stays: false };
        self.bytes.name()?;
        Ok(received)
    }
}

impl Write for ReceivedDraft {
    /// Takes bytes of the snapshot itself.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ReceivedDraft {
    fn drop(&mut self) {
        self.kept.iter().for_each(KeptDraft::give_up);
    }
}

impl Received {
    /// Whose it is.
    pub fn group(&self) -> DataGroupId {
        self.group
    }

    /// What it covers.
    pub fn covered(&self) -> Covered {
        self.covered
    }
}

impl Received {
    /// Its bytes, to be read and verified.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let (shared, Covered { index, raft_index, .. }) = (&self.shared, self.covered);
        let path = received_path(&shared.dir, self.group.0, index, raft_index);
        Snapshot::open_file(&*shared.disk, path, shared.salt, (self.group.0, index))
    }

    /// The Raft index up to which the log was equal to the leader's: a log that is purged further has gone on without it.
    pub fn common_raft_index(&self) -> u64 {
        self.common.raft_index
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        if self.stays {
            return;
        }
        let Covered { index, raft_index, .. } = self.covered;
        // What cannot be removed now is removed when the journal is opened.
        let _ = self.shared.disk.remove(&received_path(&self.shared.dir, self.group.0, index, raft_index));
        self.kept.iter().for_each(|kept| kept.remove(&self.shared));
    }
}

impl JournalWriter {
    /// The group begins anew behind a snapshot that was received: with one commit, for which nothing else waits. What lies behind
    /// what was known to be equal when it began is void, unless the log has the snapshot's end itself; then it stays.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: the group is as it was, call again, or drop the snapshot. `RaftError::Purged`: the log has gone on
    /// meanwhile; `RaftError::NotCovered`: its entries are not those of the snapshot: drop it. Anything else is fatal.
    pub fn install(&mut self, received: &mut Received) -> Result<(), StoreError> {
        self.commit()?;
        let listed = match self.take_received(received) {
            Ok(listed) => listed,
            Err(error) => {
                self.forget_pending();
                return Err(error);
            }
        };
        let committed = self.commit();
        // From the write on nobody knows whether it counts, until the commit has come to an end.
        received.stays = !matches!(&committed, Err(error) if error.is_retryable());
        if let Err(error) = committed {
            if error.is_retryable() {
                self.forget_pending();
            }
            return Err(error);
        }
        let shared = self.shared.clone();
        match (&received.kept, listed) {
            (Some(kept), Some(replaced)) => drop(shared.state().replace(&replaced, Some(&kept.index))),
            (Some(kept), None) => kept.remove(&shared),
            (None, _) => {}
        }
        let Covered { index, raft_index, .. } = received.covered;
        let named = name_received(&shared, received.group.0, index, raft_index);
        self.note(named)
    }

    /// Gathers the records; which segment they list.
    fn take_received(&mut self, received: &Received) -> Result<Option<Replaced>, StoreError> {
        let Received { group, covered, common, kept, .. } = received;
        let tail = &self.groups[group.place()?];
        let Covered { raft_index, term, .. } = *covered;
        tail.check_beyond(group.0, raft_index)?;
        if raft_index <= tail.raft.last && tail.raft.term(raft_index) == Some(term) {
            self.purge_raft(*group, *covered)?;
            return Ok(None);
        }
        tail.check_beyond(group.0, common.raft_index + 1)?;
        let ends_with = tail.index_at(common.raft_index);
        if ends_with != common.index {
            let Common { index, raft_index } = *common;
            return Err(RaftError::NotCovered { group: group.0, raft_index, index, ends_with }.into());
        }
        self.truncate_raft(*group, common.raft_index + 1)?;
        self.purge_raft(*group, *covered)?;
        let replaced = kept.as_ref().map(|kept| Replaced { sources: vec![], output: Some(kept.output()) });
        if let Some(replaced) = &replaced {
            let own = RecordHeader { partition: OWN, ..RecordHeader::own(RecordKind::Replaced, now_us()) };
            let header = RecordHeader { lifetime: LIFETIME_JOURNAL, ..own };
            self.record_own(&header, &replaced.encode(), Op::Replaced(replaced.clone()));
        }
        Ok(replaced)
    }
}
