//! Groups take the settings of their table, also while they run; declared groups begin and end with it.

use std::sync::Arc;

use lapwing_dispatch::{Parameters, Strategy};
use lapwing_session::Grant;

use super::Shard;
use super::owned::OwnedGroup;
use super::table::Beginning;
use crate::config::{DispatchConfig, GroupConfig};
use crate::group_book::GroupTables;
use crate::mail::Interest;
use crate::mailbox::Bell;
use crate::notices::NoticeKind;
use crate::shard::publish::route::Target;
use crate::slot::Slot;

impl Shard {
    /// Looks whether the tables have changed since this shard looked last.
    pub(in crate::shard) fn renew_groups(&mut self) {
        let version = self.shared.groups.version();
        if version == self.groups.version {
            return;
        }
        let is_first = std::mem::replace(&mut self.groups.version, version) == 0;
        self.settle_left_out();
        let tables = self.shared.groups.tables();
        let before = std::mem::replace(&mut self.groups.tables, tables.clone());
        if is_first {
            self.expect_groups(&tables);
        }
        self.change_groups(&tables);
        self.declare_groups(&tables, &before);
    }

    /// Groups here that a configuration which was read again names no more go on where messages wait in them, as they do over
    /// a start: what was acknowledged to a publisher does not end with a line in a file. The others end.
    fn settle_left_out(&mut self) {
        let tables = self.shared.groups.tables();
        for (name, filter) in tables.left_out() {
            if self.shared.placement.owner_of(Slot::of_group(name, filter)).shard != self.id {
                continue;
            }
            let now_us = self.shared.now_us();
            let place = self.groups.table.find(&crate::words::share_name(name, filter));
            let view = place.and_then(|place| self.groups.table.get(place)).map(|owned| owned.group.view(now_us));
            let messages = view.map_or(0, |view| view.critical + view.bulk + view.assigned);
            // Before it listens what is on disk may not be there yet.
            let has_messages = messages > 0 || !self.connections.is_listening;
            self.shared.groups.settle(name, filter, has_messages);
            if has_messages {
                let line = format!(
                    "group {name} on {filter} is not in the configuration any more, and has {messages} messages: it goes on; \
                     to end it (and all groups of that name) use \"lapwing groups remove {name}\""
                );
                self.shared.tell(NoticeKind::Lost, line);
            } else {
                self.shared.bells.iter().for_each(Bell::ring);
            }
        }
    }

    /// With what a group of this name and filter begins.
    pub(super) fn beginning(&self, name: &str, filter: &str) -> Beginning {
        Beginning::new(&self.shared.groups.tables(), &self.shared.config.dispatch, name, filter)
    }

    /// Groups that are there take what is new.
    fn change_groups(&mut self, tables: &GroupTables) {
        let now_us = self.shared.now_us();
        for place in self.groups.table.places() {
            let Some(owned) = self.groups.table.get(place) else { continue };
            let beginning = Beginning::new(tables, &self.shared.config.dispatch, &owned.name, &owned.filter);
            if owned.take(beginning, now_us) {
                self.equip(place);
            }
            let _ = self.keep_group(place);
            self.groups.table.touch(place);
        }
    }

    /// Groups that other shards declare, before they have said so: they are there for the first client.
    fn expect_groups(&mut self, tables: &GroupTables) {
        for (name, filter) in tables.declared() {
            let owner = self.shared.placement.owner_of(Slot::of_group(name, filter)).shard;
            if owner != self.id {
                self.subscriptions.tree.insert(filter, Target::Groups(owner), Grant::default());
            }
        }
    }

    /// Declared groups that live here begin: those of tables that were put since `before`. Others have ended by themselves.
    fn declare_groups(&mut self, tables: &GroupTables, before: &GroupTables) {
        for (name, filter) in tables.declared() {
            let is_new = match (tables.declaration(name, filter), before.declaration(name, filter)) {
                (Some(now), Some(before)) => !Arc::ptr_eq(now, before),
                _ => true,
            };
            let is_here = self.shared.placement.owner_of(Slot::of_group(name, filter)).shard == self.id;
            if is_new && is_here && self.groups.table.find(&crate::words::share_name(name, filter)).is_none() {
                self.begin_declared(tables, name, filter);
            }
        }
    }

    fn begin_declared(&mut self, tables: &GroupTables, name: &str, filter: &str) {
        let beginning = Beginning::new(tables, &self.shared.config.dispatch, name, filter);
        // It counts like others, and begins in any case.
        let _ = self.shared.groups.begins(u32::MAX);
        let place = self.groups.table.insert(name, filter, beginning);
        self.equip(place);
        self.groups.table.touch(place);
        // Nobody waits for it. At the start everybody knows it; later who publishes before another shard has
        // heard of it was too early.
        let _ = self.subscriptions.announcer.want(Interest::Groups, filter, true, &mut self.mail.post);
        let _ = self.keep_group(place);
        self.wanted_from_holds(filter);
    }
}

impl Beginning {
    pub(super) fn new(tables: &GroupTables, dispatch: &DispatchConfig, name: &str, filter: &str) -> Self {
        let config = tables.of(name, filter).cloned().unwrap_or_default();
        let is_declared = config.declares(filter);
        Beginning { is_durable: is_declared, settings: config.settings(dispatch, is_declared), config }
    }

    /// Names and numbers were checked when the table was read.
    pub(super) fn strategy(&self) -> Strategy {
        self.config.strategy().unwrap_or_default()
    }

    pub(super) fn parameters(&self) -> Parameters {
        self.config.parameters().unwrap_or_default()
    }
}

impl OwnedGroup {
    /// Other settings; what is the same is left alone, so that nothing learnt is lost. True when another strategy chooses.
    fn take(&mut self, mut new: Beginning, now_us: u64) -> bool {
        if self.expected > 0 {
            // See `Beginning::until_all_are_back`.
            (new.is_durable, new.settings.is_durable) = (true, true);
        }
        let is_same = *self.config == *new.config && self.group.settings().is_durable == new.is_durable;
        if is_same {
            return false;
        }
        let chooser = |config: &GroupConfig| {
            let GroupConfig { strategy, r#use, fallback, timeout_ms, .. } = config;
            (strategy.clone(), r#use.clone(), fallback.clone(), *timeout_ms)
        };
        let has_new_strategy = chooser(&self.config) != chooser(&new.config);
        if has_new_strategy {
            self.group.set_strategy(new.strategy(), now_us);
        }
        self.group.set_parameters(new.parameters(), now_us);
        self.group.set_settings(new.settings, now_us);
        let has_new_defaults =
            self.config.acknowledges != new.config.acknowledges || self.config.workers != new.config.workers;
        self.config = new.config;
        if has_new_defaults {
            self.redeclare(now_us);
        }
        has_new_strategy
    }

    /// What holds for members that say nothing has changed.
    fn redeclare(&mut self, now_us: u64) {
        for (member, person) in &self.people {
            let Some(epoch) = self.group.member(*member, now_us).map(|view| view.epoch) else { continue };
            self.group.redeclare(*member, epoch, person.profile.declaration(&self.config), now_us);
        }
    }
}
