//! Records of one stream that wait for a commit, with what the sparse index will want to know of them.

use crate::batch::Batch;
use crate::index::{IndexEntry, SparseIndex};
use crate::record::{LIFETIME_STREAM, RecordHeader, RecordKind};
use crate::writer::Append;

/// The records that wait.
#[derive(Debug)]
pub(crate) struct StreamBatch {
    pub records: Batch,
    /// Per partition records worth an index entry; positions count from the start of the run.
    marks: Vec<Vec<IndexEntry>>,
}

impl StreamBatch {
    pub(crate) fn new(partitions: u32) -> Self {
        Self { records: Batch::new(partitions), marks: vec![vec![]; partitions as usize] }
    }

    /// Takes a record; the partition exists and the body is within the limit (the writer checked).
    pub(crate) fn push(&mut self, record: &Append<'_>, offset: u64, salt: u32) {
        let header = RecordHeader {
            kind: RecordKind::Data,
            lifetime: LIFETIME_STREAM,
            slot: record.slot,
            data_group: record.data_group,
            partition: record.partition,
            term: 0,
            index: 0,
            message_id: record.message_id,
            offset,
            appended_at_us: record.appended_at_us,
        };
        let position = self.records.push(&header, record.body, salt);
        let marks = &mut self.marks[record.partition as usize];
        if marks.last().is_none_or(|mark| position - mark.position >= SparseIndex::SPACING_BYTES) {
            marks.push(IndexEntry { offset, position });
        }
    }

    /// Tells the index what was written; the first run lies at `position`.
    pub(crate) fn note(&self, position: u64, index: &mut SparseIndex) {
        let mut start = position;
        for (partition, bytes) in self.records.dirty() {
            let marks = &self.marks[partition as usize];
            let ends = marks.iter().skip(1).map(|mark| mark.position).chain([bytes]);
            for (mark, end) in marks.iter().zip(ends) {
                let entry = IndexEntry { offset: mark.offset, position: start + mark.position };
                index.note(partition, entry, end - mark.position);
            }
            start += bytes;
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        for (partition, _) in self.records.dirty() {
            self.marks[partition as usize].clear();
        }
        self.records.clear();
    }
}
