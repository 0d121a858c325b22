//! How one data group stands: the end of its log, how far it is purged, its vote.

use super::info::DataGroupLog;
use super::op::Op;
use super::raft_log::RaftLog;
use super::terms::Terms;

/// The vote is opaque; an id of a node and a term fit many times.
pub(crate) const VOTE_BYTES_MAX: usize = 256;

/// Everything about a group that is not in its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The last index, 0 when there is none; never below `purged`.
    pub last: u64,
    pub purged: u64,
    pub purged_term: u64,
    pub terms: Terms,
    pub raft: RaftLog,
    pub vote: Vec<u8>,
}

impl Tail {
    /// The index of the entry that follows.
    pub(crate) fn next(&self) -> u64 {
        self.last + 1
    }

    pub(crate) fn last_term(&self) -> u64 {
        match self.last == self.purged {
            true => self.purged_term,
            false => self.terms.of(self.last).unwrap_or(self.purged_term),
        }
    }

    /// No term that follows is less.
    pub(crate) fn least_term(&self) -> u64 {
        self.last_term().max(self.raft.last_term())
    }

    /// Entries `first..=last` of one term follow.
    pub(crate) fn append(&mut self, first: u64, last: u64, term: u64) {
        self.terms.note(first, term);
        self.last = last;
    }

    /// Entries from `from` on are void; `from` lies above `purged` and at or below `last`.
    pub(crate) fn truncate(&mut self, from: u64) {
        self.terms.truncate(from);
        self.last = from - 1;
    }

    /// A snapshot covers everything through `through`, whose term is `term` if it is not one of the entries here.
    pub(crate) fn purge(&mut self, through: u64, term: u64) {
        if through <= self.purged {
            return;
        }
        self.purged_term = match through <= self.last {
            true => self.terms.of(through).unwrap_or(term),
            false => term,
        };
        self.purged = through;
        match through < self.last {
            true => self.terms.purge(through),
            false => {
                self.last = through;
                self.terms.clear();
            }
        }
    }

    /// Follows what a record says; entries, truncations and purges were checked against this tail before.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Entries(piece) => {
                self.append(piece.first, piece.last, piece.term);
                if piece.raft_index > 0 {
                    self.raft.batch((piece.raft_index, piece.term), piece.first, piece.last);
                }
            }
            Op::Marker { raft_index, term, body } => self.raft.marker((*raft_index, *term), self.last, body.clone()),
            Op::Truncate { from, raft_index } => {
                self.truncate(*from);
                if *raft_index > 0 {
                    self.raft.truncate(*raft_index);
                }
            }
            Op::Purge { through, raft_index, term } => {
                self.purge(*through, *term);
                self.raft.purge((*raft_index, *term), *through);
            }
            Op::Vote(vote) => self.vote = vote.to_vec(),
            Op::Stretch | Op::Replaced(_) => {}
        }
    }

    pub(crate) fn log(&self) -> DataGroupLog {
        DataGroupLog {
            first_index: self.purged + 1,
            last_index: self.last,
            last_term: self.last_term(),
            purged_index: self.purged,
            purged_term: self.purged_term,
            last_raft_index: self.raft.last,
            last_raft_term: self.raft.last_term(),
            purged_raft_index: self.raft.purged,
            purged_raft_term: self.raft.purged_term,
            vote: self.vote.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> Tail {
        let mut tail = Tail::default();
        tail.append(1, 10, 1);
        tail.append(11, 20, 3);
        tail
    }

    #[test]
    fn the_last_term_is_known_after_truncations_and_purges() {
        let mut tail = filled();
        assert_eq!((tail.next(), tail.last_term()), (21, 3));
        tail.truncate(11);
        assert_eq!((tail.next(), tail.last_term()), (11, 1));
        tail.append(11, 11, 4);
        tail.purge(5, 99);
        assert_eq!((tail.purged, tail.purged_term, tail.last_term()), (5, 1, 4));
        tail.purge(11, 99);
        assert_eq!((tail.purged_term, tail.last_term(), tail.next()), (4, 4, 12));
        tail.purge(3, 1);
        assert_eq!(tail.purged, 11, "never back");
    }

    #[test]
    fn a_purge_beyond_the_end_moves_the_end() {
        let mut tail = filled();
        tail.purge(50, 9);
        assert_eq!((tail.next(), tail.last_term(), tail.purged_term), (51, 9, 9));
        tail.append(51, 51, 9);
        assert_eq!((tail.log().first_index, tail.log().last_index, tail.log().last_term), (51, 51, 9));
    }
}
