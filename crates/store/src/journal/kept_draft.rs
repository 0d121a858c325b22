//! A segment of kept entries in the making: by compaction, of what lies in other segments, or of what a leader sends.
//!
//! It bears a draft's name until it is whole and synced, and counts when a record in the journal says so.

use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

use super::data_group::{Layout, PARTITIONS};
use super::entry::{Entry, EntryView};
use super::index::SegmentIndex;
use super::manifest::Listed;
use super::op::{Op, Ops};
use super::state::{Shared, segment_path};
use crate::batch::{Batch, opening_bytes};
use crate::clock::now_us;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::record::{CommitBody, LIFETIME_KEPT, PartitionStart, RecordHeader, RecordKind, SegmentStart, record_bytes};
use crate::segment_file::{self, index_path, log_path};

/// Bytes that gather before they are written.
pub(crate) const WRITE_BYTES: usize = 1 << 20;

/// What nobody has named yet.
#[derive(Debug)]
pub(crate) struct KeptDraft {
    shared: Arc<Shared>,
    sequence: u64,
    draft: PathBuf,
    file: Arc<dyn DiskFile>,
    end: u64,
    index: SegmentIndex,
    batch: Batch,
    ops: Vec<Ops>,
}

/// A segment that is whole, synced and named, and that no record has told of.
#[derive(Debug)]
pub(crate) struct KeptSegment {
    sequence: u64,
    end: u64,
    pub(crate) index: SegmentIndex,
}

impl KeptDraft {
    /// Makes the file, with room for what is likely to come.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`: fatal.
    pub(crate) fn begin(shared: Arc<Shared>, layout: Layout, likely_bytes: u64) -> Result<Self, StoreError> {
        let sequence = shared.take_sequence();
        let draft = log_path(&shared.dir, sequence).with_extension("tmp");
        let start = SegmentStart {
            lifetime: LIFETIME_KEPT,
            uuid: shared.uuid,
            sequence,
            salt: shared.salt,
            allocated_bytes: 0,
            created_at_us: now_us(),
            previous_end: 0,
            previous_last_at_us: 0,
            partitions: vec![PartitionStart { first_offset: 1, previous_bytes: 0 }; layout.started()],
        };
        let made =
            segment_file::draft_segment(&*shared.disk, &draft, start, &[], likely_bytes, None).inspect_err(|_| {
                // What cannot be removed now is removed when the journal is opened.
                let _ = shared.disk.remove(&draft);
            })?;
        let ops = (0..PARTITIONS).map(|_| Ops::default()).collect();
        let (file, end) = (made.file, made.start_bytes);
        Ok(Self { shared, sequence, draft, file, end, index: SegmentIndex::new(), batch: Batch::new(PARTITIONS), ops })
    }

    /// Takes an entry, which comes behind those of its group that were taken. `is_apart`: it begins a stretch, because other
    /// segments have what lies before it; a record says so.
    pub(crate) fn take(&mut self, entry: &EntryView<'_>, is_apart: bool) {
        let EntryView { group, index, term, raft_index, slot, message_id, appended_at_us, body } = *entry;
        let salt = self.shared.salt;
        if is_apart {
            let own = RecordHeader::own(RecordKind::Stretch, appended_at_us);
            let (data_group, partition) = (group.0, u32::from(group.0));
            let header = RecordHeader { lifetime: LIFETIME_KEPT, data_group, partition, index, ..own };
            self.batch.push(&header, &[], salt);
            self.ops[usize::from(group.0)].push(Op::Stretch);
        }
        let entry = Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body };
        let header = RecordHeader { lifetime: LIFETIME_KEPT, ..entry.header() };
        let position = self.batch.push(&header, body, salt);
        self.ops[header.partition as usize].entry(&header, position, record_bytes(body.len()) as u64);
    }

    /// Bytes that are not written yet.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.batch.bytes()
    }

    /// Writes what gathered as one commit, which is synced at the end; returns its bytes.
    ///
    /// # Errors
    /// `Full`; `WriteFailed`: fatal.
    pub(crate) fn write(&mut self) -> Result<u64, StoreError> {
        if self.batch.is_empty() {
            return Ok(0);
        }
        let body = CommitBody { synced_before: 0, runs: self.batch.runs() };
        let mut opening = vec![];
        body.encode(self.batch.times_us().1, self.shared.salt, &mut opening);
        let parts: Vec<IoSlice<'_>> = self.batch.parts(&opening);
        self.file.write_at(&parts, self.end).map_err(|error| StoreError::write("write to", &self.draft, error))?;
        let mut run_start = self.end + opening_bytes(body.runs.len());
        for (partition, bytes) in self.batch.dirty() {
            let ops = &mut self.ops[partition as usize];
            ops.list().iter().for_each(|op| self.index.apply(partition as usize, op, run_start, true));
            ops.clear();
            run_start += bytes;
        }
        let written = run_start - self.end;
        self.end = run_start;
        self.batch.clear();
        Ok(written)
    }

    /// Makes the segment durable under its name; nothing where it has no entry, and nothing is left of it then.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing is left behind. `SyncFailed`, `WriteFailed`: fatal.
    pub(crate) fn finish(mut self) -> Result<Option<KeptSegment>, StoreError> {
        let finished =
            self.write().and_then(|_| match self.index.groups.iter().all(|group| group.stretches.is_empty()) {
                true => Ok(false),
                false => self.name().map(|()| true),
            });
        if !matches!(finished, Ok(true)) {
            self.give_up();
            return finished.map(|_| None);
        }
        let Self { shared, sequence, end, index, .. } = self;
        let listed = Listed { end, lifetime: LIFETIME_KEPT };
        shared.sealed_file(sequence, listed).write_index(&index).into_iter().for_each(|notice| shared.notice(notice));
        Ok(Some(KeptSegment { sequence, end, index }))
    }

    /// Makes the file durable under its name.
    fn name(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        let trimmed = self.file.set_len(self.end);
        trimmed.map_err(|error| StoreError::write("trim", &self.draft, error))?;
        self.file.sync().map_err(|error| StoreError::sync("sync of kept entries", &self.draft, error))?;
        let path = segment_path(&shared.dir, self.sequence, LIFETIME_KEPT);
        segment_file::name(&*shared.disk, &shared.dir, &self.draft, &path)
    }

    /// Nothing comes of it.
    pub(crate) fn give_up(&self) {
        // What cannot be removed now is removed when the journal is opened.
        let _ = self.shared.disk.remove(&self.draft);
    }
}

impl KeptSegment {
    /// Its number, and where it ends.
    pub(crate) fn output(&self) -> (u64, u64) {
        (self.sequence, self.end)
    }

    /// It does not count, and never will.
    pub(crate) fn remove(&self, shared: &Shared) {
        // What cannot be removed now is removed when the journal is opened.
        let _ = shared.disk.remove(&segment_path(&shared.dir, self.sequence, LIFETIME_KEPT));
        let _ = shared.disk.remove(&index_path(&shared.dir, self.sequence));
    }
}
