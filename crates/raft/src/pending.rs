//! Turns that were handed out, and how far the disk has come with them.

use std::collections::VecDeque;

use crate::position::Position;

/// What one turn gave to be stored.
#[derive(Clone, Copy, Debug)]
struct Stored {
    turn: u64,
    /// The last of its entries.
    last: Option<Position>,
    /// The index of the snapshot that it installed.
    installed: Option<u64>,
}

/// What became durable with a word of the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Durable {
    /// The index of the newest snapshot among it.
    pub(crate) installed: Option<u64>,
    /// The last entry among it, if it lies behind that snapshot.
    pub(crate) last: Option<Position>,
}

/// Numbers of turns. A turn counts as durable when every one before it is.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    stored: VecDeque<Stored>,
    handed_out: u64,
    durable: u64,
    /// The last turn that gave something to be stored.
    last_stored: u64,
    /// The last turn that gave a new term or vote.
    last_vote: u64,
}

impl Pending {
    /// The number of the next turn.
    pub(crate) fn begin(&mut self) -> u64 {
        self.handed_out += 1;
        self.handed_out
    }

    /// The turn that has begun gives this to be stored.
    pub(crate) fn store(&mut self, last: Option<Position>, installed: Option<u64>, is_vote: bool) {
        if last.is_none() && installed.is_none() && !is_vote {
            return;
        }
        self.last_stored = self.handed_out;
        if is_vote {
            self.last_vote = self.handed_out;
        }
        self.stored.push_back(Stored { turn: self.handed_out, last, installed });
    }

    /// Everything through this turn is on disk. `None`: it was not handed out.
    pub(crate) fn persisted(&mut self, turn: u64) -> Option<Durable> {
        if turn > self.handed_out {
            return None;
        }
        self.durable = self.durable.max(turn);
        let mut durable = Durable::default();
        let passed = self.stored.partition_point(|stored| stored.turn <= turn);
        for stored in self.stored.drain(..passed) {
            if stored.installed.is_some() {
                durable = Durable { installed: stored.installed, last: None };
            }
            durable.last = stored.last.or(durable.last);
        }
        Some(durable)
    }

    pub(crate) fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// The last turn that gave something to be stored: what waits for the disk waits for this one.
    pub(crate) fn last_stored(&self) -> u64 {
        self.last_stored
    }

    /// Whether the term and the vote that turns have told of are on disk.
    pub(crate) fn is_vote_durable(&self) -> bool {
        self.last_vote <= self.durable
    }

    /// Whether all that was handed out is on disk.
    pub(crate) fn is_all_durable(&self) -> bool {
        self.stored.is_empty()
    }

    /// Whether a snapshot is on its way to the disk.
    pub(crate) fn is_installing(&self) -> bool {
        self.stored.iter().any(|stored| stored.installed.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u64) -> Option<Position> {
        Some(Position { index, term: 1 })
    }

    /// Is a turn's last entry durable with it, and with every later one?
    #[test]
    fn the_disk_catches_up_in_order() {
        let mut pending = Pending::default();
        for index in [3, 5, 9] {
            pending.begin();
            pending.store(at(index), None, false);
        }
        pending.begin();
        assert_eq!(pending.persisted(1), Some(Durable { installed: None, last: at(3) }));
        assert!(!pending.is_all_durable());
        assert_eq!(pending.persisted(3), Some(Durable { installed: None, last: at(9) }));
        assert_eq!(pending.persisted(2), Some(Durable::default()), "an old word says nothing");
        assert_eq!(pending.persisted(5), None, "nobody has the fifth turn");
        assert!(pending.is_all_durable() && pending.last_stored() == 3);
    }

    /// Does an installed snapshot take the place of what was stored before it, and only of that?
    #[test]
    fn a_snapshot_takes_the_place_of_what_was_before() {
        let mut pending = Pending::default();
        for (last, installed) in [(at(3), None), (None, Some(20)), (at(21), None)] {
            pending.begin();
            pending.store(last, installed, false);
        }
        assert!(pending.is_installing());
        assert_eq!(pending.persisted(2), Some(Durable { installed: Some(20), last: None }));
        assert!(!pending.is_installing());
        assert_eq!(pending.persisted(3), Some(Durable { installed: None, last: at(21) }));
    }

    /// Is a vote on disk only when its turn is, while turns that store nothing need no word at all?
    #[test]
    fn a_vote_waits_for_its_turn() {
        let mut pending = Pending::default();
        assert!(pending.is_vote_durable());
        pending.begin();
        pending.store(None, None, true);
        pending.begin();
        pending.store(None, None, false);
        assert!(!pending.is_vote_durable() && pending.last_stored() == 1);
        pending.persisted(1);
        assert!(pending.is_vote_durable() && pending.is_all_durable());
    }
}
