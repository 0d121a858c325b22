//! The subscribers of one filter.

use std::hash::Hash;

use hashbrown::HashMap;
use smallvec::SmallVec;

/// Above this many subscribers a filter keeps an index of them; below, a linear search is faster and smaller.
const INDEX_ABOVE: usize = 24;

/// One subscription: who, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<S, O> {
    /// The caller's id of the subscriber.
    pub subscriber: S,
    /// The caller's options of this one subscription.
    pub options: O,
}

/// The subscribers of one filter, each once, in no stated order.
pub(crate) struct Entries<S, O> {
    list: SmallVec<[Entry<S, O>; 1]>,
    index: Option<Box<HashMap<S, u32>>>,
}

impl<S, O> Default for Entries<S, O> {
    fn default() -> Self {
        Entries { list: SmallVec::new(), index: None }
    }
}

impl<S: Copy + Eq + Hash, O> Entries<S, O> {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Entry<S, O>] {
        &self.list
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where `subscriber` stands in the slice.
    pub(crate) fn position(&self, subscriber: S) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&subscriber).map(|&at| at as usize),
            None => self.list.iter().position(|entry| entry.subscriber == subscriber),
        }
    }

    /// Adds or replaces; returns whether the subscriber is new here.
    pub(crate) fn insert(&mut self, subscriber: S, options: O) -> bool {
        if let Some(at) = self.position(subscriber) {
            self.list[at].options = options;
            return false;
        }
        self.list.push(Entry { subscriber, options });
        let count = self.list.len();
        match &mut self.index {
            Some(index) => {
                index.insert(subscriber, count as u32 - 1);
            }
            None if count > INDEX_ABOVE => self.build_index(),
            None => {}
        }
        true
    }

    fn build_index(&mut self) {
        let places = self.list.iter().enumerate().map(|(at, entry)| (entry.subscriber, at as u32));
        self.index = Some(Box::new(places.collect()));
    }

    /// Takes `subscriber` out; the last one moves into its place. Returns whether it was there.
    pub(crate) fn remove(&mut self, subscriber: S) -> bool {
        let Some(at) = self.position(subscriber) else { return false };
        self.list.swap_remove(at);
        if let Some(index) = &mut self.index {
            index.remove(&subscriber);
            if let Some(moved) = self.list.get(at) {
                index.insert(moved.subscriber, at as u32);
            }
            if self.list.len() <= INDEX_ABOVE / 2 {
                self.index = None;
                self.list.shrink_to_fit();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_follows_what_moves() {
        let mut entries = Entries::default();
        for n in 0..100_u32 {
            assert!(entries.insert(n, n));
        }
        assert!(!entries.insert(7, 70));
        for n in (0..100).step_by(3) {
            assert!(entries.remove(n) && !entries.remove(n));
        }
        for (n, expected) in [(7, Some(70)), (8, Some(8)), (9, None), (99, None)] {
            assert_eq!(entries.position(n).map(|at| entries.as_slice()[at].options), expected);
        }
        for n in 0..98 {
            entries.remove(n);
        }
        assert_eq!((entries.as_slice().len(), entries.position(98)), (1, Some(0)));
    }

    /// Is there an index for many and none for few, and not one that comes and goes with each subscriber?
    #[test]
    fn only_many_have_an_index() {
        let mut entries = Entries::default();
        let has_index = |entries: &Entries<usize, ()>| entries.index.is_some();
        for n in 0..=INDEX_ABOVE {
            assert!(!has_index(&entries), "{n}");
            entries.insert(n, ());
        }
        assert!(has_index(&entries));
        for n in (INDEX_ABOVE / 2..=INDEX_ABOVE).rev() {
            assert!(has_index(&entries), "{n}");
            entries.remove(n);
        }
        assert!(!has_index(&entries));
    }
}
