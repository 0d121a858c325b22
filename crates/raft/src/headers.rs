//! The log that raft-rs looks into: headers in memory, and who belonged to the group where.

use std::collections::VecDeque;
use std::ops::Range;

use raft::eraftpb::{self, HardState};
use raft::{GetEntriesContext, RaftState, Storage, StorageError};

use crate::entry::{Entry, EntryKind};
use crate::membership::{Change, Membership};
use crate::message_bound::MessageBound;
use crate::position::Position;
use crate::tail::{LogTail, Vote};
use crate::translate;
use crate::turn::Snapshot;

/// All entries that were handed out to be stored and are not compacted. Whether they are on disk is not known here.
#[derive(Debug)]
pub(crate) struct Headers {
    compacted: Position,
    entries: VecDeque<Entry>,
    /// Who belonged to the group at `compacted`.
    membership: Membership,
    /// What was applied behind it: each by the index from which it counts.
    changed: VecDeque<(u64, Membership)>,
    /// What raft-rs starts with; not kept up.
    vote: Vote,
    bound: MessageBound,
}

impl Headers {
    pub(crate) fn new(tail: LogTail, bound: MessageBound) -> Headers {
        Headers {
            membership: tail.membership,
            changed: VecDeque::new(),
            compacted: tail.compacted,
            entries: tail.entries.into(),
            vote: tail.vote,
            bound,
        }
    }

    pub(crate) fn compacted(&self) -> Position {
        self.compacted
    }

    /// Who belongs to the group by what was applied.
    pub(crate) fn membership(&self) -> &Membership {
        self.changed.back().map_or(&self.membership, |(_, membership)| membership)
    }

    /// A membership entry at `index` was applied.
    pub(crate) fn note_membership(&mut self, index: u64, membership: Membership) {
        self.changed.push_back((index, membership));
    }

    /// Takes over what is to be stored: entries from the first one's index on, whatever lay there. True if something did.
    pub(crate) fn append(&mut self, entries: &[Entry]) -> bool {
        let Some(first) = entries.first() else { return false };
        let kept = first.index.saturating_sub(self.compacted.index + 1) as usize;
        let is_truncated = kept < self.entries.len();
        self.entries.truncate(kept);
        self.entries.extend(entries.iter().cloned());
        is_truncated
    }

    /// Begins anew behind a snapshot.
    pub(crate) fn install(&mut self, at: Position, membership: Membership) {
        self.compacted = at;
        self.entries.clear();
        self.membership = membership;
        self.changed.clear();
    }

    /// Forgets what lies up to `through`, which is in the log.
    pub(crate) fn compact(&mut self, through: u64) {
        let Some(Snapshot { at, membership }) = self.snapshot_at(through).filter(|_| through > self.compacted.index)
        else {
            return;
        };
        self.entries.drain(..(through - self.compacted.index) as usize);
        self.changed.retain(|(index, _)| *index > through);
        (self.compacted, self.membership) = (at, membership);
    }

    /// What a snapshot at this index has to say; `None`: the index is not in the log.
    pub(crate) fn snapshot_at(&self, index: u64) -> Option<Snapshot> {
        let at = Position { index, term: self.term_of(index)? };
        let passed = self.changed.partition_point(|(from, _)| *from <= index);
        let changed = passed.checked_sub(1).and_then(|last| self.changed.get(last));
        let membership = changed.map_or(&self.membership, |(_, membership)| membership).clone();
        Some(Snapshot { at, membership })
    }

    /// Membership entries of these indexes, as far as they are there.
    pub(crate) fn changes_in(&self, indexes: Range<u64>) -> Vec<(u64, Vec<Change>)> {
        let change = |entry: &Entry| match &entry.kind {
            EntryKind::Membership(changes) => Some((entry.index, changes.clone())),
            EntryKind::Blank | EntryKind::Batch(_) => None,
        };
        self.entries.range(self.places(indexes)).filter_map(change).collect()
    }

    fn last(&self) -> u64 {
        self.compacted.index + self.entries.len() as u64
    }

    fn term_of(&self, index: u64) -> Option<u64> {
        if index == self.compacted.index {
            return Some(self.compacted.term);
        }
        let place = index.checked_sub(self.compacted.index + 1)?;
        self.entries.get(place as usize).map(|entry| entry.term)
    }

    /// Places in `entries` of what is there of these indexes.
    fn places(&self, indexes: Range<u64>) -> Range<usize> {
        let place = |index: u64| (index.saturating_sub(self.compacted.index + 1) as usize).min(self.entries.len());
        let start = place(indexes.start);
        start..place(indexes.end).max(start)
    }
}

