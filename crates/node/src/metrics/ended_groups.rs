//! What groups had dropped that are over: their own counters end with them, and what they lost last nobody would see.

use lapwing_groups::{Counters, DropReason};

use super::{Counter, Metric, ShardCounters};

/// Of one shard, by reason; written by its thread alone.
#[derive(Debug, Default)]
pub(crate) struct EndedGroups([Counter; DropReason::ALL.len()]);

impl EndedGroups {
    /// A group is over that has counted so.
    pub(crate) fn add(&self, counters: &Counters) {
        for (total, reason) in self.0.iter().zip(DropReason::ALL) {
            total.add(counters.dropped(reason));
        }
    }

    /// Adds up `shards` and names the sums.
    pub(super) fn collect<'a>(shards: &'a [&'a ShardCounters]) -> impl Iterator<Item = Metric> + 'a {
        DropReason::ALL.into_iter().map(|reason| {
            let count = shards.iter().map(|shard| shard.ended_groups.0[reason as usize].get()).sum();
            let help = "Messages that groups had dropped which are over, by reason.";
            Metric::counter("lapwing_groups_ended_messages_dropped_total", help, count).with("reason", reason.name())
        })
    }
}
