//! What holds for messages of some topics, whoever publishes them and whoever gets them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Durability;
use super::groups::check_filter;
use crate::error::NodeError;

/// Tables by topic filter.
pub(crate) type TopicTables = BTreeMap<String, TopicConfig>;

/// What holds for messages whose topic a filter matches, and no more specific one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicConfig {
    /// Where those are kept that are kept at all.
    pub durability: Durability,
}

/// Each shard has them in a tree of its own.
pub(super) const TOPIC_TABLES_MAX: usize = 256;

/// Checks tables of a node that keeps sessions on disk (`has_disk`), or does not.
///
/// # Errors
/// `Config`: names the key and the remedy.
pub(crate) fn check_topics(topics: &TopicTables, has_disk: bool) -> Result<(), NodeError> {
    if topics.len() > TOPIC_TABLES_MAX {
        let what = format!("has {} tables, and may have {TOPIC_TABLES_MAX}", topics.len());
        return Err(NodeError::config("topics", what, "Remove some, or use wildcards."));
    }
    for (filter, table) in topics {
        let key = format!("topics.{filter}");
        check_filter(&key, filter)?;
        if table.durability == Durability::Disk && !has_disk {
            let what = "is disk, but nothing of the node is".to_owned();
            let remedy = "Set the node's durability to disk, and name a data_dir.";
            return Err(NodeError::config(&format!("{key}.durability"), what, remedy));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is every kind of wrong table refused with its key, and is memory fine where there is no disk?
    #[test]
    fn wrong_tables_name_their_key() {
        let read = |json: &str, has_disk| {
            let tables: TopicTables = serde_json::from_str(json).map_err(|error| error.to_string())?;
            check_topics(&tables, has_disk).map_err(|error| error.to_string())
        };
        for (json, has_disk, key) in [
            (r#"{"a/#/b": {"durability": "memory"}}"#, true, "topics.a/#/b"),
            (r#"{"$share/g/a": {"durability": "memory"}}"#, true, "topics.$share/g/a"),
            (r#"{"a": {"durability": "tape"}}"#, true, "tape"),
            (r#"{"a": {}}"#, true, "durability"),
            (r#"{"a": {"durability": "disk"}}"#, false, "topics.a.durability"),
        ] {
            let error = read(json, has_disk).unwrap_err();
            assert!(error.contains(key), "{json}: {error}");
        }
        assert_eq!(read(r#"{"a/#": {"durability": "memory"}}"#, false), Ok(()));
        let many = (0..=TOPIC_TABLES_MAX).map(|n| (format!("t/{n}"), TopicConfig { durability: Durability::Memory }));
        assert!(check_topics(&many.collect(), true).unwrap_err().to_string().contains("257 tables"));
    }
}
