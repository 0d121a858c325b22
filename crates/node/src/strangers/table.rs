//! Who goes when there are too many strangers, or they hold too much. Numbers in, places out: no clock, no lock, no socket.
//!
//! The oldest goes, never the newest: who means to connect is a stranger for a few round trips, who holds a place or bytes
//! is one for as long as it may. So a newcomer displaces those who hold, also behind an address that many share; refusing
//! newcomers instead would let one who waits silently keep out everybody behind its address. Among addresses the one that has
//! most goes first. Who waits for the broker's own answer (a password, a hook) has done its part: it is passed over.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use rustc_hash::FxBuildHasher;
use slab::Slab;

use crate::listeners::ListenerId;

/// Where strangers come from, as far as the limit by address goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    /// An address, or the /64 that one IPv6 customer has.
    Address(IpAddr),
    /// What no address tells apart: a Unix socket, a listener behind a proxy that names nobody, a PROXY header still to come.
    Shared,
}

/// Where a stranger's connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shard: usize,
    pub(crate) index: usize,
    /// Tells it from others in the same place.
    pub(crate) born: u64,
}

/// What strangers may take up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) count_max: usize,
    pub(crate) per_address_max: usize,
    pub(crate) bytes_max: u64,
}

/// Which bound was reached.
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    PerAddress,
    Count,
    Bytes,
    /// The connections of the whole node, or of its listener.
    Connections,
}

/// Somebody who has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) place: Place,
    pub(crate) source: Source,
    pub(crate) bound: Bound,
}

#[derive(Debug)]
struct Entry {
    /// In the order of arrival.
    number: u64,
    source: Source,
    listener: ListenerId,
    /// None while it moves between shards.
    place: Option<Place>,
    bytes: u64,
    /// It waits for the broker.
    is_busy: bool,
    /// It has to go; only its shard does not know yet.
    is_ended: bool,
}

/// The strangers of one source.
#[derive(Debug, Default)]
struct Group {
    count: usize,
    bytes: u64,
    /// Those who can be ended, by age.
    idle: BTreeMap<u64, usize>,
}

/// A group's place among others: what it has, then how old its oldest is.
type Rank<T> = (T, Reverse<u64>, Source);

/// All strangers of a node.
#[derive(Debug)]
pub(crate) struct Table {
    budget: Budget,
    entries: Slab<Entry>,
    groups: HashMap<Source, Group, FxBuildHasher>,
    by_count: BTreeSet<Rank<usize>>,
    by_bytes: BTreeSet<Rank<u64>>,
    /// Those who can be ended, by the listener that they came through and by age.
    by_listener: BTreeSet<(ListenerId, u64, usize)>,
    /// Without those who have to go.
    count: usize,
    bytes: u64,
    last_number: u64,
}

