//! The groups that live on this shard: by name, by the topics they want, by their members.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU64;
use std::ops::Bound;
use std::sync::Arc;

use lapwing_groups::{Group, Settings};
use lapwing_router::FilterTree;
use lapwing_session::SessionKey;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use super::owned::{OwnedGroup, Person};
use crate::config::GroupConfig;
use crate::group_pages::GroupPlace;
use crate::placement::NodeId;
use crate::shard::publish::losses::LossWatch;
use crate::slot::{ShardId, stable_hash};
use crate::strategies::ClientNames;
use crate::table_key::TableKey;
use crate::words::share_name;

/// Exact topics whose groups are remembered.
const TOPICS_CACHED: usize = 1024;

/// All groups of a shard.
pub(crate) struct GroupTable {
    own: ShardId,
    groups: Slab<OwnedGroup>,
    by_share: HashMap<Box<str>, usize, FxBuildHasher>,
    /// The same in the order of pages.
    in_order: BTreeMap<GroupPlace, usize>,
    filters: FilterTree<u32, ()>,
    /// Of each member the groups here.
    memberships: HashMap<SessionKey, Vec<usize>, FxBuildHasher>,
    dirty: Vec<usize>,
    /// Those with names.
    custom: Vec<usize>,
    generation: u32,
    matched: Vec<u32>,
}

/// With what a group begins.
pub(crate) struct Beginning {
    /// It was declared.
    pub(crate) is_durable: bool,
    pub(crate) settings: Settings,
    pub(crate) config: Arc<GroupConfig>,
}

impl GroupTable {
    pub(crate) fn new(own: ShardId) -> Self {
        GroupTable {
            own,
            groups: Slab::new(),
            by_share: HashMap::default(),
            in_order: BTreeMap::new(),
            filters: FilterTree::with_cache(TOPICS_CACHED),
            memberships: HashMap::default(),
            dirty: Vec::new(),
            custom: Vec::new(),
            generation: 0,
            matched: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &OwnedGroup)> {
        self.groups.iter()
    }

    /// Those behind a place, by name and filter.
    pub(super) fn behind(&self, place: Option<GroupPlace>) -> impl Iterator<Item = &OwnedGroup> {
        let begin = place.map_or(Bound::Unbounded, Bound::Excluded);
        self.in_order.range((begin, Bound::Unbounded)).filter_map(|(_, place)| self.groups.get(*place))
    }

    /// The groups that code of the user's own chooses for.
    pub(super) fn custom(&self) -> Vec<usize> {
        self.custom.clone()
    }

    /// Code of the user's own, or none, chooses for a group from now on.
    pub(super) fn set_names(&mut self, place: usize, names: Option<Arc<ClientNames>>) {
        let Some(owned) = self.groups.get_mut(place) else { return };
        self.custom.retain(|other| *other != place);
        if names.is_some() {
            self.custom.push(place);
        }
        owned.introduce(names);
    }

    /// The places of all.
    pub(crate) fn places(&self) -> Vec<usize> {
        self.groups.iter().map(|(place, _)| place).collect()
    }

    /// The place of a group by name and filter.
    pub(crate) fn find(&self, share: &str) -> Option<usize> {
        self.by_share.get(share).copied()
    }

    /// The place of a group by its number.
    pub(crate) fn of_tag(&self, tag: NonZeroU64) -> Option<usize> {
        let place = TableKey::place_of(tag.get());
        self.groups.get(place).filter(|owned| owned.tag == tag).map(|_| place)
    }

    pub(crate) fn get(&mut self, place: usize) -> Option<&mut OwnedGroup> {
        self.groups.get_mut(place)
    }

    /// A new group; there is none of this name and filter.
    pub(crate) fn insert(&mut self, name: &str, filter: &str, beginning: Beginning) -> usize {
        self.generation = TableKey::next_generation(self.generation);
        let place = self.groups.vacant_key();
        let key = TableKey { node: NodeId::THIS, shard: self.own, generation: self.generation, place };
        let number = key.number();
        let tag = NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        let share = share_name(name, filter);
        let (name, filter): GroupPlace = (name.into(), filter.into());
        let group = Group::new(beginning.settings, beginning.strategy(), beginning.parameters(), number);
        self.groups.insert(OwnedGroup {
            tag,
            share: stable_hash(share.as_bytes()),
            name: name.clone(),
            filter: filter.clone(),
            group,
            people: HashMap::default(),
            config: beginning.config,
            timer_ms: None,
            kept: None,
            declared: None,
            unsettled: BTreeSet::new(),
            keepers: 0,
            expected: 0,
            names: None,
            begun_by: None,
            losses: LossWatch::default(),
            dropped: 0,
            is_dirty: false,
        });
        self.by_share.insert(share, place);
        self.filters.insert(&filter, place as u32, ());
        self.in_order.insert((name, filter), place);
        place
    }

    /// Forgets a group; who was a member of it only is not known here any more.
    pub(crate) fn remove(&mut self, place: usize) -> Option<OwnedGroup> {
        self.set_names(place, None);
        let owned = self.groups.try_remove(place)?;
        self.by_share.remove(&share_name(&owned.name, &owned.filter));
        self.filters.remove(&owned.filter, place as u32);
        self.in_order.remove(&(owned.name.clone(), owned.filter.clone()));
        for member in owned.people.keys() {
            if let Some(places) = self.memberships.get_mut(member) {
                places.retain(|other| *other != place);
                if places.is_empty() {
                    self.memberships.remove(member);
                }
            }
        }
        Some(owned)
    }

    /// Notes who joins a group.
    pub(crate) fn enrol(&mut self, place: usize, member: SessionKey, person: Person) {
        let Some(owned) = self.groups.get_mut(place) else { return };
        if owned.learn(member, person) {
            self.memberships.entry(member).or_default().push(place);
        }
    }

    /// Forgets who is in a group no more.
    pub(crate) fn strike(&mut self, place: usize, member: SessionKey) {
        if let Some(owned) = self.groups.get_mut(place) {
            owned.forget(member);
        }
        if let Some(places) = self.memberships.get_mut(&member) {
            places.retain(|other| *other != place);
            if places.is_empty() {
                self.memberships.remove(&member);
            }
        }
    }

    /// The places of a member's groups.
    pub(crate) fn of_member(&self, member: SessionKey) -> Vec<usize> {
        self.memberships.get(&member).cloned().unwrap_or_default()
    }

    /// Whether a group would take a message of `topic`.
    pub(crate) fn wants(&mut self, topic: &str) -> bool {
        let GroupTable { filters, groups, .. } = self;
        let mut wanted = false;
        filters.matches(topic, |entries| {
            let owned = groups.get(entries[0].subscriber as usize);
            wanted |= owned.is_some_and(|owned| owned.group.takes_messages());
        });
        wanted
    }

    /// Calls `publish` for each group that wants `topic`.
    pub(crate) fn matches(&mut self, topic: &str, mut publish: impl FnMut(&mut OwnedGroup)) {
        let mut matched = std::mem::take(&mut self.matched);
        self.filters.matches(topic, |entries| matched.push(entries[0].subscriber));
        for place in matched.drain(..) {
            if let Some(owned) = self.groups.get_mut(place as usize) {
                publish(owned);
            }
            self.touch(place as usize);
        }
        self.matched = matched;
    }

    /// The group may have something to do, or a new deadline.
    pub(crate) fn touch(&mut self, place: usize) {
        if let Some(owned) = self.groups.get_mut(place)
            && !owned.is_dirty
        {
            owned.is_dirty = true;
            self.dirty.push(place);
        }
    }

    /// Takes a group that may have something to do.
    pub(crate) fn next_dirty(&mut self) -> Option<usize> {
        let place = self.dirty.pop()?;
        if let Some(owned) = self.groups.get_mut(place) {
            owned.is_dirty = false;
        }
        Some(place)
    }

    /// Groups, names, members, filters, groups with work, groups with code of their own.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> [usize; 6] {
        let (filters, dirty) = (self.filters.stats().nodes, self.dirty.len());
        [self.groups.len(), self.by_share.len(), self.memberships.len(), filters, dirty, self.custom.len()]
    }

