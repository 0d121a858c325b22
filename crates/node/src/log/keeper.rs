//! The log thread's side of the data groups: their log, and the state that goes with it.

use lapwing_store::StoreError;
use lapwing_store::journal::{DataGroupId, Entry, JournalReader, JournalWriter, RoomThread};

use super::batch::{LogBatch, Record};
use super::growth::Growth;
use super::snapshot_thread::{SnapshotThread, Written};
use super::tail::Tail;
use crate::data_groups::{DataGroups, Extents};
use crate::error::NodeError;

/// What compaction reads and writes in one go, ten times a second at most.
const COMPACT_BYTES: u64 = 2 << 20;

/// What the log thread has of the data groups.
pub(crate) struct Keeper {
    journal: JournalWriter,
    snapshots: SnapshotThread,
    room: RoomThread,
    data_groups: DataGroups,
    growth: Growth,
    /// What the states do not have yet.
    tail: Tail,
}

impl Keeper {
    /// Goes on with what is there.
    ///
    /// # Errors
    /// `Store`: as the log's. `System`: no thread can be had.
    pub(crate) fn new(
        journal: JournalWriter,
        reader: JournalReader,
        (data_groups, extents): (DataGroups, Extents),
        snapshot_bytes: u64,
    ) -> Result<Self, NodeError> {
        let snapshots = SnapshotThread::start(reader)?;
        let room = RoomThread::start();
        let room = room.map_err(|source| NodeError::System { doing: "start a thread", source })?;
        let growth = Growth::of(&extents, snapshot_bytes);
        Ok(Keeper { journal, snapshots, room, data_groups, growth, tail: Tail::default() })
    }

    /// Appends an entry under the index that its shard has given it. The state has it from the commit on, when its batch has
    /// come by [`Keeper::appended`].
    ///
    /// # Errors
    /// `Pending`: too much waits. Anything else is fatal.
    pub(super) fn append(
        &mut self,
        (data_group, index): (u16, u64),
        record: &Record,
        appended_at_us: i64,
        body: &[u8],
    ) -> Result<(), StoreError> {
        self.journal.append(Entry {
            group: DataGroupId(data_group),
            index,
            term: 0,
            raft_index: 0,
            slot: record.slot.get(),
            message_id: record.message_id,
            appended_at_us,
            body,
        })
    }

    /// All records of this batch are appended.
    pub(super) fn appended(&mut self, batch: LogBatch) {
        self.tail.push(batch);
    }

    /// Looks after the length of the log: has a snapshot made of a group that has grown, and gives back what nobody refers to.
    /// Does a bounded part; true when there is more to do.
    ///
    /// # Errors
    /// `Full`: later. Anything else is fatal.
    pub(super) fn tend(&mut self) -> Result<bool, StoreError> {
        self.room.tend(&mut self.journal)?;
        self.growth.tend();
        let snapshot = self.snapshots.take_written().map_or(Ok(()), |written| self.covered_by(written));
        let data_groups = &self.data_groups;
        let grown = self.growth.due(self.journal.is_low_on_space(), |data_group| data_groups.get(data_group).holds());
        if let Some(data_group) = grown.filter(|_| snapshot.is_ok() && !self.snapshots.is_busy()) {
            self.begin_snapshot(data_group);
        }
        if let Err(error) = &snapshot
            && !error.is_retryable()
        {
            return snapshot.map(|()| false);
        }
        // In any case: what it gives back may be the room that the snapshot did not find. The states have what is committed and
        // nothing else, so this goes on where commits fail for long, on a full disk.
        let data_groups = &self.data_groups;
        let compacted = self
            .journal
            .compact(&mut |data_group, index| data_groups.get(data_group.0).is_live(index), COMPACT_BYTES)?;
        snapshot.map(|()| grown.is_some() || self.snapshots.is_busy() || !compacted.round_over)
    }

    /// Has the state of a group written down. It is never ahead of the log.
    fn begin_snapshot(&mut self, data_group: u16) {
        let (frozen, holds) = {
            let state = self.data_groups.get(data_group);
            (state.freeze(), state.holds())
        };
        self.snapshots.begin(data_group, frozen);
        self.growth.begun(data_group, holds);
    }

    /// A snapshot is durable: what it has need not be read at a start, and what nobody refers to may go.
    fn covered_by(&mut self, Written { data_group, index, result }: Written) -> Result<(), StoreError> {
        let bytes = result.inspect_err(|error| {
            if matches!(error, StoreError::Full { .. }) {
                self.give_up_reserve();
            }
            // Tried again when it is looked for next.
            self.growth.failed(data_group);
        })?;
        self.growth.written(data_group, bytes);
        // Too much waits for a commit: the next snapshot brings it.
        self.journal.purge(DataGroupId(data_group), index, 0).inspect_err(|_| self.growth.failed(data_group))?;
        self.data_groups.get(data_group).covered(index);
        Ok(())
    }

    /// Frees the space that is kept for what gives more back.
    pub(super) fn give_up_reserve(&mut self) {
        self.journal.give_up_reserve();
    }

    /// Takes note of what has been set aside.
    ///
    /// # Errors
    /// Fatal ones.
    pub(super) fn take_room(&mut self) -> Result<(), StoreError> {
        self.room.tend(&mut self.journal)
    }

    /// Whether the next segment is late, and will be there soon for all that is known.
    pub(super) fn waits_for_room(&self) -> bool {
        self.journal.waits_for_room() && !self.journal.is_low_on_space()
    }

    /// Whether nothing more should come but what frees space in the end.
    pub(super) fn is_low_on_space(&self) -> bool {
        self.journal.is_low_on_space()
    }

    /// What counts as a segment for what may be on its way at once.
    pub(crate) fn scale_bytes(&self) -> u64 {
        self.journal.scale_bytes()
    }

    /// So many bytes are on their way at once.
    pub(super) fn expect(&mut self, bytes: u64) {
        self.journal.expect(bytes);
    }

    /// Bytes that wait for a commit.
    pub(super) fn pending_bytes(&self) -> usize {
        self.journal.pending_bytes()
    }

    /// Makes durable what waits, and brings the states up to it.
    ///
    /// # Errors
    /// As the log's: the states are what they were.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        if self.journal.pending_bytes() > 0 {
            self.journal.commit()?;
            self.apply_committed();
            // As soon as it is due: what is on its way has to find room.
            self.room.tend(&mut self.journal)?;
        }
        Ok(())
    }

    fn apply_committed(&mut self) {
        let (data_groups, growth) = (&self.data_groups, &mut self.growth);
        self.tail.committed(|data_group, index, body| {
            if let Err(fault) = data_groups.get(data_group).apply(index, body) {
                panic!("entry {index} of data group {data_group}, made here, cannot be applied: {fault}");
            }
            growth.entry(data_group, body.len() as u64);
        });
    }

    /// Commits what waits and closes the log, when a snapshot that is under way is written.
    ///
    /// # Errors
    /// As the log's.
    pub(super) fn close(self) -> Result<(), StoreError> {
        drop((self.snapshots, self.room));
        self.journal.close()
    }
}
