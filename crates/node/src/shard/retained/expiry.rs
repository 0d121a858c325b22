//! Retained messages that have expired leave by themselves, soon after their time, from memory and from the log: values of
//! devices that are gone must not wait there until somebody publishes something else.

use std::sync::atomic::Ordering;

use lapwing_codec::QoS;

use crate::shard::{Due, Shard};

/// Expired messages that a shard gives up in one turn.
const EXPIRED_PER_TURN: usize = 1024;
/// Nobody sees a message after its time, so those of a second go together.
const LATE_MS: u64 = 1_000;

impl Shard {
    /// Gives up what has expired here when somebody has found no room for a retained message.
    pub(in crate::shard) fn make_retained_room(&mut self) {
        let wanted = self.shared.retained_wanted.load(Ordering::Relaxed);
        if wanted != self.retained.wanted {
            self.retained.wanted = wanted;
            self.retained.table.give_up_some_expired(EXPIRED_PER_TURN, self.now_ms);
            self.count_retained();
        }
    }

    /// Lets what expires next wake this shard, unless an earlier timer does so anyway.
    pub(in crate::shard) fn watch_retained(&mut self) {
        let Some(at_ms) = self.retained.table.next_expiry_ms() else { return };
        let at_ms = at_ms.saturating_add(LATE_MS);
        if self.retained.timer_ms.is_none_or(|timer_ms| at_ms < timer_ms) {
            self.set_retained_timer(at_ms);
        }
    }

    fn set_retained_timer(&mut self, at_ms: u64) {
        self.retained.timer_ms = Some(at_ms);
        self.timers.add(at_ms, Due::Retained);
    }

    /// Gives up a share of what has expired; where that was not all, the next share goes in the next millisecond.
    pub(in crate::shard) fn retained_due(&mut self, at_ms: u64) {
        if self.retained.timer_ms != Some(at_ms) {
            return;
        }
        self.retained.timer_ms = None;
        if self.durable.log.as_ref().is_some_and(|log| !log.has_credit()) {
            // Each of them is a word in the log, and publishers come first.
            return self.set_retained_timer(self.now_ms + LATE_MS);
        }
        self.retained.table.give_up_some_expired(EXPIRED_PER_TURN, self.now_ms);
        self.clear_retained(QoS::AtMostOnce);
        self.count_retained();
        match self.retained.table.next_expiry_ms() {
            Some(at_ms) if at_ms <= self.now_ms => self.set_retained_timer(self.now_ms),
            _ => self.watch_retained(),
        }
    }

    pub(in crate::shard) fn count_retained(&self) {
        self.counters.retained_messages.set(self.retained.table.messages());
        self.counters.retained_bytes.set(self.retained.table.bytes());
    }
}
