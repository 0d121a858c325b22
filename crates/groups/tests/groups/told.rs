//! Misses that the group tells of, against those that the ledger has.

use lapwing_groups::{Action, Facts};

use crate::ledger::{Message, State};
use crate::world::World;

/// One miss, without the message itself: that would look as if somebody still had it.
pub struct Told {
    member: Option<u32>,
    nth: usize,
    facts: Facts,
    took_us: u64,
}

impl Told {
    pub fn of(action: Action<u32, Message>) -> Option<Told> {
        match action {
            Action::Missed { member, message, facts, took_us } => Some(Told { member, nth: *message, facts, took_us }),
            _ => None,
        }
    }
}

impl World {
    /// One for each that was counted since the last look, or none if that is not set.
    pub fn check_told(&mut self, told: &[Told]) {
        let counted = self.ledger.sums.missed - self.misses_seen;
        self.misses_seen = self.ledger.sums.missed;
        assert_eq!(told.len() as u64, if self.settings.tells_missed { counted } else { 0 });
        for Told { member, nth, facts, took_us } in told {
            let line = &self.ledger.lines[*nth];
            let unlogged = |facts: Facts| Facts { entry: None, ..facts };
            assert_eq!((line.state, unlogged(line.facts)), (State::Ended, unlogged(*facts)));
            assert!(line.is_missed(facts.ingress_us + took_us), "{nth} was not late");
            assert!(member.is_none_or(|key| (key as usize) < self.clients.len()));
        }
    }

    /// Nobody is a member or has anything, and nothing waits.
    pub fn is_empty(&self) -> bool {
        self.group.member_views(self.now_us).next().is_none()
            && self.ledger.count(|line| line.state != State::Ended) == 0
    }
}
