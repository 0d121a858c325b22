//! What a running node takes over of a configuration that was read again: all of it, or on an error nothing.
//!
//! A reload that takes over a part leaves a node that no file describes: rules of today over yesterday's authorities. So
//! everything is read and checked first; the last step that can fail is the first that changes anything.

use std::collections::BTreeMap;

use lapwing_access::AccessConfig;
use serde::Deserialize;
use serde_json::Value;

use crate::config::{GroupConfig, TopicTables, check_access, check_topics};
use crate::error::NodeError;
use crate::mailbox::Bell;
use crate::shared::Shared;

/// What may change while a node runs. Certificates are no part of it: their files are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reload {
    /// Users and rules, `{"auth": {...}, "rules": [...]}`; absent: as they are.
    access: Option<AccessConfig>,
    /// All tables that are to be in force; absent: as they are.
    topics: Option<TopicTables>,
    /// Tables that are new or changed, and null for those that are to go.
    #[serde(default)]
    groups: BTreeMap<String, Option<Value>>,
}

impl Reload {
    /// # Errors
    /// `Config`: the JSON is not of that shape.
    pub(crate) fn from_json(text: &str) -> Result<Self, NodeError> {
        serde_json::from_str(text)
            .map_err(|error| NodeError::config("reload", error.to_string(), "Correct the key or the value named."))
    }
}

impl Shared {
    /// Takes over all of `reload`, and what the files of certificates hold now, and tells every shard. Returns for how many
    /// listeners there were such files.
    ///
    /// # Errors
    /// `Config`, `Bind`, `Reload`: what is wrong; nothing changes.
    pub(crate) fn reload(&self, reload: Reload) -> Result<usize, NodeError> {
        let certificates = self.listeners().read_again()?;
        if let Some(topics) = &reload.topics {
            check_topics(topics, self.config.keeps_sessions())?;
        }
        let groups = self.group_changes(reload.groups)?;
        self.groups.change_all(groups, || reload.access.as_ref().map_or(Ok(()), |access| self.take_access(access)))?;
        if let Some(topics) = reload.topics {
            self.topics.replace(topics);
        }
        self.token_keys.look();
        let listeners = self.listeners().take(certificates);
        self.bells.iter().for_each(Bell::ring);
        Ok(listeners)
    }

    fn group_changes(
        &self,
        tables: BTreeMap<String, Option<Value>>,
    ) -> Result<BTreeMap<String, Option<GroupConfig>>, NodeError> {
        let read = |(name, table): (String, Option<Value>)| {
            let table = table.map(|table| GroupConfig::from_json(&name, &table.to_string())).transpose()?;
            table.as_ref().map_or(Ok(()), |table| self.check_strategy(&name, table))?;
            Ok((name, table))
        };
        tables.into_iter().map(read).collect()
    }

    fn take_access(&self, access: &AccessConfig) -> Result<(), NodeError> {
        check_access(&access.auth)?;
        Ok(self.authority.reload(&access.auth, &access.rules)?)
    }
}
