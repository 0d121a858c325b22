//! What an operator sees.

use std::hash::Hash;

use lapwing_dispatch::{DeferredCounters, MemberView as DispatchView, Strategy};

use crate::assignment::Epoch;
use crate::counters::Counters;
use crate::facts::Lane;
use crate::group::Group;
use crate::membership::{Membership, Presence, Tally};

/// One member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberView<K> {
    /// Who.
    pub key: K,
    /// Its connection, or its last one.
    pub epoch: Epoch,
    /// Where it is.
    pub presence: Presence,
    /// Messages that it has: bound to it and not ended.
    pub assigned: usize,
    /// What was counted since it joined.
    pub tally: Tally,
    /// What dispatch knows of it, while it is here.
    pub dispatch: Option<DispatchView>,
}

/// The group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupView {
    /// How members are chosen; None: by a strategy of the caller's own.
    pub strategy: Option<Strategy>,
    /// Members, connected or not.
    pub members: usize,
    /// Of them, those that messages may go to.
    pub here: usize,
    /// Of them, those that acknowledge on receipt.
    pub blind: usize,
    /// Messages that wait in the critical lane.
    pub critical: usize,
    /// Messages that wait in the other lane.
    pub bulk: usize,
    /// Of both, those that wait for their key.
    pub parked: usize,
    /// Bytes that wait.
    pub bytes: u64,
    /// How long ago the longest waiting message was received, microseconds; None: nothing waits.
    pub oldest_us: Option<u64>,
    /// Messages that members have.
    pub assigned: usize,
    /// Seconds of work that wait, in the queue and with members; None: nobody is here to do it.
    pub backlog_s: Option<f64>,
    /// More waits than the group is set to bear.
    pub is_behind: bool,
    /// Since the group began.
    pub counters: Counters,
    /// What dispatch counts.
    pub dispatch: lapwing_dispatch::Counters,
    /// What a strategy that answers later counts.
    pub deferred: Option<DeferredCounters>,
}

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// The whole group at `now_us`.
    pub fn view(&self, now_us: u64) -> GroupView {
        let crew = self.members.crew();
        GroupView {
            strategy: self.members.strategy(),
            members: self.roster.members(),
            here: crew.here,
            blind: crew.blind,
            critical: self.queue.lane_len(Lane::Critical),
            bulk: self.queue.lane_len(Lane::Bulk),
            parked: self.queue.parked(),
            bytes: self.queue.bytes(),
            oldest_us: self.queue.oldest_ingress_us().map(|ingress_us| now_us.saturating_sub(ingress_us)),
            assigned: self.roster.assigned(),
            backlog_s: self.backlog_s(),
            is_behind: self.is_behind,
            counters: self.counters,
            dispatch: self.members.counters(),
            deferred: self.members.deferral().map(|deferral| deferral.counters),
        }
    }

    /// Whether `key` is a member, or still has messages of the group.
    pub fn has_member(&self, key: K) -> bool {
        self.roster.get(key).is_some()
    }

    /// One member at `now_us`; None: no such member.
    pub fn member(&self, key: K, now_us: u64) -> Option<MemberView<K>> {
        self.roster.get(key).map(|member| self.view_of(member, now_us))
    }

    /// Every member, and who has unsubscribed and still has messages.
    pub fn member_views(&self, now_us: u64) -> impl Iterator<Item = MemberView<K>> {
        self.roster.iter().map(move |member| self.view_of(member, now_us))
    }

    /// How many that are.
    pub fn member_count(&self) -> usize {
        self.roster.iter().count()
    }

    /// What was counted since the group began.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Messages that wait.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Their bytes.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.bytes()
    }

    fn view_of(&self, member: &Membership<K, M>, now_us: u64) -> MemberView<K> {
        MemberView {
            key: member.key,
            epoch: member.epoch,
            presence: member.presence,
            assigned: member.assigned.len(),
            tally: member.tally,
            dispatch: member.place.and_then(|place| self.members.view(place, now_us)),
        }
    }
}
