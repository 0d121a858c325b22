//! Members come and go.

use std::hash::Hash;

use lapwing_dispatch::{Declaration, Leaving, Strategy, Work};

use crate::assignment::{Assignment, Epoch, Written};
use crate::counters::DropReason;
use crate::group::Group;
use crate::membership::{MemberOptions, Membership, Presence};

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// A session subscribes, over its connection `epoch`. Of who is a member already, only the options change.
    pub fn join(&mut self, key: K, epoch: Epoch, options: MemberOptions, now_us: u64) {
        let known = self.roster.get(key).map(|member| (member.epoch, member.is_connected()));
        match known {
            Some((known, is_connected)) if epoch < known || epoch == known && !is_connected => return self.stale(),
            Some((known, _)) if epoch > known => _ = self.connect(key, epoch, now_us),
            _ => {}
        }
        if self.roster.get(key).is_none() {
            self.roster.insert(Membership::new(key, epoch, options));
            self.vacancy.end();
        }
        let Some(member) = self.roster.get_mut(key) else { return };
        member.options = options;
        match (member.place, member.was_kicked) {
            (Some(place), _) => self.members.redeclare(place, options.for_dispatch(), now_us),
            // The connection is about to be closed.
            (None, true) => self.roster.set_presence(key, Presence::Kicked),
            (None, false) => self.seat(key, now_us),
        }
        self.pump(now_us);
    }

    /// Whether `key` may join: there is room, or it is a member already. Who may not is counted; `join` itself lets
    /// everybody in, so that the answer to the SUBSCRIBE and what happens are one decision.
    pub fn can_join(&mut self, key: K) -> bool {
        let is_member = self.roster.get(key).is_some_and(|member| member.presence != Presence::Leaving);
        let may_join = is_member || self.roster.members() < self.settings.members_max;
        self.counters.joins_refused += u64::from(!may_join);
        may_join
    }

    /// A member says something else about itself, on its connection `epoch`. Nothing that is known of it is lost, and what
    /// it has stays with it.
    pub fn redeclare(&mut self, key: K, epoch: Epoch, declaration: Declaration, now_us: u64) {
        let Some(member) = self.roster.get_mut(key).filter(|member| member.epoch == epoch) else {
            return self.stale();
        };
        member.options.declaration = declaration;
        if let Some(place) = member.place {
            self.members.redeclare(place, member.options.for_dispatch(), now_us);
            self.wake_keys_of(key);
        }
        self.pump(now_us);
    }

    /// The connection `epoch` is over, and the session lives. What may go to others does.
    ///
    /// `written`: which of its messages had been written to its socket, on this connection.
    pub fn lost(&mut self, key: K, epoch: Epoch, written: Written<'_>, now_us: u64) {
        let is_current = self.roster.get(key).is_some_and(|member| member.epoch == epoch && member.is_connected());
        if !is_current {
            return self.stale();
        }
        self.disconnect(key, written, now_us);
        self.pump(now_us);
    }

    /// The session has a connection again: `epoch` is greater than before. The one before is over if it was not said to
    /// be, and any of its messages may have been written.
    pub fn back(&mut self, key: K, epoch: Epoch, declaration: Declaration, now_us: u64) {
        if self.roster.get(key).is_none_or(|member| epoch <= member.epoch) {
            return self.stale();
        }
        let was_leaving = self.connect(key, epoch, now_us);
        if let Some(member) = self.roster.get_mut(key).filter(|_| !was_leaving) {
            member.options.declaration = declaration;
            self.seat(key, now_us);
        }
        self.pump(now_us);
    }

    /// The session has unsubscribed. It gets nothing new; what it was sent stays with it until it is acknowledged, handed
    /// back or its connection is lost [MQTT-3.10.4-3].
    pub fn unsubscribe(&mut self, key: K, epoch: Epoch, now_us: u64) {
        if self.roster.get(key).is_none_or(|member| epoch < member.epoch || member.presence == Presence::Leaving) {
            return self.stale();
        }
        self.vacate(key, Leaving::Left, now_us);
        self.roster.set_presence(key, Presence::Leaving);
        self.tidy(key);
        self.end_unable();
        self.wind_up(now_us);
    }

    /// The session has ended, or lost the right to the group. What may go to others does; QoS 2 whose delivery had begun is
    /// dropped.
    pub fn end(&mut self, key: K, epoch: Epoch, written: Written<'_>, now_us: u64) {
        if self.roster.get(key).is_none_or(|member| epoch < member.epoch) {
            return self.stale();
        }
        self.disconnect(key, written, now_us);
        for entry in self.roster.remove(key).into_iter().flat_map(Membership::entries) {
            self.drop_entry(entry, DropReason::SessionEnded);
        }
        self.end_unable();
        self.wind_up(now_us);
        self.pump(now_us);
    }

    /// Its dispatch place is free. What it has stays with it, and where keys have an order, the keys of that wait.
    pub(crate) fn vacate(&mut self, key: K, why: Leaving, now_us: u64) {
        let is_ordered = self.members.strategy().is_none_or(|strategy| strategy == Strategy::KeyOrdered);
        let Some(member) = self.roster.get_mut(key) else { return };
        let Some(place) = member.place.take() else { return };
        self.members.leave(place, why, now_us);
        for one in member.assigned.values_mut() {
            one.ticket = None;
            if let Some(key) = one.entry.facts.key.filter(|_| is_ordered && !one.blocks_key) {
                one.blocks_key = true;
                self.queue.keys().block(key);
            }
        }
    }

    /// A leaving member without messages is gone.
    pub(crate) fn tidy(&mut self, key: K) {
        if self.roster.get(key).is_some_and(Membership::is_over) {
            self.roster.remove(key);
        }
    }

    pub(crate) fn stale(&mut self) {
        self.counters.stale_events += 1;
    }

    /// A message of `key` is no longer with a member; `blocks`: its key had to wait for that.
    pub(crate) fn release_key(&mut self, key: Option<u64>, blocks: bool) {
        match key {
            Some(key) if blocks => self.queue.keys().unblock(key),
            Some(key) => self.queue.keys().wake(key),
            None => {}
        }
    }

    /// A new connection of a member. Returns whether it is only leaving; else it has to be seated.
    fn connect(&mut self, key: K, epoch: Epoch, now_us: u64) -> bool {
        if self.roster.get(key).is_some_and(Membership::is_connected) {
            self.disconnect(key, Written::Unknown, now_us);
        }
        let Some(member) = self.roster.get_mut(key) else { return true };
        member.epoch = epoch;
        member.was_kicked = false;
        member.presence == Presence::Leaving
    }

    /// Dispatch may choose the member from now on. What it still has counts from now.
    fn seat(&mut self, key: K, now_us: u64) {
        let Some(declaration) = self.roster.get(key).map(|member| member.options.for_dispatch()) else { return };
        let place = self.members.join(declaration, now_us);
        self.roster.seat(key, place);
        self.roster.set_presence(key, Presence::Here);
        let Some(member) = self.roster.get_mut(key) else { return };
        for one in member.assigned.values_mut() {
            // Without its key, which either waits for it here (see `vacate`) or not at all. None where the member may not
            // have so many, after a stall: then its end teaches nothing.
            let work = Work { key: None, ..one.entry.work(one.qos) };
            one.ticket = self.members.sent(place, &work, now_us);
        }
        self.arm(now_us);
    }

    /// The connection is over: what may go to others goes back to the queue.
    fn disconnect(&mut self, key: K, written: Written<'_>, now_us: u64) {
        self.vacate(key, Leaving::Left, now_us);
        let Some(member) = self.roster.get_mut(key) else { return };
        let back = member.give_back(written);
        // QoS 2 that stays may stay for days: its key does not wait for it.
        let kept = member.assigned.values_mut();
        let held_key = |one: &mut Assignment<M>| one.entry.facts.key.filter(|_| std::mem::take(&mut one.blocks_key));
        let kept: Vec<u64> = kept.filter_map(held_key).collect();
        if member.presence != Presence::Leaving {
            self.roster.set_presence(key, Presence::Away);
        }
        self.put_back(back, now_us);
        kept.into_iter().for_each(|key| self.queue.keys().unblock(key));
        self.tidy(key);
    }

    /// Messages go back to the heads of their lanes, in their old order; when the group is over they end there.
    pub(crate) fn put_back(&mut self, assignments: Vec<Assignment<M>>, now_us: u64) {
        self.counters.moved += assignments.len() as u64;
        for one in assignments {
            let (key, blocks) = (one.entry.facts.key, one.blocks_key);
            self.queue.put_back(one.entry);
            // Behind the message: else what stands in the key's line would go before it.
            self.release_key(key, blocks);
        }
        self.arm(now_us);
        self.end_unable();
        self.wind_up(now_us);
    }
}
