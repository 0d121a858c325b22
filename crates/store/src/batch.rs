//! Records that wait for a commit, already in their form on disk, gathered by partition: one run each.

use std::io::IoSlice;

use crate::record::{CommitBody, RecordHeader, Run, record_bytes};

/// The records that wait.
#[derive(Debug)]
pub(crate) struct Batch {
    runs: Vec<PendingRun>,
    /// Partitions with records, in the order of their first one.
    dirty: Vec<u32>,
    bytes: usize,
    records: u64,
    times_us: Option<(i64, i64)>,
}

#[derive(Debug, Default)]
struct PendingRun {
    bytes: Vec<u8>,
    records: u32,
}

impl Batch {
    pub(crate) fn new(partitions: u32) -> Self {
        let runs = (0..partitions).map(|_| PendingRun::default()).collect();
        Self { runs, dirty: vec![], bytes: 0, records: 0, times_us: None }
    }

    /// Takes a record of `header.partition`, which exists; returns where in the partition's run it begins.
    pub(crate) fn push(&mut self, header: &RecordHeader, body: &[u8], salt: u32) -> u64 {
        let run = &mut self.runs[header.partition as usize];
        if run.records == 0 {
            self.dirty.push(header.partition);
        }
        let position = run.bytes.len() as u64;
        header.encode(body, salt, &mut run.bytes);
        run.records += 1;
        self.bytes += record_bytes(body.len());
        self.times_us = Some((self.times_us.map_or(header.appended_at_us, |times| times.0), header.appended_at_us));
        self.records += 1;
        position
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

    /// Append times of the first and the last record; zeros when there is none.
    pub(crate) fn times_us(&self) -> (i64, i64) {
        self.times_us.unwrap_or_default()
    }

    /// Partitions with records, in the order in which their runs will lie on disk, and the bytes of each run.
    pub(crate) fn dirty(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.dirty.iter().map(|partition| (*partition, self.runs[*partition as usize].bytes.len() as u64))
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

    /// Forgets everything; keeps memory that is likely to be used again.
    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES: usize = 4 << 20;
        for partition in self.dirty.drain(..) {
            let run = &mut self.runs[partition as usize];
            if run.bytes.capacity() > KEPT_BYTES && run.bytes.len() < run.bytes.capacity() / 4 {
                run.bytes = Vec::new();
            }
            run.bytes.clear();
            run.records = 0;
        }
        (self.bytes, self.records, self.times_us) = (0, 0, None);
    }
}

/// Bytes of the commit record that opens a batch with this many runs.
pub(crate) fn opening_bytes(runs: usize) -> u64 {
    record_bytes(CommitBody::body_bytes(runs)) as u64
}
