//! Which settings hold for which consumer group, and which groups are declared.
//!
//! A group that was declared in an earlier life of the node and is on disk goes on until somebody ends it. It joins the
//! table of its name where that is possible. Where it is not (the table publishes dead letters to a topic that the group
//! would take itself) it is declared *beside* the table, with all of it that it can have: what is configured holds as it is
//! written, whatever is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lapwing_codec::topic;

use crate::config::{Expired, GROUP_TABLES_MAX, GroupConfig, for_share};
use crate::error::NodeError;

/// A share name and a filter.
type Declared = (String, String);

/// The tables in force, by share name or pattern, and what is declared beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTables {
    by_name: BTreeMap<String, Arc<GroupConfig>>,
    /// Groups from before that no table can declare, each with its own settings.
    beside: BTreeMap<Declared, Arc<GroupConfig>>,
    /// Groups from before that the table of their name declares now, and no configuration.
    returned: BTreeSet<Declared>,
    /// Of all from before, those that a configuration named until it was read again: they go on until their shard has said
    /// whether messages wait in them.
    left_out: BTreeSet<Declared>,
    /// Tables that are there for groups that were left out alone.
    orphaned: BTreeSet<String>,
}

impl GroupTables {
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        GroupTables::default()
    }

    /// The table of exactly that name or pattern.
    #[cfg(test)]
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<GroupConfig>> {
        self.by_name.get(name)
    }

    /// Every table by its name, but for those that go as soon as their shards have looked.
    pub(crate) fn by_name(&self) -> impl Iterator<Item = (&str, &GroupConfig)> {
        let is_going = |(name, table): &(&String, &Arc<GroupConfig>)| {
            let is_left_out = |filter: &String| self.left_out.contains(&((*name).clone(), filter.clone()));
            self.orphaned.contains(*name) && table.filters.iter().all(is_left_out)
        };
        self.by_name.iter().filter(move |one| !is_going(one)).map(|(name, table)| (name.as_str(), &**table))
    }

    /// What holds for a group; None: the defaults.
    pub(crate) fn of(&self, name: &str, filter: &str) -> Option<&Arc<GroupConfig>> {
        self.beside_table(name, filter).or_else(|| for_share(&self.by_name, name))
    }

    /// What declares a group, if anything does; the same one until it is put anew.
    pub(crate) fn declaration(&self, name: &str, filter: &str) -> Option<&Arc<GroupConfig>> {
        let of_name = || self.by_name.get(name).filter(|table| table.declares(filter));
        self.beside_table(name, filter).or_else(of_name)
    }

    /// The names and filters of all declared groups.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&str, &str)> {
        let tables = self.by_name.iter();
        let in_tables = tables.flat_map(|(name, table)| table.filters.iter().map(|f| (name.as_str(), f.as_str())));
        in_tables.chain(self.beside.keys().map(|(name, filter)| (name.as_str(), filter.as_str())))
    }

    /// Takes or replaces the table of `name` as somebody orders it: groups that it does not name any more end, but for those
    /// beside it.
    ///
    /// # Errors
    /// `Config`: there are too many.
    pub(crate) fn put(&mut self, name: &str, table: GroupConfig) -> Result<(), NodeError> {
        if self.by_name.len() >= GROUP_TABLES_MAX && !self.by_name.contains_key(name) {
            let what = format!("has {GROUP_TABLES_MAX} tables already");
            return Err(NodeError::config("groups", what, "Remove one, or use one pattern for many."));
        }
        self.returned.retain(|(of, filter)| of != name || table.declares(filter));
        self.left_out.retain(|(of, _)| of != name);
        self.orphaned.remove(name);
        self.set(name, table);
        Ok(())
    }

    /// Takes out the table of `name` and what is declared beside it; false when there was neither.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let before = self.by_name.len() + self.beside.len();
        self.by_name.remove(name);
        self.beside.retain(|(of, _), _| of != name);
        self.returned.retain(|(of, _)| of != name);
        self.left_out.retain(|(of, _)| of != name);
        self.orphaned.remove(name);
        self.by_name.len() + self.beside.len() < before
    }

    /// Takes, replaces and takes out (`None`) tables as a configuration that was read again has them. Groups from before that
    /// it never named go on, and those that it names no more until it is known whether messages wait in them
    /// ([`GroupTables::left_out`]).
    ///
    /// # Errors
    /// `Config`: there would be too many.
    pub(crate) fn replace(&mut self, changes: BTreeMap<String, Option<GroupConfig>>) -> Result<(), NodeError> {
        let before = self.configured();
        for (name, table) in changes {
            self.leave_out(&name, table.as_ref());
            let returned: Vec<String> =
                self.returned.iter().filter(|(of, _)| *of == name).map(|(_, filter)| filter.clone()).collect();
            match (table, self.by_name.get(&name)) {
                (Some(table), _) => {
                    self.orphaned.remove(&name);
                    self.set_with(&name, table, returned);
                }
                (None, Some(table)) if !returned.is_empty() => {
                    let table = GroupConfig { filters: returned, ..(**table).clone() };
                    self.set(&name, table);
                    self.orphaned.insert(name);
                }
                (None, _) => _ = self.by_name.remove(&name),
            }
        }
        let now = self.configured();
        // Those from before may have gone beyond it already.
        if now > GROUP_TABLES_MAX.max(before) {
            let what = format!("would have {now} tables, and may have {GROUP_TABLES_MAX}");
            return Err(NodeError::config("groups", what, "Remove some, or use one pattern for many."));
        }
        Ok(())
    }

    /// Groups that a configuration which was read again names no more, and whose shards have not said yet what is in them.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (&str, &str)> {
        self.left_out.iter().map(|(name, filter)| (name.as_str(), filter.as_str()))
    }

    /// Messages wait in a group that was left out: it goes on as those from before that no configuration names.
    pub(crate) fn keep(&mut self, name: &str, filter: &str) {
        self.left_out.remove(&(name.to_owned(), filter.to_owned()));
    }

    /// Nothing waits in a group that was left out: nothing declares it any more.
    pub(crate) fn let_go(&mut self, name: &str, filter: &str) {
        let group = (name.to_owned(), filter.to_owned());
        if !self.left_out.remove(&group) || self.beside.remove(&group).is_some() {
            return;
        }
        self.returned.remove(&group);
        let Some(table) = self.by_name.get_mut(name) else { return };
        Arc::make_mut(table).filters.retain(|other| other != filter);
        if table.filters.is_empty() && self.orphaned.remove(name) {
            self.by_name.remove(name);
        }
    }

    /// Declares a group that is there from before and that nothing declares: in the table of its name if there is one, else as
    /// it was declared then (`json`), beyond the number of tables that there may be too: its messages were acknowledged.
    /// `is_loaded`: whether a strategy of the user's own is there. Returns what it cannot have, for the operator.
    pub(crate) fn redeclare(
        &mut self,
        name: &str,
        filter: &str,
        json: &[u8],
        is_loaded: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut lacks = Vec::new();
        let table = match self.by_name.get(name) {
            Some(table) => (**table).clone(),
            None => as_then(json, is_loaded, &mut lacks),
        };
        let joined = with_filter(&table, filter);
        if joined.check(name).is_ok() {
            self.returned.insert((name.to_owned(), filter.to_owned()));
            self.set(name, joined);
            return lacks;
        }
        let alone = what_it_can_have(&table, filter, &mut lacks);
        if self.by_name.contains_key(name) || alone.check(name).is_err() {
            self.beside.insert((name.to_owned(), filter.to_owned()), Arc::new(alone));
        } else {
            self.returned.insert((name.to_owned(), filter.to_owned()));
            self.set(name, alone);
        }
        lacks
    }

    fn beside_table(&self, name: &str, filter: &str) -> Option<&Arc<GroupConfig>> {
        if self.beside.is_empty() {
            return None;
        }
        self.beside.get(&(name.to_owned(), filter.to_owned()))
    }

    /// How many tables there are, but for those of groups that were left out.
    fn configured(&self) -> usize {
        self.by_name.keys().filter(|name| !self.orphaned.contains(*name)).count()
    }

    /// A configuration has this table of `name` now, or none: what the one in force declares beyond it is left out.
    fn leave_out(&mut self, name: &str, table: Option<&GroupConfig>) {
        let Some(before) = self.by_name.get(name) else { return };
        for filter in before.filters.iter().filter(|filter| table.is_none_or(|table| !table.declares(filter))) {
            let group = (name.to_owned(), filter.clone());
            if self.returned.insert(group.clone()) {
                self.left_out.insert(group);
            }
        }
    }

    /// Sets the table of `name` with the groups from before, in it or beside it.
    fn set_with(&mut self, name: &str, mut table: GroupConfig, returned: Vec<String>) {
        for filter in returned {
            let joined = with_filter(&table, &filter);
            let is_named = table.declares(&filter);
            if !is_named && joined.check(name).is_ok() {
                table = joined;
                continue;
            }
            self.returned.remove(&(name.to_owned(), filter.clone()));
            if is_named {
                self.left_out.remove(&(name.to_owned(), filter));
            } else {
                // `set` gives it what it can have.
                self.beside.insert((name.to_owned(), filter), Arc::default());
            }
        }
        self.set(name, table);
    }

    /// Sets the table of `name`; groups beside it which it names are its own from now on, the others take it as far as they can.
    fn set(&mut self, name: &str, table: GroupConfig) {
        self.beside.retain(|(of, filter), _| of != name || !table.declares(filter));
        for ((_, filter), beside) in self.beside.iter_mut().filter(|((of, _), _)| of == name) {
            *beside = Arc::new(what_it_can_have(&table, filter, &mut Vec::new()));
        }
        self.by_name.insert(name.to_owned(), Arc::new(table));
    }
}

