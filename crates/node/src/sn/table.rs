//! All clients of the thread: by place, by address, by id.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use slab::Slab;

use super::address::Address;
use super::guest::Guest;
use super::silent::Silent;
use crate::little_spare;

/// Bounded by whoever adds: so many that connect, and one for each connection.
#[derive(Default)]
pub(super) struct Table {
    guests: Slab<Guest>,
    /// Places by address. Addresses and ids are written with the guests, so that a client has five bytes in such a table.
    by_address: HashTable<u32>,
    /// Who has the session of a client id, or had it last: each under the id by which it was called last.
    by_id: HashTable<u32>,
    /// Seeded at random, for both are what peers say.
    hasher: RandomState,
    /// Those that had not answered when they were connected.
    silent: Silent,
    /// Those that have begun to connect and were asked for their will, the oldest first; some have gone on, or are gone. They have
    /// no connection yet.
    beginners: VecDeque<(usize, u64)>,
    births: u64,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.guests.len()
    }

    pub(super) fn find(&self, address: &Address<'_>) -> Option<usize> {
        let is_it = |place: &u32| self.guests.get(*place as usize).is_some_and(|guest| guest.address.get() == *address);
        self.by_address.find(self.hasher.hash_one(address), is_it).map(|place| *place as usize)
    }

    pub(super) fn get(&mut self, index: usize) -> Option<&mut Guest> {
        self.guests.get_mut(index)
    }

    /// The same to read it.
    pub(super) fn look(&self, index: usize) -> Option<&Guest> {
        self.guests.get(index)
    }

    /// The same, if it is still the one that was born then.
    pub(super) fn get_born(&mut self, index: usize, born: u64) -> Option<&mut Guest> {
        self.guests.get_mut(index).filter(|guest| guest.born == born)
    }

    /// Who has the session of a client id, another than the one at `index`.
    pub(super) fn namesake(&self, client_id: &str, index: usize) -> Option<&Guest> {
        let is_it =
            |place: &u32| self.guests.get(*place as usize).is_some_and(|guest| guest.connects_as() == client_id);
        let other = *self.by_id.find(self.hasher.hash_one(client_id), is_it)? as usize;
        self.guests.get(other).filter(|_| other != index)
    }

    /// Whether the one at `index` is the last that had the session of its client id.
    pub(super) fn is_last(&self, index: usize) -> bool {
        let Some(guest) = self.guests.get(index) else { return false };
        self.by_id.find(self.hasher.hash_one(guest.connects_as()), |place| *place as usize == index).is_some()
    }

    /// A newcomer, which has its address from now on.
    pub(super) fn add(&mut self, mut guest: Guest) -> usize {
        self.births += 1;
        guest.born = self.births;
        let hash = self.hasher.hash_one(guest.address.get());
        let index = little_spare::insert(&mut self.guests, guest);
        let Table { guests, by_address, hasher, .. } = self;
        let rehash = |place: &u32| guests.get(*place as usize).map_or(0, |guest| hasher.hash_one(guest.address.get()));
        by_address.insert_unique(hash, index as u32, rehash);
        index
    }

    /// It connects under this id; until it answers it may have to go.
    pub(super) fn call(&mut self, index: usize, client_id: &Arc<str>) {
        let Table { guests, by_id, hasher, .. } = self;
        let Some(guest) = guests.get_mut(index) else { return };
        if guest.connects_as() != &**client_id {
            forget_id(by_id, hasher, guest.connects_as(), index);
        }
        guest.call(client_id);
        let (door, born, has_answered) = (guest.door(), guest.born, guest.has_answered);
        if has_answered {
            return;
        }
        let Table { guests, silent, .. } = self;
        if silent.is_to_be_swept() {
            silent.sweep(|called| is_silent(guests, called.index, called.born));
        }
        silent.add(door, index, born);
    }

    /// A newcomer was heard: if that was no whole CONNECT, it may have to go.
    pub(super) fn note_beginner(&mut self, index: usize, born: u64) {
        if !is_beginner(&self.guests, index, born) {
            return;
        }
        if self.beginners.len() >= 2 * self.guests.len() {
            let guests = &self.guests;
            self.beginners.retain(|(index, born)| is_beginner(guests, *index, *born));
        }
        self.beginners.push_back((index, born));
    }

    /// Who has been asked first for a will, and has not gone on.
    pub(super) fn oldest_beginner(&mut self) -> Option<usize> {
        while let Some((index, born)) = self.beginners.pop_front() {
            if is_beginner(&self.guests, index, born) {
                return Some(index);
            }
        }
        None
    }

    /// It has the session of its id from now on.
    pub(super) fn name(&mut self, index: usize) {
        let Table { guests, by_id, hasher, .. } = self;
        let Some(guest) = guests.get(index) else { return };
        let name = |place: &u32| guests.get(*place as usize).map_or("", Guest::connects_as);
        let rehash = |place: &u32| hasher.hash_one(name(place));
        let id = guest.connects_as();
        match by_id.entry(hasher.hash_one(id), |place| name(place) == id, rehash) {
            Entry::Occupied(mut former) => *former.get_mut() = index as u32,
            Entry::Vacant(free) => {
                free.insert(index as u32);
            }
        }
    }

    /// Who has connected first of those that have not answered, through one listener or all, another than the one at `index`.
    pub(super) fn oldest_silent(&mut self, index: usize, door: Option<usize>) -> Option<usize> {
        let Table { guests, silent, .. } = self;
        silent.oldest(index, door, |called| is_silent(guests, called.index, called.born))
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Guest> {
        let guest = self.guests.try_remove(index)?;
        let Table { by_address, by_id, hasher, .. } = self;
        if let Ok(place) = by_address.find_entry(hasher.hash_one(guest.address.get()), |place| *place as usize == index)
        {
            place.remove();
        }
        forget_id(by_id, hasher, guest.connects_as(), index);
        if self.guests.is_empty() {
            self.silent.clear();
            self.beginners.clear();
        }
        Some(guest)
    }
}

