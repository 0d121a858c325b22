//! The group's own figures against the ledger's.

use lapwing_codec::QoS;
use lapwing_groups::{DropReason, Lane, Presence};

use crate::ledger::{State, Sums};
use crate::world::World;

impl World {
    /// Counters, queue and members agree with the ledger.
    pub fn compare(&self) {
        let counters = *self.group.counters();
        let sums = Sums {
            published: counters.published,
            acknowledged: counters.acknowledged,
            unacknowledged: counters.unacknowledged,
            refused: counters.refused,
            dropped: DropReason::ALL.map(|reason| counters.dropped(reason)),
            dead_lettered: DropReason::ALL.map(|reason| counters.dead_lettered(reason)),
            missed: counters.missed,
            missed_critical: counters.missed_critical,
            expired: counters.expired,
            moved: counters.moved,
            redelivered: counters.redelivered,
            late: counters.late_acknowledgements,
            kicks: counters.kicks,
            joins_refused: counters.joins_refused,
        };
        assert_eq!(sums, self.ledger.sums);
        let view = self.group.view(self.now_us);
        let waiting = |lane| self.ledger.count(|line| line.state == State::Waiting && line.facts.lane == lane);
        assert_eq!((view.critical, view.bulk), (waiting(Lane::Critical), waiting(Lane::Bulk)));
        let bytes = self.ledger.lines.iter().filter(|line| line.state == State::Waiting);
        assert_eq!(view.bytes, bytes.map(|line| line.facts.bytes).sum::<u64>());
        assert_eq!(view.assigned, self.ledger.count(|line| matches!(line.state, State::With { .. })));
        assert_eq!(counters.published, counters.ended() + (view.critical + view.bulk + view.assigned) as u64);
        assert_eq!(view.dispatch.picks_refused, 0);
        for member in self.group.member_views(self.now_us) {
            assert_eq!(member.assigned, self.ledger.count(|line| line.is_with(member.key)));
            // Less only after a stall: dispatch does not take back all that a member has kept.
            assert!(member.dispatch.is_none_or(|seen| seen.inflight as usize <= member.assigned), "{member:?}");
        }
    }

    /// Whether the owner lets a client in.
    pub fn may_join(&mut self, key: u32) -> bool {
        let is_member = |known: &Option<Presence>| known.is_some_and(|presence| presence != Presence::Leaving);
        let members = self.known.iter().filter(|known| is_member(known)).count();
        let may_join = is_member(&self.known[key as usize]) || members < self.settings.members_max;
        assert_eq!(self.group.can_join(key), may_join);
        self.ledger.sums.joins_refused += u64::from(!may_join);
        may_join
    }

    /// Everything under way arrives, everybody works off what it has, time passes: nothing is left but what nobody may have.
    pub fn settle(&mut self) {
        self.commit(u64::MAX / 2);
        for _ in 0..400 {
            for at in 0..self.clients.len() {
                while !self.clients[at].orders.is_empty() {
                    self.clients[at].arrive();
                }
                while self.clients[at].held.iter().any(|held| held.written_us.is_none()) {
                    self.write(at);
                }
                while self.clients[at].is_connected && !self.clients[at].held.is_empty() {
                    self.clients[at].answer(0, false, self.now_us);
                }
                while !self.clients[at].words.is_empty() {
                    self.hear(at);
                }
            }
            self.now_us += 300_000;
            self.tick();
        }
        let view = self.group.view(self.now_us);
        if view.here > 0 {
            let waits = |nth: &usize| self.ledger.lines[*nth].state == State::Waiting && !self.may_wait(*nth);
            assert_eq!((0..self.ledger.lines.len()).find(waits), None, "{view:?}");
        }
        let stays = |at: &usize| !self.clients[*at].is_connected;
        let kept: usize = (0..self.clients.len()).filter(stays).map(|at| self.clients[at].held.len()).sum();
        assert_eq!(view.assigned, kept, "only QoS 2 of who is away is left");
        let of_qos_2 =
            |line: &crate::ledger::Line| matches!(line.state, State::With { qos, .. } if qos != QoS::ExactlyOnce);
        assert_eq!(self.ledger.count(of_qos_2), 0);
    }
}