impl From<BTreeMap<String, GroupConfig>> for GroupTables {
    fn from(tables: BTreeMap<String, GroupConfig>) -> Self {
        let by_name = tables.into_iter().map(|(name, table)| (name, Arc::new(table))).collect();
        GroupTables { by_name, ..GroupTables::default() }
    }
}

/// The table with which a group was declared, without its filters.
fn as_then(json: &[u8], is_loaded: impl Fn(&str) -> bool, lacks: &mut Vec<String>) -> GroupConfig {
    let mut table: GroupConfig = serde_json::from_slice(json).unwrap_or_else(|_| {
        lacks.push("its settings cannot be read any more: it has the defaults".to_owned());
        GroupConfig::default()
    });
    table.filters.clear();
    if let Some(class) = table.r#use.take_if(|class| !is_loaded(class)) {
        table.strategy.clone_from(&table.fallback);
        lacks.push(format!("its strategy {class} is not loaded: {} chooses", table.strategy));
    }
    table
}

fn with_filter(table: &GroupConfig, filter: &str) -> GroupConfig {
    let mut table = table.clone();
    table.filters.push(filter.to_owned());
    table
}

/// What of a table holds for a group on `filter` alone: no topic that the group would take itself.
fn what_it_can_have(table: &GroupConfig, filter: &str, lacks: &mut Vec<String>) -> GroupConfig {
    let mut alone = GroupConfig { filters: vec![filter.to_owned()], ..table.clone() };
    let is_own = |topic: &mut String| topic::matches(filter, topic);
    if let Some(topic) = alone.dead_letter_topic.take_if(is_own) {
        lacks.push(format!("without dead_letter_topic {topic}, which its own filter matches"));
        if alone.expired == Expired::DeadLetter {
            alone.expired = Expired::Deliver;
            lacks.push("what expires in it is delivered late".to_owned());
        }
    }
    if let Some(topic) = alone.missed_topic.take_if(is_own) {
        lacks.push(format!("without missed_topic {topic}, which its own filter matches"));
    }
    // Under any name: one that no table may have today is no fault of the settings.
    if alone.check("any").is_err() {
        lacks.push("its settings do not hold any more: it has the defaults".to_owned());
        return GroupConfig { filters: alone.filters, ..GroupConfig::default() };
    }
    alone
}

#[cfg(test)]
mod tests;
