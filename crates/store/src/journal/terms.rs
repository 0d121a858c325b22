//! Which term the entries of a group have, as the places where it changes: terms change seldom, entries are many.

/// Ascending in both; the first change is at or before the first entry that is not purged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// (first index of the term, term)
    changes: Vec<(u64, u64)>,
}

impl Terms {
    pub(crate) fn from_changes(changes: Vec<(u64, u64)>) -> Self {
        Self { changes }
    }

    pub(crate) fn changes(&self) -> &[(u64, u64)] {
        &self.changes
    }

    /// Entries from `index` on have this term.
    pub(crate) fn note(&mut self, index: u64, term: u64) {
        if self.changes.last().is_none_or(|change| change.1 != term) {
            self.changes.push((index, term));
        }
    }

    /// The term of an entry that is there.
    pub(crate) fn of(&self, index: u64) -> Option<u64> {
        let behind = self.changes.partition_point(|change| change.0 <= index);
        behind.checked_sub(1).map(|place| self.changes[place].1)
    }

    /// Entries from `index` on are gone.
    pub(crate) fn truncate(&mut self, index: u64) {
        self.changes.truncate(self.changes.partition_point(|change| change.0 < index));
    }

    /// Entries through `index` need no answer any more.
    pub(crate) fn purge(&mut self, index: u64) {
        let first_needed = self.changes.partition_point(|change| change.0 <= index + 1);
        self.changes.drain(..first_needed.saturating_sub(1));
    }

    pub(crate) fn clear(&mut self) {
        self.changes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_known_from_its_first_entry_to_the_next_change() {
        let mut terms = Terms::default();
        for (index, term) in [(1, 0), (2, 0), (3, 2), (4, 2), (5, 7)] {
            terms.note(index, term);
        }
        assert_eq!(terms.changes(), [(1, 0), (3, 2), (5, 7)]);
        assert_eq!([1, 2, 3, 4, 5, 9].map(|index| terms.of(index)), [0, 0, 2, 2, 7, 7].map(Some));
        terms.truncate(4);
        assert_eq!((terms.of(3), terms.changes().len()), (Some(2), 2));
        terms.purge(1);
        assert_eq!((terms.of(2), terms.of(3)), (Some(0), Some(2)));
        terms.purge(2);
        assert_eq!((terms.of(2), terms.of(3)), (None, Some(2)));
    }
}
