//! Rules about topics: which messages are kept in memory alone, although they would be kept on disk.
//!
//! The shard on which a message comes in asks its rules once and tells the others with the message. Such a message is in
//! no entry of the log: a kept session or group has it beside those that are, and nobody waits for the disk.
//!
//! QoS 2 is on disk whatever a rule says. A client that holds one half of a handshake from before a crash would take the
//! next message under that packet id for the old one, and drop it.

use std::cmp::Reverse;

use lapwing_codec::{Publish, QoS};
use lapwing_router::FilterTree;

use super::Shard;
use crate::config::{Durability, TopicTables};

/// Exact topics whose rule is remembered.
const TOPICS_CACHED: usize = 1024;

/// The rules, for one shard.
pub(crate) struct TopicRules {
    version: u64,
    /// Each with its place in `durability`.
    filters: FilterTree<u32, ()>,
    /// The most specific first.
    durability: Vec<Durability>,
}

impl TopicRules {
    /// Before anybody has looked at the tables: none.
    pub(crate) fn unread() -> Self {
        TopicRules::new(&TopicTables::new(), 0)
    }

    pub(crate) fn new(tables: &TopicTables, version: u64) -> Self {
        let mut ordered: Vec<_> = tables.iter().collect();
        ordered.sort_by_key(|(filter, _)| Reverse(specificity(filter)));
        let mut filters = FilterTree::with_cache(TOPICS_CACHED);
        for (place, (filter, _)) in ordered.iter().enumerate() {
            filters.insert(filter, place as u32, ());
        }
        TopicRules { version, filters, durability: ordered.iter().map(|(_, table)| table.durability).collect() }
    }

    /// Whether messages of `topic` are kept in memory alone.
    #[inline]
    pub(crate) fn keeps_in_memory(&mut self, topic: &str) -> bool {
        !self.durability.is_empty() && self.durability_of(topic) == Some(Durability::Memory)
    }

    fn durability_of(&mut self, topic: &str) -> Option<Durability> {
        let mut first = usize::MAX;
        self.filters.matches(topic, |entries| first = first.min(entries[0].subscriber as usize));
        self.durability.get(first).copied()
    }
}

/// How much a filter says, to be compared with that of another one that matches the same topic: level by level from the
/// left a name says more than `+`, that more than `#`, and that it ends more than anything.
fn specificity(filter: &str) -> Vec<Said> {
    let said = |level| match level {
        "#" => Said::Anything,
        "+" => Said::One,
        _ => Said::Name,
    };
    filter.split('/').map(said).chain([Said::End]).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Anything,
    One,
    Name,
    End,
}

impl Shard {
    /// Takes the rules over if they have changed.
    pub(super) fn renew_topic_rules(&mut self) {
        if self.topic_rules.version == self.shared.topics.version() {
            return;
        }
        let (tables, version) = self.shared.topics.tables();
        self.topic_rules = TopicRules::new(&tables, version);
        if let Some(keeping) = &mut self.clients.keeping {
            keeping.rules_version = version;
        }
    }

    /// True when there are others than those taken over.
    pub(super) fn has_new_topic_rules(&self) -> bool {
        self.topic_rules.version != self.shared.topics.version()
    }

    /// Finds out whether the message in hand is kept in memory alone, until [`Shard::keep`] has let go of it.
    #[inline]
    pub(super) fn note_in_memory(&mut self, publish: &Publish<'_>) -> bool {
        self.clients.in_memory = self.is_in_memory(publish);
        self.clients.in_memory
    }

    /// Whether a message is kept in memory alone, where it would be on disk without a rule.
    pub(super) fn is_in_memory(&mut self, publish: &Publish<'_>) -> bool {
        let may_be_kept = publish.qos == QoS::AtLeastOnce || (publish.retain && publish.qos == QoS::AtMostOnce);
        may_be_kept && self.clients.keeping.is_some() && self.topic_rules.keeps_in_memory(publish.topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TopicConfig;

    fn rules(tables: &[(&str, Durability)]) -> TopicRules {
        let table = |(filter, durability): &(&str, Durability)| {
            (str::to_owned(filter), TopicConfig { durability: *durability })
        };
        TopicRules::new(&tables.iter().map(table).collect(), 1)
    }

    /// Does the most specific filter decide, level by level from the left, wherever it stands in the configuration?
    #[test]
    fn the_most_specific_filter_decides() {
        use Durability::{Disk, Memory};
        let mut rules = rules(&[
            ("telemetry/#", Memory),
            ("telemetry/+/alarm", Disk),
            ("telemetry/pump", Disk),
            ("telemetry/pump/#", Memory),
            ("telemetry/pump/alarm", Disk),
            ("+/state", Memory),
            ("doors/state", Disk),
        ]);
        for (topic, expected) in [
            ("telemetry", Some(Memory)),
            ("telemetry/fan/speed", Some(Memory)),
            ("telemetry/fan/alarm", Some(Disk)),
            ("telemetry/pump", Some(Disk)),
            ("telemetry/pump/speed", Some(Memory)),
            ("telemetry/pump/alarm", Some(Disk)),
            ("telemetry/state", Some(Memory)),
            ("doors/state", Some(Disk)),
            ("windows/state", Some(Memory)),
            ("windows", None),
            ("$SYS/state", None),
        ] {
            assert_eq!(rules.durability_of(topic), expected, "{topic}");
            assert_eq!(rules.keeps_in_memory(topic), expected == Some(Memory), "{topic}, remembered");
        }
    }

    /// Is it the filter furthest to the left that decides where two of them cross?
    #[test]
    fn the_left_decides_where_filters_cross() {
        let mut rules = rules(&[("a/+/c", Durability::Disk), ("a/b/#", Durability::Memory)]);
        assert_eq!(rules.durability_of("a/b/c"), Some(Durability::Memory));
        assert!(!TopicRules::unread().keeps_in_memory("a"));
    }
}
