//! Each subscriber once: joins the subscribers of several matched filters.

use std::hash::Hash;

use crate::entries::{Entries, Entry};

/// Reused between matches, so that a match does not allocate.
pub(crate) struct Gather<S, O> {
    entries: Vec<Entry<S, O>>,
    /// Positions in the largest list that have moved into `entries`.
    taken: Vec<usize>,
}

impl<S, O> Default for Gather<S, O> {
    fn default() -> Self {
        Gather { entries: Vec::new(), taken: Vec::new() }
    }
}

impl<S: Copy + Eq + Ord + Hash, O: Copy> Gather<S, O> {
    /// Calls `deliver` once per subscriber in `lists` with all its entries. At least two lists.
    ///
    /// The largest list is walked in place, and only the others are sorted: a filter with 100,000 subscribers beside
    /// one with a single one costs no sort of 100,001.
    pub(crate) fn join<'t>(
        &mut self,
        lists: impl Iterator<Item = &'t Entries<S, O>> + Clone,
        deliver: &mut impl FnMut(&[Entry<S, O>]),
    ) where
        S: 't,
        O: 't,
    {
        let Some(largest) = lists.clone().max_by_key(|list| list.as_slice().len()) else { return };
        self.entries.clear();
        for list in lists.filter(|list| !std::ptr::eq(*list, largest)) {
            self.entries.extend_from_slice(list.as_slice());
        }
        self.entries.sort_unstable_by_key(|entry| entry.subscriber);
        self.take_from(largest);
        for group in self.entries.chunk_by(|a, b| a.subscriber == b.subscriber) {
            deliver(group);
        }
        self.deliver_rest(largest.as_slice(), deliver);
    }

    /// Moves those entries of `largest` over whose subscribers are among the gathered ones.
    fn take_from(&mut self, largest: &Entries<S, O>) {
        self.taken.clear();
        for group in self.entries.chunk_by(|a, b| a.subscriber == b.subscriber) {
            self.taken.extend(largest.position(group[0].subscriber));
        }
        if self.taken.is_empty() {
            return;
        }
        self.entries.extend(self.taken.iter().map(|&at| largest.as_slice()[at]));
        self.entries.sort_unstable_by_key(|entry| entry.subscriber);
        self.taken.sort_unstable();
    }

    fn deliver_rest(&self, largest: &[Entry<S, O>], deliver: &mut impl FnMut(&[Entry<S, O>])) {
        let mut from = 0;
        for &taken in &self.taken {
            largest[from..taken].iter().for_each(|entry| deliver(std::slice::from_ref(entry)));
            from = taken + 1;
        }
        largest[from..].iter().for_each(|entry| deliver(std::slice::from_ref(entry)));
    }
}
