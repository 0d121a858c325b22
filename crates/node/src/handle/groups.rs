//! Consumer groups of a running node: seen, and changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Handle;
use crate::config::GroupConfig;
use crate::desk::{Awaited, Reply, reply};
use crate::error::NodeError;
use crate::group_pages::{GroupPage, GroupQuery, ShardPage};
use crate::group_reports::GroupAsk;
use crate::life::Phase;
use crate::metrics::GroupSample;
use crate::session_reports::SessionAsk;

/// How long all shards may take to answer about their groups.
const ANSWER_MAX: Duration = Duration::from_secs(5);

impl Handle {
    /// One page of the consumer groups, each as JSON; see `docs/groups.md`.
    ///
    /// # Errors
    /// `NoAnswer`: the node ends, or a shard has no time at all.
    pub fn groups(&self, query: GroupQuery) -> Result<GroupPage, NodeError> {
        let query = Arc::new(query);
        let pages = self.ask_groups(|reply| GroupAsk::Page(Arc::clone(&query), reply));
        let pages: Option<Vec<ShardPage>> = pages.into_iter().collect();
        Ok(GroupPage::merge(pages.ok_or(NodeError::NoAnswer)?, &query))
    }

    /// What may stand in an answer to a scraper, of the shards that answer.
    pub(super) fn sample_groups(&self) -> Vec<GroupSample> {
        self.ask_groups(GroupAsk::Sample).into_iter().flatten().collect()
    }

    /// What each shard answers; `None`: it ends, or has no time at all.
    fn ask_groups<T>(&self, make: impl Fn(Reply<T>) -> GroupAsk) -> Vec<Option<T>> {
        let ask = |shard| {
            let (reply, awaited) = reply();
            self.shared.ask_groups(shard, make(reply));
            awaited
        };
        let awaited: Vec<Awaited<T>> = (0..self.shared.bells.len()).map(ask).collect();
        let until = Instant::now() + ANSWER_MAX;
        let is_over = || self.shared.phase() == Phase::Stopping;
        awaited.iter().map(|awaited| awaited.receive(until, is_over)).collect()
    }

    /// The tables of consumer groups now in force, as JSON: `{NAME: {...}}`.
    pub fn group_settings_json(&self) -> String {
        json!(self.shared.groups.tables().by_name().collect::<BTreeMap<_, _>>()).to_string()
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
        let shards = 0..self.shared.bells.len();
        let asked: Vec<_> = shards.map(|shard| self.ask(shard, SessionAsk::RenewGroups)).collect();
        asked.iter().try_for_each(|awaited| self.receive(awaited))
    }
}
