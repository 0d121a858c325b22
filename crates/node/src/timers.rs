//! Deadlines of a shard, as a heap.
//!
//! Entries are not cancelled or moved: most deadlines (keep alive) are pushed back with every packet, so the owner asks
//! again when one fires, and an entry whose owner is gone is ignored by its owner's generation. Such entries go when the heap has
//! no place left: so it is as large as what is waited for, and little more.
//!
//! The clock cuts to whole milliseconds, so what begins late in one and is due a second later would come up to a
//! millisecond early. An entry is due once its millisecond has passed whole: late by one at most, never early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No time comes as late.
pub(crate) const NEVER: u64 = u64::MAX;

/// Deadlines on the shard's monotonic clock in milliseconds, each with what is due then.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(u64, K)>>,
    /// With so many entries, those that nobody waits for are to go.
    full: usize,
}

/// Entries that come until it is looked again which of them are waited for; at least.
const SPARE_MIN: usize = 64;

impl<K: Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Timers { heap: BinaryHeap::new(), full: SPARE_MIN }
    }

    /// Adds a deadline.
    pub(crate) fn add(&mut self, at_ms: u64, what: K) {
        if self.heap.len() == self.heap.capacity() {
            self.heap.reserve_exact(spare(self.heap.len()));
        }
        self.heap.push(Reverse((at_ms, what)));
    }

    /// Whether there are so many entries that those should go that nobody waits for: see [`Timers::retain`].
    pub(crate) fn is_full(&self) -> bool {
        self.heap.len() >= self.full
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

    /// How many entries there are, those that nobody waits for included.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Forgets the entries that `is_live` does not know, and gives back their places.
    pub(crate) fn retain(&mut self, mut is_live: impl FnMut(u64, &K) -> bool) {
        self.heap.retain(|Reverse((at_ms, what))| is_live(*at_ms, what));
        self.full = self.heap.len() + spare(self.heap.len());
        self.heap.shrink_to(self.full);
    }
}

/// Places to spare beside so many entries: with each such number that comes, all are looked at once.
const fn spare(entries: usize) -> usize {
    let eighth = entries / 8;
    if eighth > SPARE_MIN { eighth } else { SPARE_MIN }
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

    /// Is there little room for entries that nobody waits for, and is not looked for them often?
    #[test]
    fn what_nobody_waits_for_goes() {
        let (mut timers, mut looked_at) = (Timers::new(), 0);
        for number in 0..100_000_u64 {
            timers.add(number, number);
            if timers.is_full() {
                timers.retain(|_, number| {
                    looked_at += 1;
                    number % 2 == 0
                });
            }
            let live = number as usize / 2 + 1;
            assert!(timers.heap.capacity() <= live + live / 4 + 2 * SPARE_MIN, "{} for {live}", timers.heap.capacity());
        }
        assert!(looked_at <= 100_000 * 12, "{looked_at}");
    }
}
