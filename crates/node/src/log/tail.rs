//! What has been appended and no commit has made durable: batches, held until what they say may be believed.

use super::batch::{Destination, LogBatch};

/// Batches in the order in which they were appended, each as a whole.
#[derive(Debug, Default)]
pub(super) struct Tail {
    batches: Vec<LogBatch>,
}

impl Tail {
    /// All of this batch is appended.
    pub(super) fn push(&mut self, batch: LogBatch) {
        self.batches.push(batch);
    }

    /// A commit has made all of it durable: `apply` has each entry of a data group, as data group, index and body.
    pub(super) fn committed(&mut self, mut apply: impl FnMut(u16, u64, &[u8])) {
        for batch in self.batches.drain(..) {
            for (record, body) in batch.iter() {
                if let Destination::DataGroup { data_group, index } = record.to {
                    apply(data_group, index, body);
                }
            }
        }
    }
}
