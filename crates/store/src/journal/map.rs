//! Which segment holds which entries of which group: a few ranges per segment and group, all in memory.

use std::collections::BTreeMap;

use super::data_group::PLACES;

/// A range of indexes of one group and the segment that holds what there is of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub first: u64,
    pub last: u64,
    pub sequence: u64,
}

/// The ranges of every group, none over another.
#[derive(Debug, Clone)]
pub(crate) struct EntryMap {
    /// By partition, then by the first index.
    groups: Vec<BTreeMap<u64, Held>>,
}

impl EntryMap {
    pub(crate) fn new() -> Self {
        Self { groups: vec![BTreeMap::new(); PLACES] }
    }

    /// Adds a range; false when it lies over another one.
    pub(crate) fn insert(&mut self, place: usize, held: Held) -> bool {
        if self.at_or_behind(place, held.first).is_some_and(|other| other.first <= held.last) {
            return false;
        }
        self.groups[place].insert(held.first, held);
        true
    }

    /// Entries were appended behind all others.
    pub(crate) fn append(&mut self, place: usize, added: Held) {
        match self.groups[place].last_entry() {
            Some(mut last) if last.get().sequence == added.sequence && last.get().last + 1 == added.first => {
                last.get_mut().last = added.last;
            }
            _ => drop(self.groups[place].insert(added.first, added)),
        }
    }

    /// Entries from `from` on are void.
    pub(crate) fn truncate(&mut self, place: usize, from: u64) {
        drop(self.groups[place].split_off(&from));
        if let Some(mut last) = self.groups[place].last_entry()
            && last.get().last >= from
        {
            last.get_mut().last = from - 1;
        }
    }

    /// The range that holds `index`, or the first one behind it.
    pub(crate) fn at_or_behind(&self, place: usize, index: u64) -> Option<Held> {
        let group = &self.groups[place];
        let covering = group.range(..=index).next_back().filter(|held| held.1.last >= index);
        covering.or_else(|| group.range(index..).next()).map(|held| *held.1)
    }

    /// All ranges of a segment.
    pub(crate) fn of_segment(&self, sequence: u64) -> Vec<(usize, Held)> {
        let all =
            self.groups.iter().enumerate().flat_map(|(place, group)| group.values().map(move |held| (place, *held)));
        all.filter(|(_, held)| held.sequence == sequence).collect()
    }

    /// All ranges of a group, ascending.
    pub(crate) fn of_group(&self, place: usize) -> impl Iterator<Item = Held> + '_ {
        self.groups[place].values().copied()
    }

    /// Forgets the ranges of these segments.
    pub(crate) fn remove(&mut self, sequences: &[u64]) {
        for group in &mut self.groups {
            group.retain(|_, held| !sequences.contains(&held.sequence));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(first: u64, last: u64, sequence: u64) -> Held {
        Held { first, last, sequence }
    }

    #[test]
    fn ranges_grow_are_cut_and_found() {
        let mut map = EntryMap::new();
        map.append(1, held(1, 10, 1));
        map.append(1, held(11, 20, 1));
        map.append(1, held(21, 30, 2));
        assert_eq!(map.at_or_behind(1, 15), Some(held(1, 20, 1)));
        assert_eq!(map.at_or_behind(1, 21), Some(held(21, 30, 2)));
        assert_eq!((map.at_or_behind(1, 31), map.at_or_behind(0, 1)), (None, None));
        map.truncate(1, 15);
        map.append(1, held(15, 15, 2));
        assert_eq!((map.at_or_behind(1, 14), map.at_or_behind(1, 15)), (Some(held(1, 14, 1)), Some(held(15, 15, 2))));
        assert!(map.insert(1, held(20, 30, 9)) && !map.insert(1, held(30, 31, 9)) && !map.insert(1, held(16, 20, 9)));
        assert_eq!(map.at_or_behind(1, 16), Some(held(20, 30, 9)), "the first one behind a hole");
        assert_eq!(map.of_segment(9), [(1, held(20, 30, 9))]);
        map.remove(&[1, 9]);
        assert_eq!(map.of_group(1).collect::<Vec<_>>(), [held(15, 15, 2)]);
    }
}
