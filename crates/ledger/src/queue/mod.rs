//! The messages that one session or group keeps, as references: the entries that brought them, in order, each with options and
//! size.
//!
//! Ten million references must fit into 64 MiB, and a queue that is empty into nothing. So references are packed in chunks of 64
//! ([`Chunk`]); what leaves the front is passed over, what leaves further behind becomes a bit. The chunk at the back takes
//! new ones, those before it take as many bytes as they need. A queue that is cloned shares those with its original, until one of
//! them takes something out of a chunk.

mod chunk;

use std::collections::VecDeque;
use std::sync::Arc;

use chunk::Chunk;

use crate::DeliveryOptions;

/// A full chunk and what it takes to share it, in bytes.
const SHARED_BYTES: usize = size_of::<Chunk>() + 2 * size_of::<usize>();
/// Places for chunks that an empty queue keeps allocated.
const CAPACITY_KEPT: usize = 16;

/// Sizes are kept in steps of this: messages of one kind then have the same, and it need not be written again.
const UNIT_BYTES: u64 = 64;

/// A message that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'a> {
    pub(crate) entry: u64,
    pub(crate) options: DeliveryOptions<'a>,
    /// Of its frame, in units; 0: not known, it was kept before sizes were.
    pub(crate) units: u64,
}

impl<'a> Reference<'a> {
    /// To a frame of so many bytes.
    pub(crate) const fn new(entry: u64, options: DeliveryOptions<'a>, frame_bytes: usize) -> Self {
        Reference { entry, options, units: (frame_bytes as u64).div_ceil(UNIT_BYTES) }
    }

    /// Bytes of its frame, rounded up.
    pub(crate) const fn frame_bytes(&self) -> u64 {
        self.units * UNIT_BYTES
    }
}

/// References in ascending order of their entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    /// Full ones. One in the middle may be empty by now; the front is not.
    older: VecDeque<Arc<Chunk>>,
    tail: Chunk,
    len: u64,
}

impl Queue {
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Adds a reference behind all others; false when its entry is not behind the last one that was added.
    #[inline]
    pub(crate) fn push(&mut self, reference: &Reference<'_>) -> bool {
        if self.last().is_some_and(|last| reference.entry <= last) {
            return false;
        }
        if self.tail.is_empty() {
            self.tail.reset();
        } else if self.tail.is_full() {
            let mut full = std::mem::take(&mut self.tail);
            full.shrink();
            self.make_place();
            self.older.push_back(Arc::new(full));
        }
        self.tail.push(reference);
        self.len += 1;
        true
    }

    /// Takes a reference out, wherever it is; false when it is not there.
    #[inline]
    pub(crate) fn remove(&mut self, entry: u64) -> bool {
        let at = self.chunk_of(entry);
        let chunk = self.older.get_mut(at).map_or(&mut self.tail, Arc::make_mut);
        if !chunk.remove(entry) {
            return false;
        }
        self.len -= 1;
        if at < self.older.len() && self.older[at].is_empty() {
            self.drop_empty(at);
        }
        true
    }

    /// Takes out the reference that has been there longest.
    pub(crate) fn pop(&mut self) -> Option<u64> {
        let entry = self.iter().next()?.entry;
        self.remove(entry).then_some(entry)
    }

