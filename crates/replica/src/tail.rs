//! The newest entries of a group's log with what they weigh: what is not stored or not applied yet, and what followers may
//! still ask for.

use std::collections::VecDeque;

use crate::write::Body;

/// Entries without a gap up to the end of the log.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The Raft index of the first.
    first: u64,
    entries: VecDeque<(u64, Body)>,
    bytes: u64,
}

impl Tail {
    /// Nothing yet; the log goes on at `first`.
    pub(crate) fn from(first: u64) -> Tail {
        Tail { first, ..Tail::default() }
    }

    /// Takes the entry at `raft_index`; what was there from it on is void. Behind the end: what was before is forgotten.
    pub(crate) fn put(&mut self, raft_index: u64, term: u64, body: Body) {
        self.truncate(raft_index);
        if raft_index != self.end() {
            *self = Tail::from(raft_index);
        }
        self.bytes += bytes_of(&body);
        self.entries.push_back((term, body));
    }

    /// What has the Raft index `from` or a higher one is void.
    pub(crate) fn truncate(&mut self, from: u64) {
        while self.end() > from
            && let Some((_, body)) = self.entries.pop_back()
        {
            self.bytes -= bytes_of(&body);
        }
    }

    /// The term and the body at this Raft index, if it is here.
    pub(crate) fn at(&self, raft_index: u64) -> Option<&(u64, Body)> {
        let place = raft_index.checked_sub(self.first)?;
        self.entries.get(usize::try_from(place).ok()?)
    }

    /// Whether the log ends before this Raft index.
    pub(crate) fn is_behind(&self, raft_index: u64) -> bool {
        raft_index >= self.end()
    }

    /// Forgets the oldest entry, if it is not above `through`; true when it did.
    pub(crate) fn forget_one(&mut self, through: u64) -> bool {
        let may_go = self.first <= through;
        let gone = may_go.then(|| self.entries.pop_front()).flatten();
        if let Some((_, body)) = &gone {
            self.bytes -= bytes_of(body);
            self.first += 1;
        }
        gone.is_some()
    }

    /// The bytes of all bodies.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The Raft index behind the last.
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }
}

/// What a body costs in memory, with what names it.
fn bytes_of(body: &Body) -> u64 {
    64 + match body {
        Body::Blank => 0,
        Body::Membership(changes) => 16 * changes.len() as u64,
        Body::Batch(batch) => batch.bytes().len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is each entry found under its index and term, as long as nothing has taken its place, and are bytes counted?
    #[test]
    fn entries_are_found_until_something_takes_their_place() {
        let mut tail = Tail::from(5);
        (5..10).for_each(|index| tail.put(index, 1, Body::Blank));
        let term = |tail: &Tail, index| tail.at(index).map(|(term, _)| *term);
        assert_eq!([4, 5, 9, 10].map(|index| term(&tail, index)), [None, Some(1), Some(1), None]);
        tail.put(7, 2, Body::Blank);
        assert_eq!([6, 7, 8].map(|index| term(&tail, index)), [Some(1), Some(2), None]);
        assert!(tail.is_behind(8) && !tail.is_behind(7));
        assert_eq!(tail.bytes(), 3 * 64);
        assert!(tail.forget_one(6) && tail.forget_one(6) && !tail.forget_one(6));
        assert_eq!((tail.bytes(), tail.at(6).is_some(), tail.at(7).is_some()), (64, false, true));
        tail.put(20, 2, Body::Blank);
        assert!(tail.at(7).is_none() && tail.at(20).is_some(), "a snapshot lies in between");
        assert_eq!(tail.bytes(), 64);
    }
}
