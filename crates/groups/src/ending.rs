//! How a message ends that is not delivered.

use std::hash::Hash;

use crate::action::Action;
use crate::counters::DropReason;
use crate::entry::Entry;
use crate::facts::Lane;
use crate::group::Group;
use crate::settings::Expired;

impl<K: Copy + Eq + Hash, M: Clone> Group<K, M> {
    /// The message is dropped under a name.
    pub(crate) fn drop_entry(&mut self, entry: Entry<M>, reason: DropReason) {
        self.counters.dropped[reason as usize] += 1;
        self.members.dropped(entry.nth);
        self.ended.extend(entry.facts.entry);
    }

    /// The wait of a message has ended, at the time that its facts say: dropped, or a dead letter.
    pub(crate) fn end_late(&mut self, entry: Entry<M>, (at_us, reason): (u64, DropReason)) {
        self.counters.expired += 1;
        // What expires may have missed its deadline long before.
        self.count_missed(&entry, None, at_us);
        if self.settings.expired != Expired::DeadLetter {
            return self.drop_entry(entry, reason);
        }
        self.counters.dead_lettered[reason as usize] += 1;
        self.members.dropped(entry.nth);
        let Entry { message, facts, .. } = entry;
        self.actions.push(Action::DeadLetter { message, facts, reason });
    }

    /// Ends every wait that is over.
    pub(crate) fn end_waits(&mut self, now_us: u64) {
        while let Some(entry) = self.queue.take_ended(now_us) {
            let end = entry.facts.end(self.settings.expired);
            self.end_late(entry, end.unwrap_or((now_us, DropReason::DeadlinePassed)));
        }
    }

    /// Lets messages give way until no more than so many messages and bytes wait.
    pub(crate) fn trim(&mut self, messages_max: usize, bytes_max: u64) {
        while self.queue.len() > messages_max || (self.queue.bytes() > bytes_max && self.queue.len() > 1) {
            let yielding = self.queue.yielding(self.settings.overflow);
            let Some(entry) = yielding.and_then(|place| self.queue.take(place)) else { return };
            self.drop_entry(entry, DropReason::QueueFull);
        }
    }

    /// Without members nothing waits in a group that is not durable.
    pub(crate) fn wind_up(&mut self, now_us: u64) {
        if self.takes_messages() {
            return;
        }
        self.end_waits(now_us);
        while let Some(entry) = self.queue.first().and_then(|place| self.queue.take(place)) {
            self.drop_entry(entry, DropReason::GroupEnded);
        }
    }

    /// Counts the message if what has happened at `at_us` is after its deadline, and tells of it if that is set.
    ///
    /// `member`: with whom it happened.
    pub(crate) fn count_missed(&mut self, entry: &Entry<M>, member: Option<K>, at_us: u64) {
        let facts = entry.facts;
        if !facts.is_missed(at_us) {
            return;
        }
        self.counters.missed += 1;
        self.counters.missed_critical += u64::from(facts.lane == Lane::Critical);
        if self.settings.tells_missed {
            let took_us = at_us.saturating_sub(facts.ingress_us);
            self.actions.push(Action::Missed { member, message: entry.message.clone(), facts, took_us });
        }
    }
}
