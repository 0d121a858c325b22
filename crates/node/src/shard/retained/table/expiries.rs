//! When retained messages expire.
//!
//! A topic that gets another value, or loses the one it has, leaves its entry behind: finding it in the heap would cost more than
//! it is worth. Such an entry is told by its time, which is not the time of what the topic has now.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries that may be left behind, beside as many as there are messages.
pub(super) const STALE_SPARE: usize = 1024;

/// Times in milliseconds on the node's clock, each with its topic; the first one that is due on top.
#[derive(Default)]
pub(super) struct Expiries {
    heap: BinaryHeap<Reverse<(u64, Box<str>)>>,
}

impl Expiries {
    /// The message that `topic` has now expires then.
    pub(super) fn note(&mut self, at_ms: u64, topic: &str) {
        self.heap.push(Reverse((at_ms, topic.into())));
    }

    /// The time of the first one.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at_ms, _))| *at_ms)
    }

    /// Takes a topic out of which a message was to expire by now: it may have none any more, or another one.
    pub(super) fn take_due(&mut self, now_ms: u64) -> Option<Box<str>> {
        let Reverse((at_ms, _)) = self.heap.peek()?;
        if *at_ms > now_ms {
            return None;
        }
        self.heap.pop().map(|Reverse((_, topic))| topic)
    }

    /// Forgets what was left behind when that may be more than half of it: of `messages` messages, the one of a topic expires
    /// at the time that `expires_at_ms` says, if it does.
    pub(super) fn trim(&mut self, messages: usize, expires_at_ms: impl Fn(&str) -> Option<u64>) {
        if self.heap.len() > 2 * messages + STALE_SPARE {
            self.heap.retain(|Reverse((at_ms, topic))| expires_at_ms(topic) == Some(*at_ms));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Do topics come by their times, each as often as it was noted, and none before its time?
    #[test]
    fn topics_come_by_their_times() {
        let mut expiries = Expiries::default();
        for (at_ms, topic) in [(30, "late"), (10, "early"), (20, "often"), (10, "often")] {
            expiries.note(at_ms, topic);
        }
        assert_eq!(expiries.take_due(9), None);
        let due: Vec<_> = std::iter::from_fn(|| expiries.take_due(20)).collect();
        assert_eq!(due, ["early".into(), "often".into(), "often".into()]);
        assert_eq!(expiries.len(), 1);
    }

    /// Is nothing forgotten that still counts, however much is left behind?
    #[test]
    fn what_was_left_behind_is_forgotten() {
        let mut expiries = Expiries::default();
        let newest = STALE_SPARE as u64 + 10;
        for at_ms in 0..=newest {
            expiries.note(at_ms, "often");
            expiries.trim(2, |_| Some(at_ms));
            assert!(expiries.len() <= 4 + STALE_SPARE);
        }
        let left = std::iter::from_fn(|| expiries.take_due(newest - 1)).count();
        assert!(left < STALE_SPARE / 2, "{left} were left behind");
        assert_eq!((expiries.take_due(newest), expiries.take_due(newest)), (Some("often".into()), None));
    }
}
