//! What Raft counts in a data group: which entries each Raft index has brought, its term, and the markers.
//!
//! A Raft index is a batch of entries, or a marker, which is none. All of it that is not purged lies in memory, with 16 bytes
//! for a Raft index, here and at the writer; nothing for groups without Raft. A record takes 64 bytes at least, so that is a
//! quarter of what is not purged at the very most, and under load, where a batch has tens of entries, a thousandth. Checkpoints
//! bring it over from segment to segment, markers too: so no segment has to stay for the sake of a marker.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::terms::Terms;

/// How a data group stands for Raft.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RaftLog {
    /// The last Raft index, 0 when there is none; never below `purged`.
    pub last: u64,
    /// A snapshot covers everything through this Raft index.
    pub purged: u64,
    pub purged_term: u64,
    /// The last entry before those of `ends`.
    pub(super) base: u64,
    /// What is not purged, ascending in both.
    pub(super) ends: VecDeque<End>,
    /// By Raft index.
    pub(super) terms: Terms,
    pub(super) markers: BTreeMap<u64, Arc<[u8]>>,
}

/// The last entry through a Raft index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub raft_index: u64,
    pub index: u64,
}

impl RaftLog {
    /// The group has Raft indexes.
    pub(crate) fn is_used(&self) -> bool {
        self.last > 0
    }

    /// The term of the last Raft index.
    pub(crate) fn last_term(&self) -> u64 {
        self.term(self.last).unwrap_or(self.purged_term)
    }

    /// The term of a Raft index that is there, or is the last one purged.
    pub(crate) fn term(&self, raft_index: u64) -> Option<u64> {
        match raft_index {
            0 => None,
            purged if purged == self.purged => Some(self.purged_term),
            there if (self.purged..=self.last).contains(&there) => self.terms.of(there),
            _ => None,
        }
    }

    /// Whether an entry of this Raft index and term may follow: it is of the last batch, or begins one.
    pub(crate) fn takes(&self, raft_index: u64, term: u64) -> bool {
        let is_open = || {
            let is_there = self.ends.back().is_some_and(|end| end.raft_index == raft_index);
            is_there && !self.markers.contains_key(&raft_index) && self.last_term() == term
        };
        raft_index > self.last || raft_index == self.last && is_open()
    }

    /// The last entry through a Raft index, purged ones not known.
    pub(crate) fn index_through(&self, raft_index: u64) -> u64 {
        let behind = self.ends.partition_point(|end| end.raft_index <= raft_index);
        behind.checked_sub(1).map_or(self.base, |place| self.ends[place].index)
    }