    /// The timer that a group waits for.
    pub(crate) fn timer_ms(&self, tag: NonZeroU64) -> Option<u64> {
        self.of_tag(tag).and_then(|place| self.groups.get(place)?.timer_ms)
    }

    pub(crate) fn has_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::{QoS, SubscriptionOptions};
    use lapwing_session::Grant;

    use super::*;
    use crate::config::DispatchConfig;
    use crate::group_book::GroupTables;
    use crate::shard::one_offs::count;
    use crate::words::Profile;

    /// Are groups that come once, each with a filter and members of its own, out of every table when they are over?
    #[test]
    fn one_off_groups_leave_nothing() {
        let mut table = GroupTable::new(ShardId(0));
        let (tables, dispatch) = (GroupTables::new(), DispatchConfig::default());
        let empty = table.lengths();
        for number in 0..count() {
            let filter = format!("jobs/{number}/+");
            let place = table.insert("crew", &filter, Beginning::new(&tables, &dispatch, "crew", &filter));
            for member in [SessionKey(2 * number), SessionKey(2 * number + 1)] {
                let grant = Grant { options: SubscriptionOptions::new(QoS::AtLeastOnce), subscription_id: None };
                let client_id = format!("client-{}", member.0).into();
                table.enrol(place, member, Person { grant, client_id, profile: Profile::default(), is_kept: false });
            }
            let mut found = 0;
            table.matches(&format!("jobs/{number}/a"), |_| found += 1);
            assert!(found == 1 && table.len() == 1 && table.find(&share_name("crew", &filter)) == Some(place));
            table.strike(place, SessionKey(2 * number));
            assert!(table.remove(place).is_some() && table.next_dirty() == Some(place));
        }
        assert_eq!(table.lengths(), empty);
    }
}
