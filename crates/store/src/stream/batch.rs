//! Records of one stream that wait for a commit, already in their form on disk, gathered by partition.

use std::io::IoSlice;

use crate::index::{IndexEntry, SparseIndex};
use crate::record::{CommitBody, LIFETIME_STREAM, RecordHeader, RecordKind, Run, record_bytes};
use crate::writer::Append;

/// The records that wait, one run per partition.
#[derive(Debug)]
pub(crate) struct Batch {
    runs: Vec<PendingRun>,
    /// Partitions with records, in the order of their first one.
    dirty: Vec<u32>,
    bytes: usize,
    records: u64,
    first_at_us: i64,
    last_at_us: i64,
}

#[derive(Debug, Default)]
struct PendingRun {
    bytes: Vec<u8>,
    records: u32,
    /// Records worth an index entry; positions count from the start of the run.
    marks: Vec<IndexEntry>,
}

impl Batch {
    pub(crate) fn new(partitions: u32) -> Self {
        let runs = (0..partitions).map(|_| PendingRun::default()).collect();
        Self { runs, dirty: vec![], bytes: 0, records: 0, first_at_us: 0, last_at_us: 0 }
    }

    /// Takes a record; the partition exists and the body is within the limit (the writer checked).
    pub(crate) fn push(&mut self, record: &Append<'_>, offset: u64, salt: u32) {
        let run = &mut self.runs[record.partition as usize];
        if run.records == 0 {
            self.dirty.push(record.partition);
        }
        let position = run.bytes.len() as u64;
        if run.marks.last().is_none_or(|mark| position - mark.position >= SparseIndex::SPACING_BYTES) {
            run.marks.push(IndexEntry { offset, position });
        }
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
        header.encode(record.body, salt, &mut run.bytes);
        run.records += 1;
        self.bytes += record_bytes(record.body.len());
        self.first_at_us = if self.records == 0 { record.appended_at_us } else { self.first_at_us };
        self.last_at_us = record.appended_at_us;
        self.records += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of all records.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Append times of the first and the last record.
    pub(crate) fn times_us(&self) -> (i64, i64) {
        (self.first_at_us, self.last_at_us)
    }

    /// The runs in the order in which they will lie on disk.
    pub(crate) fn runs(&mut self) -> Vec<Run> {
        self.dirty.sort_unstable();
        let run = |partition: &u32| {
            let run = &self.runs[*partition as usize];
            Run { partition: *partition, records: run.records, bytes: run.bytes.len() as u64 }
        };
        self.dirty.iter().map(run).collect()
    }

    /// What to write: the opening record, then the runs in the order of `runs`.
    pub(crate) fn parts<'b>(&'b self, opening: &'b [u8]) -> Vec<IoSlice<'b>> {
        let runs = self.dirty.iter().map(|partition| IoSlice::new(&self.runs[*partition as usize].bytes));
        std::iter::once(IoSlice::new(opening)).chain(runs).collect()
    }

    /// Tells the index what was written; the first run lies at `position`.
    pub(crate) fn note(&self, position: u64, index: &mut SparseIndex) {
        let mut start = position;
        for partition in &self.dirty {
            let run = &self.runs[*partition as usize];
            let ends = run.marks.iter().skip(1).map(|mark| mark.position).chain([run.bytes.len() as u64]);
            for (mark, end) in run.marks.iter().zip(ends) {
                let entry = IndexEntry { offset: mark.offset, position: start + mark.position };
                index.note(*partition, entry, end - mark.position);
            }
            start += run.bytes.len() as u64;
        }
    }

    /// Forgets everything; keeps memory that is likely to be used again.
    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES: usize = 4 << 20;
        for partition in self.dirty.drain(..) {
            let run = &mut self.runs[partition as usize];
            if run.bytes.capacity() > KEPT_BYTES && run.bytes.len() < run.bytes.capacity() / 4 {
                run.bytes = Vec::new();
            }
            run.bytes.clear();
            run.marks.clear();
            run.records = 0;
        }
        (self.bytes, self.records) = (0, 0);
    }
}

/// Bytes of the commit record that opens a batch with this many runs.
pub(crate) fn opening_bytes(runs: usize) -> u64 {
    record_bytes(CommitBody::body_bytes(runs)) as u64
}