impl Storage for Headers {
    fn initial_state(&self) -> raft::Result<RaftState> {
        let Vote { term, voted_for: vote, commit } = self.vote;
        let hard_state = HardState { term, vote, commit, ..HardState::default() };
        Ok(RaftState::new(hard_state, translate::conf_state(self.membership())))
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        _: impl Into<Option<u64>>,
        context: GetEntriesContext,
    ) -> raft::Result<Vec<eraftpb::Entry>> {
        if low <= self.compacted.index {
            return Err(StorageError::Compacted.into());
        }
        if high > self.last() + 1 {
            return Err(StorageError::Unavailable.into());
        }
        let entries = self.entries.range(self.places(low..high));
        // Only what is to be sent may be fetched later, and only there less may be given than was asked for.
        let many = if context.can_async() { self.bound.fitting(entries.clone()) } else { entries.len() };
        Ok(entries.take(many).map(translate::to_raft).collect())
    }

    fn term(&self, index: u64) -> raft::Result<u64> {
        let missing = if index < self.compacted.index { StorageError::Compacted } else { StorageError::Unavailable };
        self.term_of(index).ok_or(missing.into())
    }

    fn first_index(&self) -> raft::Result<u64> {
        Ok(self.compacted.index + 1)
    }

    fn last_index(&self) -> raft::Result<u64> {
        Ok(self.last())
    }

    /// The oldest place at which a snapshot is of use: where the log begins, or behind that the last change of membership.
    /// Who was let in by that change is of no group that an older snapshot tells of.
    fn snapshot(&self, request_index: u64, _: u64) -> raft::Result<eraftpb::Snapshot> {
        let changed = self.changed.back().map_or(0, |(index, _)| *index);
        let index = changed.max(self.compacted.index);
        match self.snapshot_at(index).filter(|_| index > 0 && index >= request_index) {
            Some(Snapshot { at, membership }) => Ok(translate::snapshot(at, &membership)),
            None => Err(StorageError::SnapshotTemporarilyUnavailable.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::Standing;

    fn entry(index: u64, term: u64) -> Entry {
        Entry { index, term, kind: EntryKind::Blank }
    }

    fn headers(last: u64) -> Headers {
        let tail = LogTail { entries: (2..=last).map(|index| entry(index, 1)).collect(), ..LogTail::founded(&[1]) };
        Headers::new(tail, MessageBound { bytes_max: 1 << 20 })
    }

    /// Does what is stored anew take the place of what lay there, and is that told?
    #[test]
    fn what_is_stored_anew_takes_the_place() {
        let mut headers = headers(5);
        assert!(!headers.append(&[entry(6, 1)]));
        assert!(headers.append(&[entry(4, 2), entry(5, 2)]));
        assert_eq!((headers.last(), headers.term_of(3), headers.term_of(4)), (5, Some(1), Some(2)));
        assert_eq!(headers.term_of(6), None);
    }

    /// Is the term at which the log begins known, what lies before not, and the membership the one of that place?
    #[test]
    fn compaction_keeps_the_term_and_the_membership_of_its_place() {
        let mut headers = headers(8);
        headers.note_membership(4, Membership::of(&[1, 2]));
        headers.note_membership(7, Membership::of(&[1, 2, 3]));
        headers.compact(5);
        assert_eq!(headers.compacted(), Position { index: 5, term: 1 });
        assert_eq!((headers.term_of(4), headers.term_of(5), headers.last()), (None, Some(1), 8));
        assert_eq!(headers.membership, Membership::of(&[1, 2]));
        assert_eq!(headers.membership(), &Membership::of(&[1, 2, 3]));
        headers.compact(3);
        headers.compact(9);
        assert_eq!(headers.compacted().index, 5, "neither back nor beyond the end");
    }

    /// Is a snapshot offered that tells of who came last?
    #[test]
    fn a_snapshot_tells_of_who_came_last() {
        let mut headers = headers(8);
        let offered = |headers: &Headers| headers.snapshot(0, 4).map(|snapshot| snapshot.get_metadata().index).ok();
        assert_eq!(offered(&headers), Some(1));
        headers.note_membership(4, Membership::of(&[1, 2]));
        assert_eq!(offered(&headers), Some(4));
        headers.compact(6);
        assert_eq!(offered(&headers), Some(6));
        let nothing = Headers::new(LogTail::joining(), MessageBound { bytes_max: 1 });
        assert_eq!(offered(&nothing), None);
    }

    /// Are membership entries found by their indexes, also where a range goes beyond what is there?
    #[test]
    fn membership_entries_are_found() {
        let mut headers = headers(4);
        let change = vec![Change { node: 4, standing: Standing::Learner }];
        headers.append(&[Entry { index: 5, term: 1, kind: EntryKind::Membership(change.clone()) }]);
        assert_eq!(headers.changes_in(0..100), [(5, change)]);
        assert_eq!(headers.changes_in(2..5), []);
        assert_eq!(headers.changes_in(50..60), []);
    }
}
