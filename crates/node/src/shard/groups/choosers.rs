//! Groups whose members code of the user's own chooses.

use std::sync::Arc;
use std::time::Duration;

use lapwing_dispatch::Deferred;

use super::Shard;
use super::owned::OwnedGroup;
use crate::strategies::ClientNames;

impl Shard {
    /// Lets a group be chosen for as its table says. Its strategy of our own stands already.
    pub(super) fn equip(&mut self, place: usize) {
        let now_us = self.shared.now_us();
        let Some(owned) = self.groups.table.get(place) else { return };
        let strategy = owned.config.r#use.as_deref().and_then(|name| self.shared.strategies.get(name));
        let Some(strategy) = strategy else { return self.groups.table.set_names(place, None) };
        let timeout = Duration::from_millis(owned.config.timeout_ms);
        let (desk, names) = strategy.desk(&owned.name, timeout, self.event_loop.bell());
        let fallback = owned.config.strategy().unwrap_or_default();
        owned.group.set_chooser(Box::new(Deferred::new(desk, fallback, timeout.as_micros() as u64)), now_us);
        self.groups.table.set_names(place, Some(names));
    }

    /// Whether an answer has come for any group here.
    pub(in crate::shard) fn has_choices(&mut self) -> bool {
        self.groups
            .table
            .custom()
            .into_iter()
            .any(|place| self.groups.table.get(place).is_some_and(|owned| owned.group.has_news()))
    }

    /// Lets groups act on the answers that have come.
    pub(in crate::shard) fn take_choices(&mut self) {
        let now_us = self.clients.now_us;
        for place in self.groups.table.custom() {
            let Some(owned) = self.groups.table.get(place).filter(|owned| owned.group.has_news()) else { continue };
            owned.group.tick(now_us);
            self.groups.table.touch(place);
        }
    }
}

impl OwnedGroup {
    /// Other code, or none, is told who the members are.
    pub(super) fn introduce(&mut self, names: Option<Arc<ClientNames>>) {
        if let Some(names) = &names {
            self.people.values().for_each(|person| names.learn(person.profile.identity, &person.client_id));
        }
        self.names = names;
    }
}