    /// Raft index, last entry before it, and body of the markers in a range.
    pub(crate) fn markers(&self, range: RangeInclusive<u64>) -> impl Iterator<Item = (u64, u64, Arc<[u8]>)> + '_ {
        self.markers
            .range(range)
            .map(move |(raft_index, body)| (*raft_index, self.index_through(*raft_index), body.clone()))
    }

    /// Entries `first..=last` of one batch follow.
    pub(crate) fn batch(&mut self, (raft_index, term): (u64, u64), first: u64, last: u64) {
        if self.ends.is_empty() {
            self.base = first.saturating_sub(1);
        }
        self.end((raft_index, term), last);
    }

    /// A marker follows, behind the entry `index`.
    pub(crate) fn marker(&mut self, (raft_index, term): (u64, u64), index: u64, body: Arc<[u8]>) {
        if self.ends.is_empty() {
            self.base = index;
        }
        self.end((raft_index, term), index);
        if raft_index > self.purged {
            self.markers.insert(raft_index, body);
        }
    }

    /// Never back: whatever the records of a damaged or mended journal say, both numbers ascend, and nothing is held that is purged.
    fn end(&mut self, (raft_index, term): (u64, u64), index: u64) {
        if raft_index <= self.purged {
            self.base = self.base.max(index);
            return;
        }
        let index = index.max(self.ends.back().map_or(self.base, |end| end.index));
        match self.ends.back_mut().filter(|end| end.raft_index >= raft_index) {
            Some(end) => end.index = index,
            None => self.ends.push_back(End { raft_index, index }),
        }
        self.terms.note(raft_index, term);
        self.last = self.last.max(raft_index);
    }

    /// What has this Raft index or a higher one is void; it lies above `purged`.
    pub(crate) fn truncate(&mut self, from: u64) {
        self.ends.truncate(self.ends.partition_point(|end| end.raft_index < from));
        self.terms.truncate(from);
        drop(self.markers.split_off(&from));
        self.last = self.last.min(from.saturating_sub(1)).max(self.purged);
    }

    /// A snapshot covers everything through a Raft index and the entry `index`; `term` counts only beyond the end.
    pub(crate) fn purge(&mut self, (through, term): (u64, u64), index: u64) {
        if through <= self.purged {
            return;
        }
        self.purged_term = if through <= self.last { self.terms.of(through).unwrap_or(term) } else { term };
        self.purged = through;
        self.last = self.last.max(through);
        let gone = self.ends.partition_point(|end| end.raft_index <= through);
        let last_gone = self.ends.drain(..gone).next_back();
        self.base = match self.ends.front() {
            Some(front) => last_gone.map_or(index, |end| end.index).min(front.index),
            None => index,
        };
        self.markers = self.markers.split_off(&(through + 1));
        match self.ends.is_empty() {
            true => self.terms.clear(),
            false => self.terms.purge(through),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of two entries and a marker: Raft indexes 1 and 2, 3, 4; entries 1 to 6.
    fn filled() -> RaftLog {
        let mut raft = RaftLog::default();
        raft.batch((1, 1), 1, 2);
        raft.batch((2, 1), 3, 4);
        raft.marker((3, 2), 4, b"a marker"[..].into());
        raft.batch((4, 2), 5, 6);
        raft
    }

    fn marked(raft: &RaftLog) -> Vec<(u64, u64)> {
        raft.markers(0..=9).map(|marker| (marker.0, marker.1)).collect()
    }

    #[test]
    fn a_raft_index_finds_its_entries_and_its_term() {
        let raft = filled();
        assert_eq!([0, 1, 2, 3, 4, 9].map(|index| raft.index_through(index)), [0, 2, 4, 4, 6, 6]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|index| raft.term(index)), [None, Some(1), Some(1), Some(2), Some(2), None]);
        assert_eq!((raft.last, raft.last_term(), marked(&raft)), (4, 2, vec![(3, 4)]));
    }

    #[test]
    fn an_entry_is_of_the_last_batch_or_begins_one() {
        let mut raft = filled();
        assert!(raft.takes(4, 2) && raft.takes(5, 2) && raft.takes(9, 7));
        assert!(!raft.takes(3, 2) && !raft.takes(4, 3) && !raft.takes(0, 2));
        raft.truncate(4);
        assert!(!raft.takes(3, 2), "a marker's");
        raft.purge((3, 0), 4);
        assert!(!raft.takes(3, 2) && raft.takes(4, 2), "what is purged is over");
        assert!(!RaftLog::default().takes(0, 0) && RaftLog::default().takes(1, 0));
    }

    #[test]
    fn what_is_truncated_or_purged_is_gone_from_either_end() {
        let mut raft = filled();
        raft.truncate(3);
        assert_eq!((raft.last, raft.last_term(), raft.index_through(9), marked(&raft)), (2, 1, 4, vec![]));
        let mut raft = filled();
        raft.purge((1, 99), 2);
        assert_eq!((raft.purged_term, raft.term(1), raft.index_through(1), raft.term(2)), (1, Some(1), 2, Some(1)));
        raft.purge((3, 99), 4);
        assert_eq!((raft.purged_term, raft.index_through(3), marked(&raft), raft.ends.len()), (2, 4, vec![], 1));
        raft.truncate(1);
        assert_eq!((raft.last, raft.last_term(), raft.index_through(3)), (3, 2, 4), "never below what is purged");
        raft.purge((70, 8), 500);
        assert_eq!((raft.last, raft.last_term(), raft.index_through(70)), (70, 8, 500), "beyond the end");
        raft.purge((2, 1), 4);
        assert_eq!(raft.purged, 70, "never back");
        raft.batch((70, 8), 501, 501);
        assert_eq!((raft.last, raft.ends.len(), raft.index_through(70)), (70, 0, 501), "what a mended journal may say");
    }
}
