//! Publishers that say nothing for a while: that their last QoS 2 messages are settled is said for them.
//!
//! A publisher settles its messages with its next one, in each data group that has them. Until then their names are
//! remembered, for the case that a crash has cut them off from some of their receivers. Of who has stopped publishing they would
//! be for ever, and of a consumer group whose last message a session has taken over. So each shard looks at its own data
//! groups from time to time: what the publisher's data group has as released, or finished, is settled.

use lapwing_ledger::{List, Settled, SettledPublisher};

use crate::data_groups::DataGroups;
use crate::shard::{Due, Shard};
use crate::slot::DATA_GROUPS;

/// How often a shard looks. Who publishes more often than that settles by itself.
const LOOK_MS: u64 = 2_000;
/// Publishers that one look at a data group judges.
const PUBLISHERS_MAX: usize = 1_024;

/// How far a shard has come, by data group.
#[derive(Debug, Default)]
pub(in crate::shard) struct Settlement {
    /// Publishers named before this entry have been silent since the last look but one.
    silent_before: [u64; DATA_GROUPS as usize],
    /// Publishers named before this entry were judged in this round.
    looked_before: [u64; DATA_GROUPS as usize],
}

impl Shard {
    /// Settles what silent publishers have left; once begun, again and again.
    pub(in crate::shard) fn settle_silent(&mut self) {
        let Some(recovered) = &self.durable.recovered else { return };
        let states = recovered.data_groups.clone();
        for data_group in self.shared.placement.data_groups_of(self.id) {
            let settled = self.durable.settlement.look(&states, data_group);
            if let (false, Some(log), Some(keeping)) =
                (settled.is_empty(), &mut self.durable.log, &mut self.clients.keeping)
            {
                keeping.settle(log, data_group, Settled { publishers: List::from_slice(&settled) });
            }
        }
        self.timers.add(self.now_ms + LOOK_MS, Due::Settlement);
    }
}

impl Settlement {
    /// What of a data group can be settled now. Locks one group at a time.
    fn look(&mut self, states: &DataGroups, data_group: u16) -> Vec<SettledPublisher> {
        let place = usize::from(data_group);
        let (from, before) = (self.looked_before[place], self.silent_before[place]);
        let (silent, applied): (Vec<_>, u64) = {
            let state = states.get(data_group);
            (state.publishers_named_in(from..before).take(PUBLISHERS_MAX).collect(), state.applied())
        };
        self.silent_before[place] = applied + 1;
        let is_over = silent.len() < PUBLISHERS_MAX;
        self.looked_before[place] = silent.last().filter(|_| !is_over).map_or(0, |(entry, ..)| entry + 1);
        let settled = silent.into_iter().filter_map(|(_, data_group, session, first)| {
            let below = states.get(data_group).settled_below(session)?;
            (below > first).then_some(SettledPublisher { data_group, session, below })
        });
        settled.collect()
    }
}
