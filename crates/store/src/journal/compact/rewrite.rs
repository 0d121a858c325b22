//! Writing the live entries of some segments into one segment of kept entries.
//!
//! Group by group, ascending: what a queue refers to lies side by side afterwards.

use std::path::PathBuf;
use std::sync::Arc;
use std::{io::IoSlice, ops::ControlFlow};

use super::super::data_group::{DataGroupId, PARTITIONS, PLACES};
use super::super::entry::{Entry, EntryView};
use super::super::index::SegmentIndex;
use super::super::manifest::{Listed, Replaced};
use super::super::map::Held;
use super::super::op::{Op, Ops};
use super::super::state::{Shared, segment_path};
use super::{Budget, Compacted, Context, IsLive, install};
use crate::batch::{Batch, opening_bytes};
use crate::clock::now_us;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::info::ReadLimits;
use crate::record::{CommitBody, LIFETIME_KEPT, PartitionStart, RecordHeader, RecordKind, SegmentStart, record_bytes};
use crate::segment_file::{self, log_path};

/// Bytes that gather before they are written.
const WRITE_BYTES: usize = 1 << 20;

/// A range of a source to copy.
#[derive(Debug, Clone, Copy)]
struct Range {
    group: usize,
    held: Held,
    /// Entries of segments that are not rewritten lie between it and the range before it.
    is_apart: bool,
}

/// A segment of kept entries in the making.
#[derive(Debug)]
pub(crate) struct Rewrite {
    sources: Vec<u64>,
    /// What is to be copied, the last one first.
    ranges: Vec<Range>,
    /// The next index of the range that is being copied.
    next: Option<u64>,
    sequence: u64,
    draft: PathBuf,
    file: Arc<dyn DiskFile>,
    end: u64,
    index: SegmentIndex,
    batch: Batch,
    ops: Vec<Ops>,
    /// The next entry of this group begins a stretch; the group whose entry was the last one copied.
    apart: bool,
    last_group: Option<usize>,
}

impl Rewrite {
    /// Makes the file, with room for what is likely to be copied.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing is left behind. `WriteFailed`: fatal.
    pub(crate) fn begin(context: &mut Context<'_>, sources: Vec<u64>, live_bytes: u64) -> Result<Self, StoreError> {
        let shared = context.shared;
        let sequence = context.segment.take_sequence();
        let layout = shared.state().active.layout;
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
            segment_file::draft_segment(&*shared.disk, &draft, start, &[], live_bytes, None).inspect_err(|_| {
                // What cannot be removed now is removed when the journal is opened.
                let _ = shared.disk.remove(&draft);
            })?;
        let ranges = ranges(shared, &sources);
        Ok(Self {
            sources,
            ranges,
            next: None,
            sequence,
            draft,
            file: made.file,
            end: made.start_bytes,
            index: SegmentIndex::new(),
            batch: Batch::new(PARTITIONS),
            ops: (0..PARTITIONS).map(|_| Ops::default()).collect(),
            apart: false,
            last_group: None,
        })
    }

    pub(crate) fn sources(&self) -> &[u64] {
        &self.sources
    }

