//! How long messages live, where the node has a word in it: a Message Expiry Interval for those that have none, and a bound
//! for those that have one.
//!
//! Asked once, on the shard that a message of a client comes in on, and behind hooks that may have changed it: everybody
//! who keeps the message (sessions, groups, holds, the retained table) keeps its deadline. What the node publishes itself is
//! not asked about: `$SYS`, events, dead letters.

use lapwing_session::Routed;

use crate::config::{Limits, TopicConfig};
use crate::shard::Shard;

/// What holds for one message, in seconds; 0: nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::shard) struct MessageExpiry {
    /// For one that has none.
    pub(in crate::shard) default_s: u32,
    /// At most.
    pub(in crate::shard) max_s: u32,
}

impl MessageExpiry {
    /// What holds for topics of which no table says anything.
    pub(in crate::shard) fn of(limits: &Limits) -> Self {
        MessageExpiry { default_s: limits.message_expiry_s_default, max_s: limits.message_expiry_s_max }
    }

    pub(in crate::shard) fn is_any(self) -> bool {
        self != MessageExpiry::default()
    }

    /// When a message that came at `now_ms` expires, in place of when its publisher says.
    fn deadline_ms(self, said_ms: Option<u64>, now_ms: u64) -> Option<u64> {
        let within = |seconds| (seconds > 0).then(|| now_ms.saturating_add(u64::from(seconds) * 1000));
        said_ms.or(within(self.default_s)).into_iter().chain(within(self.max_s)).min()
    }
}

/// Whether a table says anything of it.
pub(in crate::shard) fn is_said(table: &TopicConfig) -> bool {
    table.message_expiry_s_default.is_some() || table.message_expiry_s_max.is_some()
}

impl Shard {
    /// The message with another deadline, where it has one here.
    #[inline]
    pub(in crate::shard) fn with_deadline<'p>(&mut self, routed: &Routed<'p>) -> Option<Routed<'p>> {
        if !self.publish.topic_rules.bound_expiry() {
            return None;
        }
        let said_ms = routed.expires_at_ms();
        let expiry = self.publish.topic_rules.expiry_of(routed.publish().topic);
        let deadline_ms = expiry.deadline_ms(said_ms, self.now_ms);
        if deadline_ms == said_ms {
            return None;
        }
        self.counters.traffic.expiry_set.add(1);
        Some(routed.expiring(deadline_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a default given to who has none, a bound to everybody, and is what is shorter left alone?
    #[test]
    fn the_default_and_the_bound_are_kept_apart() {
        for (default_s, max_s, said_ms, expected) in [
            (0, 0, None, None),
            (0, 0, Some(99_000), Some(99_000)),
            (5, 0, None, Some(6_000)),
            (5, 0, Some(99_000), Some(99_000)),
            (5, 0, Some(2_000), Some(2_000)),
            (0, 7, None, Some(8_000)),
            (0, 7, Some(99_000), Some(8_000)),
            (0, 7, Some(2_000), Some(2_000)),
            (5, 7, None, Some(6_000)),
            (9, 7, None, Some(8_000)),
            (5, 7, Some(99_000), Some(8_000)),
            // It expires as it comes, and does so here.
            (5, 7, Some(1_000), Some(1_000)),
            (u32::MAX, 0, None, Some(1_000 + u64::from(u32::MAX) * 1_000)),
        ] {
            let expiry = MessageExpiry { default_s, max_s };
            assert_eq!(expiry.deadline_ms(said_ms, 1_000), expected, "{expiry:?}, {said_ms:?}");
            assert_eq!(expiry.is_any(), default_s + max_s.min(1) > 0);
        }
    }
}
