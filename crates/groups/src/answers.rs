//! What members say about the messages that they have, and about themselves.

use std::hash::Hash;
use std::num::NonZeroU64;

use lapwing_dispatch::{Event, Report, ReportError, RttSource, Stamps};

use crate::action::{Action, Notice};
use crate::assignment::{Assignment, AssignmentId, Epoch};
use crate::group::Group;
use crate::membership::Membership;

/// Of a member that has room again, so many of its oldest messages are looked at for keys that wait.
const KEYS_LOOKED_AT: usize = 16;
/// And so many of those keys are asked for.
const KEYS_WOKEN: usize = 4;

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// PUBACK, or PUBCOMP with the stamp of its PUBREC, read on connection `epoch`. Returns whether the member had the
    /// message; if not (too late, twice, of an earlier connection) nothing has changed but a counter.
    pub fn acknowledged(&mut self, key: K, epoch: Epoch, id: AssignmentId, stamps: Stamps, now_us: u64) -> bool {
        let Some(one) = self.take(key, epoch, id) else { return false };
        self.counters.acknowledged += 1;
        self.ended.extend(one.entry.facts.entry);
        let Some(member) = self.roster.get_mut(key) else { return false };
        let done_us = if member.says_finished() { stamps.read_us } else { stamps.written_us };
        member.tally.acknowledged += 1;
        member.tally.missed += u64::from(one.entry.facts.is_missed(done_us));
        if let (Some(place), Some(ticket)) = (member.place, one.ticket) {
            self.members.acknowledged(place, ticket, stamps);
        }
        self.count_missed(&one.entry, Some(key), done_us);
        self.note_events();
        self.end_overtaken(&one.entry, key);
        self.freed(key, &one, now_us);
        true
    }

    /// PUBACK or PUBREC with a reason code of 0x80 or above: the message ends, and nobody else gets it [MQTT-4.4.0-2].
    /// Returns whether the member had it.
    pub fn refused(&mut self, key: K, epoch: Epoch, id: AssignmentId, now_us: u64) -> bool {
        let Some(one) = self.refuse(key, epoch, id, now_us) else { return false };
        self.counters.refused += 1;
        self.ended.extend(one.entry.facts.entry);
        if let Some(member) = self.roster.get_mut(key) {
            member.tally.refused += 1;
        }
        self.freed(key, &one, now_us);
        true
    }

    /// The member cannot have the message at all: it is too large for it, say [MQTT-3.1.2-25]. It was not sent, so it goes to
    /// whoever can have it; it is dropped under a name when no member can, and where its delivery has begun at QoS 2. Returns
    /// whether the member had it.
    pub fn undeliverable(&mut self, key: K, epoch: Epoch, id: AssignmentId, now_us: u64) -> bool {
        let Some(mut one) = self.refuse(key, epoch, id, now_us) else { return false };
        self.note_unable(&mut one.entry, self.roster.get(key).and_then(Membership::seat));
        let is_for_nobody = one.entry.unable.as_ref().is_some_and(|unable| self.is_for_nobody(unable));
        if is_for_nobody || !one.may_move() {
            self.freed(key, &one, now_us);
            self.drop_undeliverable(one.entry, Some(key));
        } else {
            self.give_back(key, one, now_us);
        }
        true
    }

    /// The member's shard gives a message back that it has not written: the session has unsubscribed, say. It goes to
    /// whoever may have it. Returns whether the member had it.
    pub fn handed_back(&mut self, key: K, epoch: Epoch, id: AssignmentId, now_us: u64) -> bool {
        let Some(one) = self.withdraw(key, epoch, id, now_us) else { return false };
        self.give_back(key, one, now_us);
        true
    }

    /// The member's session has logged a QoS 2 message as its own, and goes on with its delivery whatever becomes of this
    /// group. Returns where the group had it in the log: there it has ended, and is not told again. None: it had it nowhere,
    /// or the message has ended meanwhile.
    pub fn handed_over(&mut self, key: K, id: AssignmentId) -> Option<NonZeroU64> {
        let one = self.roster.get_mut(key)?.assigned.get_mut(&id)?;
        one.is_handed_over = true;
        one.entry.facts.entry.take()
    }

    /// A member's word on its own load.
    ///
    /// # Errors
    /// A number out of range, or nobody of that connection here: nothing is used of it, and it is counted.
    pub fn report(&mut self, key: K, epoch: Epoch, report: &Report, now_us: u64) -> Result<(), ReportError> {
        let Some(member) = self.current(key, epoch) else { return Err(ReportError::Gone) };
        let Some(place) = member.place else { return Err(ReportError::Gone) };
        self.members.report(place, report, now_us)?;
        self.wake_keys_of(key);
        self.pump(now_us);
        Ok(())
    }

    /// A sample of the way to the member and back, microseconds; at most one per 50 ms is worth its cost.
    pub fn rtt_sample(&mut self, key: K, epoch: Epoch, source: RttSource, rtt_us: u64, now_us: u64) {
        if let Some(place) = self.current(key, epoch).and_then(|member| member.place) {
            self.members.rtt_sample(place, source, rtt_us, now_us);
        }
    }

    /// Bytes that the member's socket has not taken.
    pub fn unsent(&mut self, key: K, epoch: Epoch, bytes: u64) {
        if let Some(place) = self.current(key, epoch).and_then(|member| member.place) {
            self.members.unsent(place, bytes);
        }
    }

    /// The member, if the word comes from its connection.
    fn current(&mut self, key: K, epoch: Epoch) -> Option<&Membership<K, M>> {
        let member = self.roster.get(key).filter(|member| member.epoch == epoch);
        if member.is_none() {
            self.counters.stale_events += 1;
        }
        member
    }

    /// Takes a message from the member that has it, or counts that it has not.
    fn take(&mut self, key: K, epoch: Epoch, id: AssignmentId) -> Option<Assignment<M>> {
        let taken = self.roster.get_mut(key).and_then(|member| member.take(id, epoch));
        self.counters.late_acknowledgements += u64::from(taken.is_none());
        taken
    }

    /// The same, and nothing is learnt from it.
    fn withdraw(&mut self, key: K, epoch: Epoch, id: AssignmentId, now_us: u64) -> Option<Assignment<M>> {
        let one = self.take(key, epoch, id)?;
        if let (Some(place), Some(ticket)) = (self.roster.get(key).and_then(|member| member.place), one.ticket) {
            self.members.withdrawn(place, ticket, now_us);
        }
        Some(one)
    }

    /// The same, and others are preferred to the member for a while.
    fn refuse(&mut self, key: K, epoch: Epoch, id: AssignmentId, now_us: u64) -> Option<Assignment<M>> {
        let one = self.take(key, epoch, id)?;
        if let (Some(place), Some(ticket)) = (self.roster.get(key).and_then(|member| member.place), one.ticket) {
            self.members.refused(place, ticket, now_us);
        }
        Some(one)
    }

    /// A message that was not sent goes from the member back to the queue.
    fn give_back(&mut self, key: K, one: Assignment<M>, now_us: u64) {
        if let Some(member) = self.roster.get_mut(key) {
            member.tally.moved += 1;
        }
        self.put_back(vec![one], now_us);
        self.tidy(key);
        self.pump(now_us);
    }

    /// A message of the member has ended: there is room for another one, perhaps of a key that waits.
    fn freed(&mut self, key: K, one: &Assignment<M>, now_us: u64) {
        self.release_key(one.entry.facts.key, one.blocks_key);
        self.wake_keys_of(key);
        self.tidy(key);
        self.pump(now_us);
    }

    /// A key waits for a member that has messages of it: they lead from the member to the key.
    pub(crate) fn wake_keys_of(&mut self, key: K) {
        if self.queue.keys().is_clear() {
            return;
        }
        let Some(member) = self.roster.get(key) else { return };
        let lines = self.queue.keys();
        let keys = member.first_keys(KEYS_LOOKED_AT).filter(|&key| lines.has_line(key));
        let keys: Vec<u64> = keys.take(KEYS_WOKEN).collect();
        keys.into_iter().for_each(|key| lines.wake(key));
    }

    /// Tells what dispatch wants somebody to know.
    fn note_events(&mut self) {
        let Some(Event::AcknowledgesOnReceipt { member }) = self.members.take_event() else { return };
        if let Some(member) = self.roster.at(member).map(|member| member.key) {
            self.actions.push(Action::Notice(Notice::AcknowledgesOnReceipt { member }));
        }
    }
}