impl Table {
    pub(crate) fn new(budget: Budget) -> Self {
        Table {
            budget,
            entries: Slab::new(),
            groups: HashMap::default(),
            by_count: BTreeSet::new(),
            by_bytes: BTreeSet::new(),
            by_listener: BTreeSet::new(),
            count: 0,
            bytes: 0,
            last_number: 0,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn budget(&self) -> Budget {
        self.budget
    }

    /// Takes a newcomer, for whom somebody may have to go; it has no place yet.
    ///
    /// # Errors
    /// There are too many, and all of them wait for the broker.
    pub(crate) fn arrive(&mut self, source: Source, listener: ListenerId) -> Result<(usize, Option<Ended>), Bound> {
        let ended = match self.crowd(source) {
            None => None,
            Some((bound, from)) => Some(from.and_then(|from| self.end_oldest(from, bound)).ok_or(bound)?),
        };
        self.last_number += 1;
        let (number, place) = (self.last_number, None);
        let entry = Entry { number, source, listener, place, bytes: 0, is_busy: false, is_ended: false };
        let id = self.entries.insert(entry);
        self.count += 1;
        self.change(source, |group| group.count += 1);
        Ok((id, ended))
    }

    /// The bound that one more of `source` would break, and from where somebody goes for it.
    fn crowd(&self, source: Source) -> Option<(Bound, Option<Source>)> {
        if self.is_crowded(source, self.budget.per_address_max) {
            return Some((Bound::PerAddress, Some(source)));
        }
        (self.count >= self.budget.count_max).then(|| (Bound::Count, self.most_by_count()))
    }

    fn is_crowded(&self, source: Source, limit: usize) -> bool {
        source != Source::Shared && self.groups.get(&source).is_some_and(|group| group.count >= limit)
    }

    /// Somebody goes so that a newcomer finds a connection: the oldest of the source with most, or of one listener.
    pub(crate) fn give_way(&mut self, listener: Option<ListenerId>) -> Option<Ended> {
        let Some(listener) = listener else {
            let from = self.most_by_count()?;
            return self.end_oldest(from, Bound::Connections);
        };
        let (at, _, id) = *self.by_listener.range((listener, 0, 0)..).next()?;
        if at == listener { self.end(id, Bound::Connections) } else { None }
    }

    /// It has its place at a shard.
    pub(crate) fn settle(&mut self, id: usize, place: Place) {
        self.update(id, |entry| entry.place = Some(place));
    }

    /// It is on its way to another shard; false: it has to go, and where it was has not heard of that yet. Where it comes to
    /// nobody would hear of it, and nothing of it would count.
    #[must_use]
    pub(crate) fn lift(&mut self, id: usize) -> bool {
        self.update(id, |entry| entry.place = None);
        self.entries.get(id).is_some_and(|entry| !entry.is_ended)
    }

    /// It holds so many bytes now, and waits for the broker or not; who has to go for that, it perhaps among them.
    pub(crate) fn hold(&mut self, id: usize, bytes: u64, is_busy: bool) -> Vec<Ended> {
        self.update(id, |entry| (entry.bytes, entry.is_busy) = (bytes, is_busy));
        let mut ended = Vec::new();
        while self.bytes > self.budget.bytes_max {
            let oldest = self.most_by_bytes().and_then(|from| self.end_oldest(from, Bound::Bytes));
            // Where all others wait for the broker, what came last goes.
            match oldest.or_else(|| self.end(id, Bound::Bytes)) {
                Some(one) => ended.push(one),
                None => break,
            }
        }
        ended
    }

    /// A PROXY header has named where it comes from; who has to go for that, it perhaps among them.
    pub(crate) fn name(&mut self, id: usize, source: Source) -> Option<Ended> {
        self.entries.get(id).filter(|entry| !entry.is_ended && entry.source != source)?;
        let is_crowded = self.is_crowded(source, self.budget.per_address_max);
        let ended = if is_crowded { self.end_oldest(source, Bound::PerAddress) } else { None };
        if is_crowded && ended.is_none() {
            return self.end(id, Bound::PerAddress);
        }
        self.take_out(id);
        if let Some(entry) = self.entries.get_mut(id) {
            entry.source = source;
        }
        self.put_in(id);
        ended
    }

    /// It is a client now, or gone.
    pub(crate) fn leave(&mut self, id: usize) {
        self.take_out(id);
        self.entries.try_remove(id);
    }

    fn most_by_count(&self) -> Option<Source> {
        self.by_count.last().map(|rank| rank.2)
    }

    fn most_by_bytes(&self) -> Option<Source> {
        self.by_bytes.last().map(|rank| rank.2)
    }

    fn end_oldest(&mut self, source: Source, bound: Bound) -> Option<Ended> {
        let (_, id) = self.groups.get(&source)?.idle.first_key_value()?;
        self.end(*id, bound)
    }

    /// It goes: nothing of it counts any more.
    fn end(&mut self, id: usize, bound: Bound) -> Option<Ended> {
        let entry = self.entries.get(id).filter(|entry| !entry.is_ended)?;
        let (place, source) = (entry.place?, entry.source);
        self.take_out(id);
        self.entries.get_mut(id)?.is_ended = true;
        Some(Ended { place, source, bound })
    }

    /// Changes what is known of one.
    fn update(&mut self, id: usize, change: impl FnOnce(&mut Entry)) {
        self.take_out(id);
        if let Some(entry) = self.entries.get_mut(id) {
            change(entry);
        }
        self.put_in(id);
    }

    /// Takes one out of all sums.
    fn take_out(&mut self, id: usize) {
        let Some(entry) = self.entries.get(id).filter(|entry| !entry.is_ended) else { return };
        let Entry { number, source, listener, bytes, .. } = *entry;
        self.count -= 1;
        self.bytes -= bytes;
        self.by_listener.remove(&(listener, number, id));
        self.change(source, |group| {
            group.count -= 1;
            group.bytes -= bytes;
            group.idle.remove(&number);
        });
    }

    fn put_in(&mut self, id: usize) {
        let Some(entry) = self.entries.get(id).filter(|entry| !entry.is_ended) else { return };
        let Entry { number, source, listener, bytes, is_busy, .. } = *entry;
        let is_idle = entry.place.is_some() && !is_busy;
        if is_idle {
            self.by_listener.insert((listener, number, id));
        }
        self.count += 1;
        self.bytes += bytes;
        self.change(source, |group| {
            group.count += 1;
            group.bytes += bytes;
            if is_idle {
                group.idle.insert(number, id);
            }
        });
    }

    /// Changes a group, and its rank among the others; one without strangers goes.
    fn change(&mut self, source: Source, change: impl FnOnce(&mut Group)) {
        let group = self.groups.entry(source).or_default();
        if let Some(oldest) = group.oldest() {
            self.by_count.remove(&(group.count, oldest, source));
            self.by_bytes.remove(&(group.bytes, oldest, source));
        }
        change(group);
        if let Some(oldest) = group.oldest() {
            self.by_count.insert((group.count, oldest, source));
            self.by_bytes.insert((group.bytes, oldest, source));
        }
        if group.count == 0 {
            self.groups.remove(&source);
        }
    }
}

impl Group {
    fn oldest(&self) -> Option<Reverse<u64>> {
        self.idle.first_key_value().map(|(number, _)| Reverse(*number))
    }
}

#[cfg(test)]
mod tests;
