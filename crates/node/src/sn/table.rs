//! All clients of the thread: by place, by address, by id.

use std::collections::{HashMap, VecDeque};

use slab::Slab;

use super::address::Address;
use super::guest::Guest;

/// Bounded by whoever adds: so many that connect, and one for each connection.
#[derive(Default)]
pub(super) struct Table {
    guests: Slab<Guest>,
    by_address: HashMap<Address, usize>,
    /// Who has the session of a client id, or had it last.
    by_id: HashMap<Box<str>, usize>,
    /// Those that had not answered when they were connected, the oldest first; some have since, or are gone.
    silent: VecDeque<(usize, u64)>,
    births: u64,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.guests.len()
    }

    pub(super) fn find(&self, address: &Address) -> Option<usize> {
        self.by_address.get(address).copied()
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
        self.by_id.get(client_id).filter(|&&other| other != index).and_then(|&other| self.guests.get(other))
    }

    /// Whether the one at `index` is the last that had the session of its client id.
    pub(super) fn is_last(&self, index: usize) -> bool {
        self.guests.get(index).is_some_and(|guest| self.by_id.get(&guest.connects_as) == Some(&index))
    }

    /// A newcomer, which has its address from now on.
    pub(super) fn add(&mut self, mut guest: Guest) -> usize {
        self.births += 1;
        guest.born = self.births;
        let address = guest.address.clone();
        let index = self.guests.insert(guest);
        self.by_address.insert(address, index);
        index
    }

    /// It connects under this id; until it answers it may have to go.
    pub(super) fn call(&mut self, index: usize, client_id: &str) {
        let Some(guest) = self.guests.get_mut(index) else { return };
        let former = std::mem::replace(&mut guest.connects_as, client_id.into());
        let (born, has_answered) = (guest.born, guest.has_answered);
        if former.as_ref() != client_id {
            self.forget_id(&former, index);
        }
        if has_answered {
            return;
        }
        if self.silent.len() >= 2 * self.guests.len() {
            let guests = &self.guests;
            self.silent.retain(|(index, born)| is_silent(guests, *index, *born));
        }
        self.silent.push_back((index, born));
    }

    /// It has the session of its id from now on.
    pub(super) fn name(&mut self, index: usize) {
        if let Some(guest) = self.guests.get(index) {
            self.by_id.insert(guest.connects_as.clone(), index);
        }
    }

    /// Who has connected first of those that have not answered, another than the one at `index`.
    pub(super) fn oldest_silent(&mut self, index: usize) -> Option<usize> {
        let (mut own, mut oldest) = (None, None);
        // Each is looked at once: a flood of made-up addresses finds nobody again who has answered.
        while oldest.is_none()
            && let Some((other, born)) = self.silent.pop_front()
        {
            if !is_silent(&self.guests, other, born) {
                continue;
            }
            if other == index {
                own = own.or(Some((other, born)));
            } else {
                oldest = Some(other);
            }
        }
        if let Some(own) = own {
            self.silent.push_front(own);
        }
        oldest
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Guest> {
        let guest = self.guests.try_remove(index)?;
        self.by_address.remove(&guest.address);
        self.forget_id(&guest.connects_as, index);
        if self.guests.is_empty() {
            self.silent.clear();
        }
        Some(guest)
    }

    fn forget_id(&mut self, client_id: &str, index: usize) {
        if self.by_id.get(client_id) == Some(&index) {
            self.by_id.remove(client_id);
        }
    }
}

fn is_silent(guests: &Slab<Guest>, index: usize, born: u64) -> bool {
    guests.get(index).is_some_and(|guest| guest.born == born && !guest.has_answered)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn guest(port: u16) -> Guest {
        Guest::new(Address::new(0, SocketAddr::from(([127, 0, 0, 1], port)), None), false, 0)
    }

    /// Is the oldest of those that have not answered the one to go, and nobody who has, or is gone?
    #[test]
    fn the_silent_go_in_their_order() {
        let mut table = Table::default();
        let places: Vec<usize> = (1..=4).map(|port| table.add(guest(port))).collect();
        for (place, id) in places.iter().zip(["a", "b", "c", "d"]) {
            table.call(*place, id);
        }
        table.get(places[0]).unwrap().has_answered = true;
        table.remove(places[1]).unwrap();
        assert_eq!(table.oldest_silent(places[3]), Some(places[2]));
        assert_eq!(table.oldest_silent(places[3]), None, "nobody goes for himself, or twice");
    }

    /// With a table full of those who have answered: does a newcomer of many look at none of them that another has looked at,
    /// and does the one whose turn it is keep his own?
    #[test]
    fn who_has_answered_is_passed_once() {
        let mut table = Table::default();
        let places: Vec<usize> = (1..=1_000).map(|port| table.add(guest(port))).collect();
        for place in &places {
            table.call(*place, &place.to_string());
            table.get(*place).unwrap().has_answered = true;
        }
        let newcomer = table.add(guest(2_000));
        table.call(newcomer, "newcomer");
        assert_eq!(table.silent.len(), 1_001);
        for _ in 0..3 {
            assert_eq!(table.oldest_silent(newcomer), None);
            assert_eq!(table.silent, [(newcomer, 1_001)]);
        }
        assert_eq!(table.oldest_silent(places[0]), Some(newcomer));
        assert!(table.silent.is_empty());
    }

    /// Do addresses and ids that come once, a hundred at a time, and never answer, leave nothing behind?
    #[test]
    fn one_off_addresses_leave_nothing() {
        const ALIVE: usize = 100;
        let (mut table, mut alive) = (Table::default(), VecDeque::new());
        for number in 0..crate::shard::one_off_count() {
            let port = (number % 60_000) as u16 + 1;
            let place = table.add(guest(port));
            table.call(place, &format!("device-{number}"));
            table.name(place);
            alive.push_back(place);
            if alive.len() > ALIVE {
                table.remove(alive.pop_front().unwrap()).unwrap();
            }
            assert!(table.silent.len() <= 2 * (ALIVE + 1) + 1, "{} of {}", table.silent.len(), table.len());
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
        table.call(first, "a");
        table.name(first);
        let second = table.add(guest(2));
        table.call(second, "a");
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
