//! Messages that wait in the log, as references: the entries that brought them, in order, each with its options and size.
//!
//! A queue of millions must cost a few bytes a message, so references are packed in chunks ([`Chunk`]). They are read from the front
//! only, and leave there.

mod chunk;

use std::collections::VecDeque;

pub(crate) use chunk::Reference;

use chunk::Chunk;

/// References in ascending order of their entries; made when there are any.
#[derive(Debug, Default)]
pub(crate) struct Paged {
    /// Full ones.
    older: VecDeque<Chunk>,
    tail: Chunk,
    /// The one that was added last, while it is in the tail.
    last: Option<Reference>,
    /// The first one, and where it ends in its chunk.
    front: Option<(Reference, usize)>,
    len: u64,
    bytes: u64,
    /// Bytes of the page that was asked for last.
    pub(crate) page_bytes: u64,
}

impl Paged {
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Of all the messages.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The one that was added last.
    pub(crate) const fn last(&self) -> Option<&Reference> {
        self.last.as_ref()
    }

    /// The one that has waited longest.
    pub(crate) fn front(&self) -> Option<&Reference> {
        self.front.as_ref().map(|(front, _)| front)
    }

    /// Adds one behind all others; its entry is behind theirs.
    pub(crate) fn push(&mut self, reference: Reference) {
        debug_assert!(self.last().is_none_or(|last| last.entry < reference.entry), "entries ascend");
        if self.tail.is_full() {
            let mut full = std::mem::take(&mut self.tail);
            full.bytes.shrink_to_fit();
            self.older.push_back(full);
            self.last = None;
        }
        self.tail.push(self.last.as_ref(), &reference);
        (self.len, self.bytes) = (self.len + 1, self.bytes + reference.bytes());
        self.last = Some(reference);
        if self.front.is_none() {
            self.front = self.first_chunk().next(None, 0);
        }
    }

    /// Takes out the one that has waited longest.
    pub(crate) fn pop(&mut self) -> Option<Reference> {
        let (front, end) = self.front.take()?;
        (self.len, self.bytes) = (self.len - 1, self.bytes - front.bytes());
        self.front = self.first_chunk().next(Some(&front), end);
        if self.front.is_none() {
            self.drop_first_chunk();
            self.front = self.first_chunk().next(None, 0);
        }
        Some(front)
    }

    /// Puts these before all others; their entries ascend and are before those.
    pub(crate) fn prepend(&mut self, mut references: Vec<Reference>) {
        // The first chunk may have been read in part: what is left of it is packed again.
        let is_tail = self.older.is_empty();
        let chunks_before = self.older.len();
        while self.len > 0 && (is_tail || self.older.len() == chunks_before) {
            references.extend(self.pop());
        }
        if is_tail {
            references.into_iter().for_each(|reference| self.push(reference));
            return;
        }
        let mut packed = vec![Chunk::default()];
        let mut before: Option<&Reference> = None;
        for reference in &references {
            if packed.last().is_some_and(Chunk::is_full) {
                packed.push(Chunk::default());
                before = None;
            }
            if let Some(chunk) = packed.last_mut() {
                chunk.push(before, reference);
            }
            before = Some(reference);
        }
        self.len += references.len() as u64;
        self.bytes += references.iter().map(Reference::bytes).sum::<u64>();
        packed.into_iter().rev().filter(|chunk| chunk.len > 0).for_each(|chunk| self.older.push_front(chunk));
        self.front = self.first_chunk().next(None, 0);
    }

