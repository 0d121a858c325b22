//! Records that wait for a commit, with what they will do.

use super::data_group::{Layout, PARTITIONS};
use super::entry::Entry;
use super::op::{Op, Ops};
use crate::batch::Batch;
use crate::record::{RecordHeader, record_bytes};

/// Everything appended since the last commit.
#[derive(Debug)]
pub(crate) struct Pending {
    pub batch: Batch,
    /// Per partition; positions count from the start of its run.
    ops: Vec<Ops>,
    pub entries: u64,
    /// The least that the segment has to be for all of it.
    pub layout: Layout,
}

impl Pending {
    pub(crate) fn new() -> Self {
        let ops = (0..PARTITIONS).map(|_| Ops::default()).collect();
        Self { batch: Batch::new(PARTITIONS), ops, entries: 0, layout: Layout::OneNode }
    }

    /// Takes an entry that follows.
    pub(crate) fn entry(&mut self, entry: &Entry<'_>, salt: u32) {
        let header = entry.header();
        let position = self.batch.push(&header, entry.body, salt);
        self.ops[header.partition as usize].entry(&header, position, record_bytes(entry.body.len()) as u64);
        self.layout = self.layout.max(Layout::needed_by(&header));
        self.entries += 1;
    }

    /// Takes a record that is not an entry.
    pub(crate) fn record(&mut self, header: &RecordHeader, body: &[u8], op: Op, salt: u32) {
        self.batch.push(header, body, salt);
        self.ops[header.partition as usize].push(op);
        self.layout = self.layout.max(Layout::needed_by(header));
    }

    /// Every run as it will lie on disk, the first one at `position`: its partition, where it begins, what it does.
    pub(crate) fn runs(&self, position: u64) -> impl Iterator<Item = (usize, u64, &[Op])> {
        let mut start = position;
        self.batch.dirty().map(move |(partition, bytes)| {
            let run_start = start;
            start += bytes;
            (partition as usize, run_start, self.ops[partition as usize].list())
        })
    }

    pub(crate) fn clear(&mut self) {
        for (partition, _) in self.batch.dirty() {
            self.ops[partition as usize].clear();
        }
        self.batch.clear();
        (self.entries, self.layout) = (0, Layout::OneNode);
    }
}
