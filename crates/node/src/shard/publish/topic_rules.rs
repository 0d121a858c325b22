//! Rules about topics: which messages are kept in memory alone, although they would be kept on disk, and how long they live.
//!
//! The shard on which a message comes in asks its rules once and tells the others with the message. One that is kept in memory
//! is in no entry of the log: a kept session or group has it beside those that are, and nobody waits for the disk.
//!
//! QoS 2 is on disk whatever a rule says. A client that holds one half of a handshake from before a crash would take the
//! next message under that packet id for the old one, and drop it.

use std::cmp::Reverse;

use lapwing_codec::{Publish, QoS};
use lapwing_router::FilterTree;

use crate::config::{Durability, TopicConfig, TopicTables};
use crate::shard::Shard;
use crate::shard::publish::message_expiry::{MessageExpiry, is_said};

/// Exact topics whose rule is remembered.
const TOPICS_CACHED: usize = 1024;

/// The rules, for one shard.
pub(crate) struct TopicRules {
    version: u64,
    /// Each with its place in `tables`.
    filters: FilterTree<u32, ()>,
    /// The most specific first.
    tables: Vec<TopicConfig>,
    /// Whether any of them says where messages are kept.
    says_durability: bool,
    /// Whether any of them says how long messages live.
    says_expiry: bool,
    /// For topics of which none does.
    expiry: MessageExpiry,
}

impl TopicRules {
    /// Before anybody has looked at the tables: none.
    pub(crate) fn unread() -> Self {
        TopicRules::new(&TopicTables::new(), MessageExpiry::default(), 0)
    }

    pub(in crate::shard) fn new(tables: &TopicTables, expiry: MessageExpiry, version: u64) -> Self {
        let mut ordered: Vec<_> = tables.iter().collect();
        ordered.sort_by_key(|(filter, _)| Reverse(specificity(filter)));
        let mut filters = FilterTree::with_cache(TOPICS_CACHED);
        for (place, (filter, _)) in ordered.iter().enumerate() {
            filters.insert(filter, place as u32, ());
        }
        TopicRules {
            version,
            filters,
            tables: ordered.iter().map(|(_, table)| **table).collect(),
            says_durability: tables.values().any(|table| table.durability.is_some()),
            says_expiry: tables.values().any(is_said),
            expiry,
        }
    }

    /// Whether messages of `topic` are kept in memory alone.
    #[inline]
    pub(crate) fn keeps_in_memory(&mut self, topic: &str) -> bool {
        self.says_durability && self.said(topic, |table| table.durability) == Some(Durability::Memory)
    }

    /// Whether the node has a word in how long any message lives.
    #[inline]
    pub(in crate::shard) fn bound_expiry(&self) -> bool {
        self.says_expiry || self.expiry.is_any()
    }

    /// How long messages of `topic` live.
    pub(in crate::shard) fn expiry_of(&mut self, topic: &str) -> MessageExpiry {
        if !self.says_expiry {
            return self.expiry;
        }
        MessageExpiry {
            default_s: self.said(topic, |table| table.message_expiry_s_default).unwrap_or(self.expiry.default_s),
            max_s: self.said(topic, |table| table.message_expiry_s_max).unwrap_or(self.expiry.max_s),
        }
    }

    /// What the most specific table says of `topic` that says anything of this.
    fn said<T>(&mut self, topic: &str, key: impl Fn(&TopicConfig) -> Option<T>) -> Option<T> {
        let TopicRules { filters, tables, .. } = self;
        let mut first = usize::MAX;
        filters.matches(topic, |entries| {
            let place = entries[0].subscriber as usize;
            if place < first && key(&tables[place]).is_some() {
                first = place;
            }
        });
        tables.get(first).and_then(key)
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
    pub(in crate::shard) fn renew_topic_rules(&mut self) {
        if self.publish.topic_rules.version == self.shared.topics.version() {
            return;
        }
        let (tables, version) = self.shared.topics.tables();
        self.publish.topic_rules = TopicRules::new(&tables, MessageExpiry::of(&self.shared.config.limits), version);
        if let Some(keeping) = &mut self.clients.keeping {
            keeping.rules_version = version;
        }
    }

    /// True when there are others than those taken over.
    pub(in crate::shard) fn has_new_topic_rules(&self) -> bool {
        self.publish.topic_rules.version != self.shared.topics.version()
    }

    /// Whether a message is kept in memory alone, where it would be on disk without a rule.
    #[inline]
    pub(in crate::shard) fn is_in_memory(&mut self, publish: &Publish<'_>) -> bool {
        let may_be_kept = publish.qos == QoS::AtLeastOnce || (publish.retain && publish.qos == QoS::AtMostOnce);
        may_be_kept && self.clients.keeping.is_some() && self.publish.topic_rules.keeps_in_memory(publish.topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(tables: &[(&str, Durability)]) -> TopicRules {
        let table = |(filter, durability): &(&str, Durability)| {
            (str::to_owned(filter), TopicConfig { durability: Some(*durability), ..TopicConfig::default() })
        };
        TopicRules::new(&tables.iter().map(table).collect(), MessageExpiry::default(), 1)
    }

    fn durability_of(rules: &mut TopicRules, topic: &str) -> Option<Durability> {
        rules.said(topic, |table| table.durability)
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
            assert_eq!(durability_of(&mut rules, topic), expected, "{topic}");
            assert_eq!(rules.keeps_in_memory(topic), expected == Some(Memory), "{topic}, remembered");
        }
    }

    /// Is it the filter furthest to the left that decides where two of them cross?
    #[test]
    fn the_left_decides_where_filters_cross() {
        let mut rules = rules(&[("a/+/c", Durability::Disk), ("a/b/#", Durability::Memory)]);
        assert_eq!(durability_of(&mut rules, "a/b/c"), Some(Durability::Memory));
        assert!(!TopicRules::unread().keeps_in_memory("a") && !TopicRules::unread().bound_expiry());
    }

    /// Does each key come from the most specific table that has it, 0 included, and what none says from the limits?
    #[test]
    fn what_a_table_leaves_open_a_wider_one_says() {
        let table = |durability, message_expiry_s_default, message_expiry_s_max| TopicConfig {
            durability,
            message_expiry_s_default,
            message_expiry_s_max,
        };
        let tables = [
            ("#", table(None, None, Some(900))),
            ("a/#", table(Some(Durability::Memory), Some(60), None)),
            ("a/b", table(None, Some(0), None)),
            ("a/c", table(None, None, Some(0))),
        ];
        let tables = tables.into_iter().map(|(filter, table)| (filter.to_owned(), table)).collect();
        let mut rules = TopicRules::new(&tables, MessageExpiry { default_s: 5, max_s: 7 }, 1);
        for (topic, default_s, max_s, in_memory) in [
            ("x", 5, 900, false),
            ("a/x", 60, 900, true),
            ("a/b", 0, 900, true),
            ("a/c", 60, 0, true),
            ("$SYS/x", 5, 7, false),
        ] {
            assert_eq!(rules.expiry_of(topic), MessageExpiry { default_s, max_s }, "{topic}");
            assert_eq!(rules.keeps_in_memory(topic), in_memory, "{topic}");
        }
    }
}