    /// Entries from the front, as many as make a page: at most so many messages and bytes, at least one.
    pub(crate) fn page(&self, messages_max: usize, bytes_max: u64) -> Vec<u64> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        for reference in self.iter().take(messages_max) {
            bytes += reference.bytes();
            if bytes > bytes_max && !entries.is_empty() {
                break;
            }
            entries.push(reference.entry.get());
        }
        entries
    }

    /// In order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Reference> {
        let mut chunks = self.older.iter().chain([&self.tail]);
        let mut chunk = chunks.next();
        let mut next = self.front.clone();
        std::iter::from_fn(move || {
            let (reference, end) = next.take()?;
            next = chunk.and_then(|chunk| chunk.next(Some(&reference), end));
            if next.is_none() {
                chunk = chunks.next();
                next = chunk.and_then(|chunk| chunk.next(None, 0));
            }
            Some(reference)
        })
    }

    fn first_chunk(&self) -> &Chunk {
        self.older.front().unwrap_or(&self.tail)
    }

    /// All of the first chunk has left.
    fn drop_first_chunk(&mut self) {
        if self.older.pop_front().is_none() {
            (self.tail, self.last) = (Chunk::default(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use lapwing_codec::{QoS, SubscriptionId};

    use super::*;
    use crate::flight::{DeliveryOptions, Ids};
    use crate::told::Tie;

    /// Plain QoS 1.
    fn plain(entry: u64, bytes: u64) -> Reference {
        let entry = NonZeroU64::new(entry).expect("entries from 1");
        let tie = Tie { bound: None, entry: Some(entry) };
        let options = DeliveryOptions { qos: QoS::AtLeastOnce, retain: false, dup: false, ids: Ids::None, tie };
        Reference::new(entry, bytes, options)
    }

    /// Of all kinds.
    fn of(n: u64) -> Reference {
        let mut reference = plain(n * 3, n % 5 * 100);
        let options = &mut reference.options;
        (options.retain, options.dup) = (n.is_multiple_of(7), n.is_multiple_of(11));
        options.qos = if n % 40 < 20 { QoS::AtLeastOnce } else { QoS::ExactlyOnce };
        let ids: &[u32] = [&[][..], &[5], &[1, 268_435_455, 300]][n as usize / 50 % 3];
        ids.iter().filter_map(|id| SubscriptionId::new(*id)).for_each(|id| options.ids.add(id));
        reference
    }

    fn same(a: &Reference, b: &Reference) -> bool {
        a.entry == b.entry && a.goes_as(b) && a.options == b.options
    }

    /// Does it agree with a plain list, whatever is added at either end and taken from the front? Whatever goes is compared
    /// as it goes; what stays, while it is short in each step, and then in each thirtieth: it grows to 80,000.
    #[test]
    fn it_agrees_with_a_list() {
        let (mut paged, mut model, mut random) = (Paged::default(), VecDeque::<Reference>::new(), 7_u64);
        let mut next = 1_000_000;
        for step in 1..=3000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match (random >> 33) % 8 {
                0..=3 => {
                    for _ in 0..(random >> 40) % 50 {
                        next += 1 + (random >> 50) % 3;
                        paged.push(of(next));
                        model.push_back(of(next));
                    }
                }
                4..=6 => {
                    for _ in 0..(random >> 40) % 60 {
                        let (popped, wanted) = (paged.pop(), model.pop_front());
                        assert!(popped.iter().zip(&wanted).all(|(a, b)| same(a, b)));
                        assert_eq!(popped.is_some(), wanted.is_some());
                    }
                }
                _ => {
                    let first = model.front().map_or(next + 1, |first| first.entry.get() / 3);
                    let many = (random >> 40) % 400;
                    let before: Vec<_> = (first - many - 5..first - 5).map(of).collect();
                    before.iter().rev().for_each(|reference| model.push_front(reference.clone()));
                    next = next.max(first);
                    paged.prepend(before);
                }
            }
            assert_eq!(paged.len(), model.len() as u64);
            assert_eq!(paged.front().is_some(), !model.is_empty());
            if step > 300 && step % 30 != 0 {
                continue;
            }
            assert_eq!(paged.bytes(), model.iter().map(Reference::bytes).sum());
            assert!(paged.iter().zip(&model).all(|(a, b)| same(&a, b)) && paged.iter().count() == model.len());
        }
    }

    /// Is a page bounded by messages and by bytes, and never empty?
    #[test]
    fn a_page_is_bounded() {
        let mut paged = Paged::default();
        (1..=600).for_each(|n| paged.push(plain(n, 128)));
        assert_eq!(paged.page(500, u64::MAX).len(), 500);
        assert_eq!(paged.page(500, 1280), (1..=10).collect::<Vec<_>>());
        assert_eq!(paged.page(500, 1), [1]);
        paged.pop();
        assert_eq!(paged.page(2, u64::MAX), [2, 3]);
    }

    /// Do ten million references fit into 40 MB, other sessions' messages between them, and into 64 MB when each has another
    /// size than the one before?
    #[test]
    fn references_are_small() {
        for (sizes, bytes_max) in [(1, 4.0), (10, 6.4)] {
            let (mut paged, mut entry) = (Paged::default(), 1_000_000_000);
            for n in 0..1_000_000_u64 {
                entry += 1 + (n * 7919) % 200;
                paged.push(plain(entry, 500 + n % sizes * 64));
            }
            let chunks = paged.older.len();
            let bytes: usize = paged.older.iter().map(|chunk| chunk.bytes.capacity()).sum();
            let each = (bytes + chunks * (size_of::<Chunk>() + 16)) as f64 / 1e6;
            assert!(each < bytes_max, "{each} bytes a reference, {sizes} sizes");
        }
    }
}
