//! What a log has when its engine starts.

use crate::bounds::{INDEX_MAX, TERM_MAX};
use crate::entry::Entry;
use crate::error::StartError;
use crate::membership::Membership;
use crate::position::Position;

/// The vote record: what a node promised, and how far it knows that the log is committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vote {
    /// The highest term that the node has heard of.
    pub term: u64,
    /// Whom it voted for in that term; 0: nobody.
    pub voted_for: u64,
    /// All up to this Raft index is committed.
    pub commit: u64,
}

/// What was kept: where the log begins, who belonged to the group there, the headers behind it, and the vote record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogTail {
    /// What lies up to here is in a snapshot.
    pub compacted: Position,
    /// Who belonged to the group there; what is in `entries` comes on top.
    pub membership: Membership,
    /// All entries behind `compacted`, in order.
    pub entries: Vec<Entry>,
    /// The last vote record.
    pub vote: Vote,
}

impl LogTail {
    /// A new group's first log: a snapshot at index 1 of term 1. Whoever joins later gets it from a leader.
    pub fn founded(voters: &[u64]) -> LogTail {
        LogTail {
            compacted: Position { index: 1, term: 1 },
            membership: Membership::of(voters),
            entries: Vec::new(),
            vote: Vote { term: 1, voted_for: 0, commit: 1 },
        }
    }

    /// The log of a node that joins: it knows nobody, and waits for a snapshot.
    pub fn joining() -> LogTail {
        LogTail::default()
    }

    /// The last position.
    pub fn last(&self) -> Position {
        self.entries.last().map_or(self.compacted, |entry| Position { index: entry.index, term: entry.term })
    }

    /// Whether an engine can start from it.
    ///
    /// # Errors
    /// `Damaged`: it cannot have been written so. `Lost`: it ends before what its own vote record calls committed.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let damaged = |what| Err(StartError::Damaged { what });
        if let Some(what) = self.membership.fault() {
            return damaged(what);
        }
        if (self.compacted.index == 0) != (self.compacted.term == 0) {
            return damaged("an index without a term, or a term without an index, where the log begins");
        }
        let mut last = self.compacted;
        for entry in &self.entries {
            if entry.index != last.index + 1 || entry.term < last.term.max(1) || !entry.kind.is_valid() {
                return damaged("entries do not follow each other");
            }
            last = Position { index: entry.index, term: entry.term };
        }
        if last.term > self.vote.term || self.vote.term > TERM_MAX || last.index > INDEX_MAX {
            return damaged("terms are above the vote record's, or numbers above what can be");
        }
        if self.vote.commit < self.compacted.index {
            return damaged("the vote record is older than the snapshot");
        }
        if self.vote.commit > last.index {
            return Err(StartError::Lost { commit: self.vote.commit, last: last.index });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::EntryKind;

    fn tail(entries: &[(u64, u64)], vote: Vote) -> LogTail {
        let blank = |&(index, term)| Entry { index, term, kind: EntryKind::Blank };
        LogTail { entries: entries.iter().map(blank).collect(), vote, ..LogTail::founded(&[1, 2, 3]) }
    }

    /// Is a log accepted that an engine can have written, and each other one named?
    #[test]
    fn a_log_is_looked_at_before_it_is_believed() {
        let vote = |term, commit| Vote { term, voted_for: 0, commit };
        assert_eq!(LogTail::joining().check(), Ok(()));
        assert_eq!(tail(&[(2, 1), (3, 4)], vote(4, 3)).check(), Ok(()));
        assert_eq!(tail(&[(2, 1)], vote(1, 3)).check(), Err(StartError::Lost { commit: 3, last: 2 }));
        let wrong = [
            tail(&[(3, 1)], vote(1, 1)),
            tail(&[(2, 2), (3, 1)], vote(2, 1)),
            tail(&[(2, 5)], vote(4, 1)),
            tail(&[(2, 1)], vote(1, 0)),
            LogTail { compacted: Position { index: 4, term: 0 }, ..LogTail::joining() },
            LogTail { membership: Membership::of(&[1, 1]), ..LogTail::founded(&[1]) },
        ];
        for tail in wrong {
            assert!(matches!(tail.check(), Err(StartError::Damaged { .. })), "{tail:?}");
        }
    }
}
