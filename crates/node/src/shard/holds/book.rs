//! Which hold a topic belongs to, and which shard a hold.

use lapwing_router::FilterTree;

use crate::config::{Config, HoldConfig};
use crate::placement::Placement;
use crate::shard_set::ShardSet;
use crate::slot::{ShardId, Slot};

/// In the log a hold is a consumer group of this name, which no client can give: share names hold no '/'.
pub(crate) const HOLD_NAME: &str = "/hold";
/// Exact topics whose holds are remembered.
const TOPICS_CACHED: usize = 1024;

/// The holds of a configuration, the most specific filter first: level by level a name goes before `+`, and that before `#`.
pub(crate) fn ranked(config: &Config) -> Vec<(&str, &HoldConfig)> {
    let mut holds: Vec<_> = config.hold.iter().map(|(filter, hold)| (filter.as_str(), hold)).collect();
    holds.sort_by_cached_key(|(filter, _)| (ranks(filter), (*filter).to_owned()));
    holds
}

fn ranks(filter: &str) -> Vec<u8> {
    let rank = |level| match level {
        "#" => 2,
        "+" => 1,
        _ => 0,
    };
    filter.split('/').map(rank).collect()
}

/// The slot that a hold hashes to.
pub(super) fn slot_of(filter: &str) -> Slot {
    Slot::of_group(HOLD_NAME, filter)
}

/// Looked up for every message.
pub(super) struct HoldBook {
    /// Numbers by filter, ascending as [`ranked`].
    filters: FilterTree<u32, ()>,
    /// By number.
    owners: Vec<ShardId>,
    /// By number: whether publishers wait for the disk.
    durable: Vec<bool>,
    /// The shards that have holds.
    owner_set: ShardSet,
}

impl HoldBook {
    pub(super) fn new<'f>(config: &Config, placement: &Placement, left: impl Iterator<Item = &'f str>) -> Self {
        let mut filters = FilterTree::with_cache(TOPICS_CACHED);
        let (mut owners, mut durable) = (Vec::new(), Vec::new());
        for (number, (filter, hold)) in ranked(config).into_iter().enumerate() {
            filters.insert(filter, number as u32, ());
            owners.push(placement.owner_of(slot_of(filter)).shard);
            durable.push(hold.is_durable(config.keeps_sessions()));
        }
        let left = left.map(|filter| placement.owner_of(slot_of(filter)).shard);
        let owner_set = owners.iter().copied().chain(left).collect();
        HoldBook { filters, owners, durable, owner_set }
    }

    /// The number of the hold that a topic belongs to.
    pub(super) fn find(&mut self, topic: &str) -> Option<u32> {
        if self.owners.is_empty() {
            return None;
        }
        let mut found: Option<u32> = None;
        self.filters.matches(topic, |entries| {
            let number = entries[0].subscriber;
            found = Some(found.map_or(number, |best| best.min(number)));
        });
        found
    }

    /// The shard on which a hold lives.
    pub(super) fn owner(&self, number: u32) -> ShardId {
        self.owners[number as usize]
    }

    /// Whether a hold keeps what waits on disk.
    pub(super) fn is_durable(&self, number: u32) -> bool {
        self.durable[number as usize]
    }

    /// The shards that have holds.
    pub(super) fn owners(&self) -> ShardSet {
        self.owner_set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a topic belong to the most specific hold that matches, and to none where none does?
    #[test]
    fn the_most_specific_filter_has_a_topic() {
        let filters = ["#", "a/#", "a/+", "a/+/c", "+/b/c", "a/b", "a/b/#"];
        let hold = filters.iter().map(|filter| ((*filter).to_owned(), HoldConfig::default())).collect();
        let config = Config { hold, ..Config::default() };
        let names: Vec<String> = ranked(&config).iter().map(|(filter, _)| (*filter).to_owned()).collect();
        let mut book = HoldBook::new(&config, &Placement::of_shards(2), std::iter::empty());
        for (topic, filter) in [
            ("a/b", "a/b"),
            ("a/x", "a/+"),
            ("a/b/c", "a/b/#"),
            ("a/x/c", "a/+/c"),
            ("x/b/c", "+/b/c"),
            ("a/x/y", "a/#"),
            ("x", "#"),
        ] {
            let found = book.find(topic).map(|number| names[number as usize].as_str());
            assert_eq!(found, Some(filter), "{topic}");
        }
        assert_eq!(book.find("$SYS/x"), None);
        let mut none = HoldBook::new(&Config::default(), &Placement::of_shards(2), std::iter::empty());
        assert_eq!((none.find("a"), none.owners()), (None, ShardSet::EMPTY));
    }
}
