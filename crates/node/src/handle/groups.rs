//! Consumer groups of a running node: seen, and changed.

use serde_json::json;

use super::Handle;
use crate::config::GroupConfig;
use crate::error::NodeError;
use crate::group_reports::Gathered;
use crate::session_reports::SessionAsk;

impl Handle {
    /// Every consumer group as JSON: `{"groups": [...]}`; see `docs/groups.md`.
    ///
    /// # Errors
    /// `NoAnswer`: the node ends, or a shard has no time at all.
    pub fn groups_json(&self) -> Result<String, NodeError> {
        let Gathered { reports, is_whole } = self.shared.group_reports();
        is_whole.then(|| json!({ "groups": reports }).to_string()).ok_or(NodeError::NoAnswer)
    }

    /// The tables of consumer groups now in force, as JSON: `{NAME: {...}}`.
    pub fn group_settings_json(&self) -> String {
        json!(*self.shared.groups.tables()).to_string()
    }

    /// Takes or replaces the table of a share name (or pattern) while the node runs. With `filters` it declares groups, which
    /// are on disk when this returns.
    ///
    /// # Errors
    /// `Config`: names the key and the remedy; nothing changes. `NoAnswer`: it holds, and perhaps not over a crash.
    pub fn put_group(&self, name: &str, group_json: &str) -> Result<(), NodeError> {
        self.shared.put_group(name, GroupConfig::from_json(name, group_json)?)?;
        self.renew_groups()
    }

    /// Takes the table of a share name out: groups take what then holds, those it declared end when nobody is in them.
    /// On disk it is out when this returns. False when there was none.
    ///
    /// # Errors
    /// `NoAnswer`: it is out, and a crash may bring it back.
    pub fn remove_group(&self, name: &str) -> Result<bool, NodeError> {
        let was_there = self.shared.remove_group(name);
        if was_there {
            self.renew_groups()?;
        }
        Ok(was_there)
    }

    /// Waits until every shard has what was changed on disk.
    fn renew_groups(&self) -> Result<(), NodeError> {
        let shards = 0..self.counters.len();
        let asked: Vec<_> = shards.map(|shard| self.ask(shard, SessionAsk::RenewGroups)).collect();
        asked.iter().try_for_each(|awaited| self.receive(awaited))
    }
}
