//! The members of a group, found by their key and by their place with dispatch.

use std::hash::Hash;

use hashbrown::HashMap;
use lapwing_dispatch::MemberIndex;
use slab::Slab;

use crate::entry::Entry;
use crate::membership::{Membership, Presence};
use crate::unable::Seat;

/// Everybody who is a member, connected or not, and who has unsubscribed and still has messages.
#[derive(Debug)]
pub(crate) struct Roster<K, M> {
    all: Slab<Membership<K, M>>,
    by_key: HashMap<K, usize>,
    /// By place with dispatch; stale where nobody is there.
    by_place: Vec<usize>,
    /// How many are leaving.
    leaving: usize,
    /// Stays with dispatch so far.
    stays: u64,
}

impl<K: Copy + Eq + Hash, M> Roster<K, M> {
    pub(crate) fn new() -> Roster<K, M> {
        Roster { all: Slab::new(), by_key: HashMap::new(), by_place: Vec::new(), leaving: 0, stays: 0 }
    }

    /// Takes in somebody who is not there.
    pub(crate) fn insert(&mut self, one: Membership<K, M>) {
        let key = one.key;
        let at = self.all.insert(one);
        self.by_key.insert(key, at);
    }

    pub(crate) fn get(&self, key: K) -> Option<&Membership<K, M>> {
        self.all.get(*self.by_key.get(&key)?)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut Membership<K, M>> {
        self.all.get_mut(*self.by_key.get(&key)?)
    }

    /// The member whom dispatch has in this place.
    pub(crate) fn at(&mut self, place: MemberIndex) -> Option<&mut Membership<K, M>> {
        let at = *self.by_place.get(place.slot())?;
        self.all.get_mut(at).filter(|one| one.place == Some(place))
    }

    /// Dispatch has the member in this place from now on.
    pub(crate) fn seat(&mut self, key: K, place: MemberIndex) {
        let Some(&at) = self.by_key.get(&key) else { return };
        if self.by_place.len() <= place.slot() {
            self.by_place.resize(place.slot() + 1, usize::MAX);
        }
        self.by_place[place.slot()] = at;
        if let Some(one) = self.all.get_mut(at) {
            self.stays += 1;
            (one.place, one.stay) = (Some(place), self.stays);
        }
    }

    /// Whether whoever sat there does so still.
    pub(crate) fn is_taken(&self, seat: Seat) -> bool {
        let at = self.by_place.get(seat.place.slot());
        at.and_then(|&at| self.all.get(at)).is_some_and(|one| one.seat() == Some(seat))
    }

    /// The member is somewhere else now.
    pub(crate) fn set_presence(&mut self, key: K, presence: Presence) {
        let Some(one) = self.by_key.get(&key).and_then(|&at| self.all.get_mut(at)) else { return };
        self.leaving -= usize::from(one.presence == Presence::Leaving);
        one.presence = presence;
        self.leaving += usize::from(presence == Presence::Leaving);
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<Membership<K, M>> {
        let one = self.all.try_remove(self.by_key.remove(&key)?)?;
        self.leaving -= usize::from(one.presence == Presence::Leaving);
        Some(one)
    }

    /// Members: who is leaving is none.
    pub(crate) fn members(&self) -> usize {
        self.all.len() - self.leaving
    }

    /// Whether nobody has anything to do with the group.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Messages that members have.
    pub(crate) fn assigned(&self) -> usize {
        self.iter().map(|one| one.assigned.len()).sum()
    }

    /// The messages that members have.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry<M>> {
        self.all.iter_mut().flat_map(|(_, one)| one.assigned.values_mut().map(|assigned| &mut assigned.entry))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Membership<K, M>> {
        self.all.iter().map(|(_, one)| one)
    }
}
