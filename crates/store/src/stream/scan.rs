//! What a walk of a stream's segment finds: where each partition stands, and its sparse index.

use crate::error::StoreError;
use crate::index::{IndexEntry, SparseIndex};
use crate::record::{CommitBody, Fault, LOST_OFFSET, RecordKind, SegmentStart};
use crate::scan::{Found, Visitor, WalkEnd, Walked, walk};

/// What a walk found, up to the last whole commit.
#[derive(Debug)]
pub(crate) struct StreamVisitor {
    /// Per partition the next offset.
    pub next: Vec<u64>,
    /// Per partition the bytes of its records.
    pub bytes: Vec<u64>,
    pub index: SparseIndex,
    /// Append times of the first and the last record.
    pub times_us: Option<(i64, i64)>,
    /// Both with the records of the commit that is being walked.
    seen_us: Option<(i64, i64)>,
    seen: Vec<u64>,
}

impl StreamVisitor {
    /// Nothing walked yet of the segment that begins so.
    pub(crate) fn new(start: &SegmentStart) -> Self {
        let partitions = &start.partitions;
        let next: Vec<u64> = partitions.iter().map(|partition| partition.first_offset).collect();
        Self {
            seen: next.clone(),
            next,
            bytes: vec![0; partitions.len()],
            index: SparseIndex::new(partitions.len()),
            times_us: None,
            seen_us: None,
        }
    }
}

impl Visitor for StreamVisitor {
    fn partitions(&self) -> usize {
        self.next.len()
    }

    fn record(&mut self, found: &Found<'_>) -> Result<(), Fault> {
        let partition = found.run.partition;
        let header = &found.header;
        let is_offset = match header.kind {
            RecordKind::Data => true,
            RecordKind::Lost => header.message_id == LOST_OFFSET,
            _ => return Err(Fault::Misplaced("a record of another kind belongs here")),
        };
        if !is_offset {
            return Ok(());
        }
        let offset = self.seen[partition as usize];
        if (header.partition, header.offset) != (partition, offset) {
            return Err(Fault::Misplaced("a record of another partition or offset lies here"));
        }
        self.seen[partition as usize] += 1;
        self.index.note(partition, IndexEntry { offset, position: found.at }, found.bytes);
        self.seen_us = Some((self.seen_us.map_or(header.appended_at_us, |times| times.0), header.appended_at_us));
        Ok(())
    }

    fn committed(&mut self, commit: &CommitBody, _: u64) {
        for run in &commit.runs {
            self.next[run.partition as usize] = self.seen[run.partition as usize];
            self.bytes[run.partition as usize] += run.bytes;
        }
        self.times_us = self.seen_us;
    }

    fn abandoned(&mut self, end: u64) {
        self.seen.clone_from(&self.next);
        self.index.cut(end);
    }
}

/// Walks the whole segment.
///
/// # Errors
/// `Io` only; what is wrong with the bytes is in [`WalkEnd`].
pub(crate) fn scan(walked: Walked<'_>) -> Result<(StreamVisitor, WalkEnd), StoreError> {
    let mut visitor = StreamVisitor::new(walked.start);
    let end = walk(walked, &mut visitor)?;
    Ok((visitor, end))
}
