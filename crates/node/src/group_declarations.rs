//! Groups are declared, changed and taken out while the node runs.

use std::collections::BTreeMap;

use crate::config::GroupConfig;
use crate::data_groups::Share;
use crate::error::NodeError;
use crate::mailbox::Bell;
use crate::notices::NoticeKind;
use crate::shared::Shared;

impl Shared {
    /// Takes or replaces the settings of a group and tells every shard.
    pub(crate) fn put_group(&self, name: &str, group: GroupConfig) -> Result<(), NodeError> {
        self.check_strategy(name, &group)?;
        self.groups.put(name, group)?;
        self.bells.iter().for_each(Bell::ring);
        Ok(())
    }

    /// Whether the strategy that a group uses is there: code is named in the configuration only, never at run time.
    pub(crate) fn check_strategy(&self, name: &str, group: &GroupConfig) -> Result<(), NodeError> {
        match group.r#use.as_deref() {
            Some(class) if self.strategies.get(class).is_none() => {
                let what = format!("{class:?} was not loaded when the broker started");
                let remedy = "Name it in the configuration of any group, and start the broker again.";
                Err(NodeError::config(&format!("groups.{name}.use"), what, remedy))
            }
            _ => Ok(()),
        }
    }

    /// Takes the settings of a group out and tells every shard; false when there were none.
    pub(crate) fn remove_group(&self, name: &str) -> bool {
        let was_there = self.groups.remove(name);
        self.bells.iter().for_each(Bell::ring);
        was_there
    }

    /// Declares the groups that were declared in an earlier life of the node, whose queues are on disk, and that nobody
    /// declares now: what was promised for them is kept until somebody ends them. Strategies have been loaded. `shares`: see
    /// [`crate::data_groups::DataGroups::shares`].
    pub(crate) fn redeclare_groups(&self, shares: &BTreeMap<Box<str>, Share>) {
        let is_loaded = |class: &str| self.strategies.get(class).is_some();
        for (share, Share { declared, .. }) in shares {
            let (Some((name, filter)), Some(json)) = (share.split_once('/'), declared) else { continue };
            if self.groups.tables().declaration(name, filter).is_some() {
                continue;
            }
            let lacks: String =
                self.groups.redeclare(name, filter, json, is_loaded).iter().map(|lack| format!("; {lack}")).collect();
            let line = format!(
                "group {name} on {filter} was declared before and its queue is on disk: it goes on{lacks}; to keep its settings \
                 in your hands declare it in the configuration, to end it (and all groups of that name) use \"lapwing groups \
                 remove {name}\""
            );
            self.tell(NoticeKind::Start, line);
        }
    }
}
