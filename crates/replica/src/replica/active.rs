//! Who serves: what this node sees of itself, and what follows from that.

use lapwing_cluster::{NodeId as MemberId, Observed, Role as Serving, Step};
use lapwing_peer::{GroupNumber, NodeId};
use lapwing_raft::{NotDone, Role, Turn as EngineTurn};

use super::Replica;
use crate::translate;

impl Replica {
    /// Decides what is to be done at `now_ms`, on the monotonic clock: to serve, to end that, or nothing. What it can do itself
    /// it does: to stand for election, to hand groups over, to ask whether it still leads.
    pub fn decide(&mut self, now_ms: u64) -> Step {
        self.resign_what_was_given_up();
        self.ask(now_ms);
        self.follow_metadata();
        let observed = self.observed();
        let step = self.failover.tick(&observed, now_ms);
        match step {
            Step::Draw(groups) => self.draw(groups),
            Step::GiveUp(to) => self.give_up(to),
            Step::Nothing | Step::Serve | Step::End(_) => {}
        }
        step
    }

    /// Until when this node may serve, on the clock of [`Replica::decide`]; 0: it may not.
    pub fn may_serve_until_ms(&self) -> u64 {
        self.failover.may_serve_until_ms(&self.observed())
    }

    /// What this node is.
    pub fn serving(&self) -> Serving {
        self.failover.role()
    }

    /// The operator wants another node to serve: that one, or whichever is furthest. Where it does not take the leadership in
    /// time, another one is elected.
    pub fn step_down(&mut self, to: Option<NodeId>) {
        self.failover.step_down(to.map(|to| MemberId(to.value())));
    }

    /// The last thread of a serving that was to end is over.
    pub fn serving_ended(&mut self) {
        self.failover.ended();
    }

    /// Whether the disk takes what comes.
    pub fn set_space(&mut self, has_space: bool) {
        self.has_space = has_space;
    }

    /// What this node sees of itself.
    pub fn observed(&self) -> Observed {
        let bits = |is_so: &dyn Fn(GroupNumber) -> bool| {
            let data_groups = GroupNumber::all().take(usize::from(GroupNumber::DATA_GROUPS));
            data_groups.filter(|group| is_so(*group)).fold(0, |bits, group| bits | 1 << group.value())
        };
        let metadata = self.status(GroupNumber::METADATA);
        // What was given away in this term may be taken at any moment: nobody is answered in it any more.
        let is_mine = |term: u64| metadata.role == Role::Leader && term == metadata.term;
        let confirmed = self.confirmed.filter(|(term, _)| is_mine(*term) && self.given_up_in != Some(*term));
        Observed {
            leads_metadata: self.group(GroupNumber::METADATA).knows_commit(),
            leads: bits(&|group| self.group(group).leads()),
            applied: bits(&|group| self.group(group).is_applied()),
            confirmed_at_ms: confirmed.map(|(_, asked_at_ms)| asked_at_ms),
            has_space: self.has_space,
        }
    }

    /// Asks all others whether this node still leads the metadata group; again when the last answer has come, or a heartbeat's
    /// time is over.
    fn ask(&mut self, now_ms: u64) {
        let asks_again = |asked_at_ms| now_ms.saturating_sub(asked_at_ms) >= self.ask_every_ms();
        if !self.asked_at_ms.is_none_or(asks_again) {
            return;
        }
        let asked = self.group_mut(GroupNumber::METADATA).engine_mut().read_index(now_ms);
        // Whoever follows asks nothing; a new leader asks when its first entry is committed.
        self.asked_at_ms = asked.is_ok().then_some(now_ms);
    }

    fn ask_every_ms(&self) -> u64 {
        self.timing.election_ms / 5
    }

    /// Answers that a turn of the metadata group has brought.
    pub(super) fn hear_answers(&mut self, turn: &EngineTurn) {
        let newest = turn.reads.iter().map(|grant| grant.token).max();
        // What was answered before this node lost the term, in this very turn, is of the term before.
        let Some(asked_at_ms) = newest.filter(|_| turn.status.role == Role::Leader) else { return };
        let term = turn.status.term;
        let before = self.confirmed.filter(|(known, _)| *known == term).map_or(0, |(_, asked_at_ms)| asked_at_ms);
        self.confirmed = Some((term, asked_at_ms.max(before)));
    }

