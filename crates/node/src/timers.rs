//! Deadlines of a shard, as a heap.
//!
//! Entries are not cancelled or moved: most deadlines (keep alive) are pushed back with every packet, so the owner asks
//! again when one fires, and an entry whose owner is gone is ignored by its owner's generation.
//!
//! The clock cuts to whole milliseconds, so what begins late in one and is due a second later would come up to a
//! millisecond early. An entry is due once its millisecond has passed whole: late by one at most, never early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Deadlines on the shard's monotonic clock in milliseconds, each with what is due then.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(u64, K)>>,
}

impl<K: Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Timers { heap: BinaryHeap::new() }
    }

    /// Adds a deadline.
    pub(crate) fn add(&mut self, at_ms: u64, what: K) {
        self.heap.push(Reverse((at_ms, what)));
    }

    /// When the next entry is due, if there is one.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ms, _))| at_ms.saturating_add(1))
    }

    /// Takes one entry that is due at `now_ms`, with its deadline.
    pub(crate) fn due(&mut self, now_ms: u64) -> Option<(u64, K)> {
        if self.next_at()? > now_ms {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    /// How many entries there are, those whose owner is gone included.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Forgets the entries that `is_live` does not know.
    pub(crate) fn retain(&mut self, mut is_live: impl FnMut(u64, &K) -> bool) {
        self.heap.retain(|Reverse((at_ms, what))| is_live(*at_ms, what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do entries come out by time, and none before its time?
    #[test]
    fn entries_come_out_by_time() {
        let mut timers = Timers::new();
        timers.add(30, 'c');
        timers.add(10, 'a');
        timers.add(20, 'b');
        assert_eq!(timers.next_at(), Some(11));
        assert_eq!(timers.due(10), None);
        assert_eq!((timers.due(21), timers.due(21), timers.due(21)), (Some((10, 'a')), Some((20, 'b')), None));
        timers.retain(|at_ms, _| at_ms > 30);
        assert_eq!(timers.len(), 0);
    }
}