    /// Copies on; true when everything was.
    ///
    /// # Errors
    /// `Corrupt`, `Io`: a source cannot be read. `Full`, `WriteFailed`.
    pub(crate) fn step(
        &mut self,
        context: &Context<'_>,
        is_live: IsLive<'_>,
        budget: &mut Budget,
        done: &mut Compacted,
    ) -> Result<bool, StoreError> {
        let reader = context.reader();
        while let Some(range) = self.ranges.last().copied() {
            if budget.is_spent() {
                return Ok(false);
            }
            let from = self.next.unwrap_or_else(|| {
                self.apart |= range.is_apart;
                range.held.first
            });
            let limits = ReadLimits { messages_max: u64::MAX, bytes_max: budget.left.min(WRITE_BYTES as u64) };
            let group = DataGroupId(range.group as u16);
            let read = reader.read(group, from, range.held.last, limits, &mut |entry| {
                budget.spend(record_bytes(entry.body.len()) as u64);
                done.asked += 1;
                if is_live(group, entry.index) {
                    done.kept_entries += 1;
                    self.take(range.group, &entry, context.shared.salt);
                }
                if budget.is_spent() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            self.next = Some(read.next_index).filter(|next| *next <= range.held.last);
            if self.next.is_none() {
                self.ranges.pop();
            }
            if self.batch.bytes() >= WRITE_BYTES {
                self.write(context.shared, done)?;
            }
        }
        self.write(context.shared, done)?;
        Ok(true)
    }

    /// Takes a live entry; the first one of a stretch has a record before it that says so.
    fn take(&mut self, group: usize, entry: &EntryView<'_>, salt: u32) {
        if self.last_group.replace(group) == Some(group) && self.apart {
            let own = RecordHeader::own(RecordKind::Stretch, entry.appended_at_us);
            let (data_group, partition, index) = (group as u16, group as u32, entry.index);
            let header = RecordHeader { lifetime: LIFETIME_KEPT, data_group, partition, index, ..own };
            self.batch.push(&header, &[], salt);
            self.ops[group].push(Op::Stretch);
        }
        self.apart = false;
        let EntryView { index, term, raft_index, slot, message_id, appended_at_us, body, .. } = *entry;
        let group = DataGroupId(group as u16);
        let entry = Entry { group, index, term, raft_index, slot, message_id, appended_at_us, body };
        let header = RecordHeader { lifetime: LIFETIME_KEPT, ..entry.header() };
        let position = self.batch.push(&header, body, salt);
        self.ops[header.partition as usize].entry(&header, position, record_bytes(body.len()) as u64);
    }

    /// Writes what gathered as one commit; it is synced at the end.
    fn write(&mut self, shared: &Shared, done: &mut Compacted) -> Result<(), StoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let body = CommitBody { synced_before: 0, runs: self.batch.runs() };
        let mut opening = vec![];
        body.encode(self.batch.times_us().1, shared.salt, &mut opening);
        let parts: Vec<IoSlice<'_>> = self.batch.parts(&opening);
        self.file.write_at(&parts, self.end).map_err(|error| StoreError::write("write to", &self.draft, error))?;
        let mut run_start = self.end + opening_bytes(body.runs.len());
        for (partition, bytes) in self.batch.dirty() {
            let ops = &mut self.ops[partition as usize];
            ops.list().iter().for_each(|op| self.index.apply(partition as usize, op, run_start, true));
            ops.clear();
            run_start += bytes;
        }
        done.written_bytes += run_start - self.end;
        self.end = run_start;
        self.batch.clear();
        Ok(())
    }

    /// Everything was copied: the segment takes the place of its sources.
    ///
    /// # Errors
    /// `Full`, `Exhausted`: nothing changed. `SyncFailed`, `WriteFailed`: fatal.
    pub(crate) fn finish(self, context: &mut Context<'_>, done: &mut Compacted) -> Result<(), StoreError> {
        let shared = context.shared.clone();
        if self.index.groups.iter().all(|group| group.stretches.is_empty()) {
            // All of it died meanwhile.
            self.give_up(&shared);
            return install::replace(context, &Replaced { sources: self.sources, output: None }, None, done);
        }
        let listed = Listed { end: self.end, lifetime: LIFETIME_KEPT };
        let path = segment_path(&shared.dir, self.sequence, LIFETIME_KEPT);
        self.name(&shared, &path).inspect_err(|_| self.give_up(&shared))?;
        shared.sealed_file(self.sequence, listed).write_index(&self.index).into_iter().for_each(|n| shared.notice(n));
        let replaced = Replaced { sources: self.sources, output: Some((self.sequence, self.end)) };
        install::replace(context, &replaced, Some(&self.index), done).inspect_err(|error| {
            // Not recorded: it does not count, and would be removed when the journal is opened.
            if error.is_retryable() {
                let _ = shared.disk.remove(&path);
            }
        })
    }

    /// Makes the file durable under its name.
    fn name(&self, shared: &Shared, path: &std::path::Path) -> Result<(), StoreError> {
        let trimmed = self.file.set_len(self.end);
        trimmed.map_err(|error| StoreError::write("trim", &self.draft, error))?;
        self.file.sync().map_err(|error| StoreError::sync("sync of kept entries", &self.draft, error))?;
        segment_file::name(&*shared.disk, &shared.dir, &self.draft, path)
    }

    /// Nothing comes of it.
    pub(crate) fn give_up(&self, shared: &Shared) {
        // What cannot be removed now is removed when the journal is opened.
        let _ = shared.disk.remove(&self.draft);
    }
}

/// What the sources hold, group by group, the last range first.
fn ranges(shared: &Shared, sources: &[u64]) -> Vec<Range> {
    let state = shared.state();
    let mut ranges = vec![];
    for group in 0..PLACES {
        let mut is_apart = false;
        for held in state.map.of_group(group) {
            if !sources.contains(&held.sequence) {
                is_apart = true;
                continue;
            }
            ranges.push(Range { group, held, is_apart });
            is_apart = false;
        }
    }
    ranges.reverse();
    ranges
}
