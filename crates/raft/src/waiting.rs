//! Batches that wait while a leadership is being handed over: raft-rs would refuse them.

use std::collections::VecDeque;

use crate::entry::BatchHeader;

/// A bounded line, first come first out.
#[derive(Debug)]
pub(crate) struct Waiting {
    batches: VecDeque<BatchHeader>,
    limit: usize,
}

impl Waiting {
    pub(crate) fn new(limit: usize) -> Waiting {
        Waiting { batches: VecDeque::new(), limit }
    }

    /// Takes a batch; false: there is no room.
    #[must_use]
    pub(crate) fn push(&mut self, batch: BatchHeader) -> bool {
        let has_room = self.batches.len() < self.limit;
        if has_room {
            self.batches.push_back(batch);
        }
        has_room
    }

    /// All of them, in the order in which they came.
    pub(crate) fn take(&mut self) -> Vec<BatchHeader> {
        self.batches.drain(..).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.batches.len()
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}