/// The one at `index` has the session of this id no more, if it had it.
fn forget_id(by_id: &mut HashTable<u32>, hasher: &RandomState, client_id: &str, index: usize) {
    if let Ok(place) = by_id.find_entry(hasher.hash_one(client_id), |place| *place as usize == index) {
        place.remove();
    }
}

fn is_beginner(guests: &Slab<Guest>, index: usize, born: u64) -> bool {
    guests.get(index).is_some_and(|guest| guest.born == born && guest.connects_as().is_empty())
}

fn is_silent(guests: &Slab<Guest>, index: usize, born: u64) -> bool {
    guests.get(index).is_some_and(|guest| guest.born == born && !guest.has_answered)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::sn::silent::SPARE;

    fn guest(port: u16) -> Guest {
        Guest::new(&Address::new(0, SocketAddr::from(([127, 0, 0, 1], port)), None), false, 0)
    }

    /// Is the oldest of those that have not answered the one to go, and nobody who has, or is gone?
    #[test]
    fn the_silent_go_in_their_order() {
        let mut table = Table::default();
        let places: Vec<usize> = (1..=4).map(|port| table.add(guest(port))).collect();
        for (place, id) in places.iter().zip(["a", "b", "c", "d"]) {
            table.call(*place, &id.into());
        }
        table.get(places[0]).unwrap().has_answered = true;
        table.remove(places[1]).unwrap();
        assert_eq!(table.oldest_silent(places[3], None), Some(places[2]));
        assert_eq!(table.oldest_silent(places[3], None), None, "nobody goes for himself, or twice");
    }

    /// Does one address that calls again and again, each time as somebody else, have one place among the silent?
    #[test]
    fn who_calls_often_is_silent_once() {
        let mut table = Table::default();
        let (first, second) = (table.add(guest(1)), table.add(guest(2)));
        table.call(first, &"first".into());
        for number in 0..1_000 {
            table.call(second, &number.to_string().into());
            assert!(table.silent.len() <= SPARE + 2 * table.len(), "{}", table.silent.len());
        }
        assert_eq!(table.oldest_silent(usize::MAX, None), Some(first));
        table.remove(first).unwrap();
        assert_eq!(table.oldest_silent(usize::MAX, None), Some(second));
    }

    /// Do those who were asked for a will go in their order, and nobody who has gone on, or is gone?
    #[test]
    fn beginners_go_in_their_order() {
        let mut table = Table::default();
        let places: Vec<usize> = (1..=4).map(|port| table.add(guest(port))).collect();
        for place in &places {
            let born = table.look(*place).unwrap().born;
            table.note_beginner(*place, born);
        }
        table.call(places[0], &"a".into());
        table.remove(places[1]).unwrap();
        assert_eq!(table.add(guest(5)), places[1], "another one in its place");
        assert_eq!((table.oldest_beginner(), table.oldest_beginner()), (Some(places[2]), Some(places[3])));
        assert_eq!(table.oldest_beginner(), None);
    }

    /// With a table full of those who have answered: does a newcomer of many look at none of them that another has looked at,
    /// and does the one whose turn it is keep his own?
    #[test]
    fn who_has_answered_is_passed_once() {
        let mut table = Table::default();
        let places: Vec<usize> = (1..=1_000).map(|port| table.add(guest(port))).collect();
        for place in &places {
            table.call(*place, &place.to_string().into());
        }
        places.iter().for_each(|place| table.get(*place).unwrap().has_answered = true);
        let newcomer = table.add(guest(2_000));
        table.call(newcomer, &"newcomer".into());
        assert_eq!(table.silent.len(), 1_001);
        for _ in 0..3 {
            assert_eq!(table.oldest_silent(newcomer, None), None);
            assert_eq!(table.silent.len(), 1, "its own");
        }
        assert_eq!(table.oldest_silent(places[0], None), Some(newcomer));
        assert_eq!(table.silent.len(), 0);
    }

    /// Does a client that has answered cost nothing in the list of those that have not?
    #[test]
    fn who_has_answered_needs_no_place() {
        let mut table = Table::default();
        for port in 1..=5_000 {
            let place = table.add(guest(port));
            table.call(place, &port.to_string().into());
            assert!(table.silent.len() <= SPARE + 2, "{}", table.silent.len());
            table.get(place).unwrap().has_answered = true;
        }
    }

    /// Do addresses and ids that come once, a hundred at a time, and never answer, leave nothing behind?
    #[test]
    fn one_off_addresses_leave_nothing() {
        const ALIVE: usize = 100;
        let (mut table, mut alive) = (Table::default(), VecDeque::new());
        for number in 0..crate::shard::one_off_count() {
            let port = (number % 60_000) as u16 + 1;
            let place = table.add(guest(port));
            table.call(place, &format!("device-{number}").into());
            table.name(place);
            alive.push_back(place);
            if alive.len() > ALIVE {
                table.remove(alive.pop_front().unwrap()).unwrap();
            }
            assert!(table.silent.len() <= 2 * (ALIVE + 1) + SPARE, "{} of {}", table.silent.len(), table.len());
        }
        alive.into_iter().for_each(|place| drop(table.remove(place).unwrap()));
        assert_eq!((table.len(), table.by_address.len(), table.by_id.len(), table.silent.len()), (0, 0, 0, 0));
        assert!(table.guests.capacity() <= 2 * ALIVE);
    }

    /// Does a place that is taken again belong to the newcomer alone, and its id with it?
    #[test]
    fn who_is_gone_leaves_nothing() {
        let mut table = Table::default();
        let first = table.add(guest(1));
        table.call(first, &"a".into());
        table.name(first);
        let second = table.add(guest(2));
        table.call(second, &"a".into());
        assert!(table.is_last(first) && !table.is_last(second), "who only wants it has not got it");
        table.name(second);
        assert!(table.namesake("a", first).is_some() && table.namesake("a", second).is_none());
        table.remove(first).unwrap();
        assert!(table.namesake("a", first).is_some(), "the id is the second one's");
        table.remove(second).unwrap();
        assert!(table.namesake("a", first).is_none());
        assert_eq!((table.len(), table.by_address.len(), table.by_id.len()), (0, 0, 0));
    }
}