    pub(crate) fn contains(&self, entry: u64) -> bool {
        self.older.get(self.chunk_of(entry)).map_or(&self.tail, |chunk| &**chunk).contains(entry)
    }

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Reference<'_>> {
        self.chunks().flat_map(Chunk::iter)
    }

    /// Bytes that it has allocated. Walks over the chunks.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let places = self.older.capacity() * size_of::<Arc<Chunk>>() + self.older.len() * SHARED_BYTES;
        let bytes: usize = self.chunks().map(Chunk::heap_bytes).sum();
        (places + bytes) as u64
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.older.iter().map(|chunk| &**chunk).chain([&self.tail])
    }

    /// The entry that was added last, whether or not it is still there.
    fn last(&self) -> Option<u64> {
        self.tail.last().or_else(|| self.older.back().and_then(|chunk| chunk.last()))
    }

    /// The chunk where `entry` is, if it is anywhere; `older.len()` stands for the tail.
    #[inline]
    fn chunk_of(&self, entry: u64) -> usize {
        let is_before = |chunk: &Arc<Chunk>| chunk.last().is_some_and(|last| last < entry);
        match self.older.front() {
            None => 0,
            // What is acknowledged is nearly always at the front.
            Some(front) if !is_before(front) => 0,
            Some(_) => self.older.partition_point(is_before),
        }
    }

    /// A place for one more chunk. A deque that grows would double: up to two bytes a reference that nobody uses.
    fn make_place(&mut self) {
        if self.older.len() == self.older.capacity() {
            self.older.reserve_exact(self.older.len() / 8 + CAPACITY_KEPT);
        }
    }

    /// The chunk at `at` is empty: it goes when everything before it has gone.
    fn drop_empty(&mut self, at: usize) {
        Arc::make_mut(&mut self.older[at]).shrink();
        while self.older.front().is_some_and(|chunk| chunk.is_empty()) {
            self.older.pop_front();
        }
        if self.older.is_empty() && self.older.capacity() > CAPACITY_KEPT {
            self.older = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubscriptionIds;

    const OPTIONS: DeliveryOptions<'static> = DeliveryOptions { qos: 1, retain: false, ids: SubscriptionIds::EMPTY };

    const fn to(entry: u64) -> Reference<'static> {
        Reference::new(entry, OPTIONS, 100)
    }

    fn entries(queue: &Queue) -> Vec<u64> {
        queue.iter().map(|reference| reference.entry).collect()
    }

    /// Do references leave from front, middle and back, and is the rest as it was?
    #[test]
    fn references_leave_from_anywhere() {
        let mut queue = Queue::default();
        (1..=1000).for_each(|n| assert!(queue.push(&to(n * 3))));
        let mut model: Vec<u64> = (1..=1000).map(|n| n * 3).collect();
        for at in [0, 0, 500, 996, 64, 63, 62, 1, 400, 0] {
            let entry = model.remove(at);
            assert!(queue.contains(entry) && queue.remove(entry) && !queue.remove(entry) && !queue.contains(entry));
            assert_eq!((entries(&queue), queue.len()), (model.clone(), model.len() as u64));
        }
        assert!(!queue.remove(4) && !queue.contains(5) && !queue.remove(9_999));
    }

    /// Does a chunk that empties in the middle give its bytes back, and the queue everything when it is empty?
    #[test]
    fn memory_is_given_back() {
        let mut queue = Queue::default();
        (1..=6400).for_each(|n| assert!(queue.push(&to(n))));
        let full = queue.heap_bytes();
        (65..=6400 - 64).for_each(|n| assert!(queue.remove(n)));
        assert!(queue.heap_bytes() + 5000 < full, "{} of {full}", queue.heap_bytes());
        assert_eq!(queue.len(), 128);
        while queue.pop().is_some() {}
        assert!(queue.heap_bytes() < 2048 && queue.older.capacity() <= CAPACITY_KEPT, "{}", queue.heap_bytes());
        assert!(queue.push(&to(6401)) && entries(&queue) == [6401]);
    }

    /// Does a clone stay as it was, whatever leaves the original from a chunk of both, and the other way round?
    #[test]
    fn a_clone_goes_its_own_way() {
        let mut queue = Queue::default();
        (1..=300).for_each(|n| assert!(queue.push(&to(n))));
        let mut clone = queue.clone();
        [1, 100, 300].into_iter().for_each(|n| assert!(queue.remove(n)));
        assert!(queue.push(&to(301)));
        assert!(entries(&clone).into_iter().eq(1..=300));
        while clone.pop().is_some() {}
        assert!(entries(&queue).into_iter().eq((2..=301).filter(|n| ![100, 300].contains(n))));
    }

    /// Is an entry added once, although it has left again?
    #[test]
    fn an_entry_comes_once() {
        let mut queue = Queue::default();
        assert!(queue.push(&to(5)) && !queue.push(&to(5)) && !queue.push(&to(4)));
        assert!(queue.remove(5) && !queue.push(&to(5)) && queue.push(&to(6)));
    }

    /// Bytes of a million references, about so many entries between two of them, every `one_of`th with an identifier.
    fn bytes_of_a_million(between: u64, one_of: u64) -> u64 {
        let (mut queue, mut entry) = (Queue::default(), 1_000_000_000);
        for n in 0..1_000_000_u64 {
            entry += 1 + (n * 7919) % between;
            let ids = if n % one_of == 0 { SubscriptionIds::one(100) } else { SubscriptionIds::EMPTY };
            assert!(queue.push(&Reference { options: DeliveryOptions { ids, ..OPTIONS }, ..to(entry) }));
        }
        // And what an allocator adds to a chunk and its bytes.
        queue.heap_bytes() + 2 * 16 * 1_000_000 / 64
    }

    /// Do ten million references fit into 64 MiB, other sessions' messages between them?
    #[test]
    fn references_are_small() {
        let bounds = [(1, 1_000_000, 3.2), (200, 10, 4.4), (8000, 2, 6.7)];
        for (between, one_of, bytes_max) in bounds {
            let bytes = bytes_of_a_million(between, one_of) as f64 / 1e6;
            assert!(bytes < bytes_max, "{bytes} bytes a reference, {between} apart, one of {one_of}");
        }
    }
}
