//! What holds for messages of some topics, whoever publishes them and whoever gets them.

use std::collections::BTreeMap;

use lapwing_codec::Limits;
use serde::{Deserialize, Serialize};

use super::Durability;
use super::groups::check_filter;
use crate::error::NodeError;

/// Tables by topic filter.
pub(crate) type TopicTables = BTreeMap<String, TopicConfig>;

/// What holds for messages whose topic a filter matches, and no more specific one.
///
/// What a table leaves open, the next wider one says that matches, and in the end the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopicConfig {
    /// Where those are kept that are kept at all.
    pub durability: Option<Durability>,
    /// Message Expiry Interval of those that have none. 0: they do not expire.
    pub message_expiry_s_default: Option<u32>,
    /// Longest Message Expiry Interval, also of those that have none. 0: no bound.
    pub message_expiry_s_max: Option<u32>,
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
        check_filter(&key, filter, &Limits::default())?;
        if *table == TopicConfig::default() {
            let remedy = "Set durability, message_expiry_s_default or message_expiry_s_max, or remove the table.";
            return Err(NodeError::config(&key, "says nothing".to_owned(), remedy));
        }
        if table.durability == Some(Durability::Disk) && !has_disk {
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
            (r#"{"a": {}}"#, true, "topics.a: says nothing"),
            (r#"{"a": {"message_expiry_s_max": -1}}"#, true, "-1"),
            (r#"{"a": {"durability": "disk"}}"#, false, "topics.a.durability"),
        ] {
            let error = read(json, has_disk).unwrap_err();
            assert!(error.contains(key), "{json}: {error}");
        }
        assert_eq!(read(r#"{"a/#": {"durability": "memory"}}"#, false), Ok(()));
        assert_eq!(read(r#"{"a/#": {"message_expiry_s_default": 0, "durability": null}}"#, false), Ok(()));
        let in_memory = TopicConfig { durability: Some(Durability::Memory), ..TopicConfig::default() };
        let many = (0..=TOPIC_TABLES_MAX).map(|n| (format!("t/{n}"), in_memory));
        assert!(check_topics(&many.collect(), true).unwrap_err().to_string().contains("257 tables"));
    }
}