    /// Whoever leads a data group hands it to the leader of the metadata group.
    fn follow_metadata(&mut self) {
        let metadata = self.status(GroupNumber::METADATA);
        let own = u64::from(self.config.node.value());
        let Some(leader) = translate::node(metadata.leader).filter(|_| metadata.leader != own) else { return };
        for group in GroupNumber::all().filter(|group| *group != GroupNumber::METADATA) {
            let status = self.status(group);
            if status.role == Role::Leader && status.transfers_to == 0 && status.has_committed_own_term {
                // Who has no vote cannot lead it; whoever is too far behind is waited for, and asked again.
                let asked = self.transfer(group, leader);
                debug_assert!(!matches!(asked, Err(NotDone::Leads | NotDone::NotLeader { .. })), "{asked:?}");
            }
        }
    }

    /// Stands for election in these data groups where nobody leads; who leads one hands it over by itself.
    fn draw(&mut self, groups: u16) {
        for group in GroupNumber::all().filter(|group| groups.checked_shr(group.value().into()).unwrap_or(0) & 1 == 1) {
            if self.status(group).leader == 0 && self.status(group).role == Role::Follower {
                match self.group_mut(group).engine_mut().campaign() {
                    Ok(()) | Err(NotDone::Leads | NotDone::NotElectable | NotDone::Stopped(_)) => {}
                    Err(other) => debug_assert!(false, "standing for election: {other}"),
                }
            }
        }
    }

    /// Lets another node lead the metadata group. Where it comes to nothing, this node tries again to serve.
    fn give_up(&mut self, to: Option<MemberId>) {
        let wanted = to.and_then(|to| NodeId::new(to.0));
        self.hand_over(GroupNumber::METADATA, wanted);
    }

    /// A leadership of the metadata group that was given away and that nobody has taken: the word that gave it away may still
    /// be on its way, and whoever hears it may lead without being asked. So this node, too, leads in a new term or not at all.
    fn resign_what_was_given_up(&mut self) {
        let status = self.status(GroupNumber::METADATA);
        if self.given_up_in == Some(status.term) && status.role == Role::Leader && status.transfers_to == 0 {
            let resigned = self.group_mut(GroupNumber::METADATA).engine_mut().resign();
            debug_assert!(resigned.is_ok() || self.stop(GroupNumber::METADATA).is_some(), "{resigned:?}");
        }
    }

    /// Hands everything that this node leads to others: it is about to end, and they need not wait for an election. True while
    /// there is something to hand over, and somebody to take it.
    pub fn hand_all_over(&mut self) -> bool {
        let leads = |replica: &Self, group| replica.status(group).role == Role::Leader;
        let led: Vec<GroupNumber> = GroupNumber::all().filter(|group| leads(self, *group)).collect();
        led.into_iter().fold(false, |is_any, group| self.hand_over(group, None) | is_any)
    }

    /// Hands a group that this node leads to `wanted`, where that one votes, or to the voter that is furthest, unless that is
    /// under way; false: there is none.
    fn hand_over(&mut self, group: GroupNumber, wanted: Option<NodeId>) -> bool {
        let Some(to) = self.successor(group, wanted) else { return false };
        let status = self.status(group);
        if group == GroupNumber::METADATA {
            self.given_up_in = Some(status.term);
        }
        if status.transfers_to == 0 {
            let asked = self.transfer(group, to);
            debug_assert!(asked.is_ok(), "a leader hands over to a voter: {asked:?}");
        }
        true
    }

    /// Who is to lead a group after this node. Engines believe all to be away in the tick in which they look whether they are
    /// there: so who is connected counts first.
    fn successor(&self, group: GroupNumber, wanted: Option<NodeId>) -> Option<NodeId> {
        let engine = self.group(group).engine();
        let voters = engine.membership().all_voters();
        let peers = engine.peers().into_iter().filter(|peer| voters.contains(&peer.node));
        let others = peers.filter_map(|peer| Some((translate::node(peer.node)?, peer)));
        let rank = |(node, peer): &(NodeId, lapwing_raft::Peer)| {
            (wanted == Some(*node), self.links.contains_key(node), peer.is_active, peer.matched)
        };
        others.max_by_key(rank).map(|(node, _)| node)
    }
}
