//! Messages that wait for their key: it is with a member that cannot have more now.
//!
//! All of a key wait in one line, in order, and only its first is ever asked for. A line *sleeps* after dispatch has said
//! `Park`, until something has changed for its key; then it is *awake* and its first takes part in the choice of what goes
//! next, at its old rank. So a long line costs one question per change, however long it is.
//!
//! A message whose entry is not committed waits here too: as long as it is the first of its line nothing of that goes.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::entry::{Entry, Place};
use crate::facts::Lane;

/// The messages of one key that wait for it.
#[derive(Debug, Default)]
struct Line {
    places: BTreeSet<Place>,
    /// Of these, those whose entries are not committed.
    uncommitted: BTreeSet<Place>,
    is_awake: bool,
    /// Messages of the key whose whereabouts are not settled: nothing of it goes anywhere.
    blocks: u32,
}

impl Line {
    fn first(&self) -> Option<Place> {
        self.places.first().copied()
    }

    /// The message to ask for, if it is one of this line's.
    fn awake_first(&self) -> Option<Place> {
        self.first().filter(|first| self.is_awake && !self.uncommitted.contains(first))
    }
}

/// The lines of all keys that have one.
#[derive(Debug)]
pub(crate) struct Parking<M> {
    waiting: BTreeMap<Place, Entry<M>>,
    lines: HashMap<u64, Line>,
    /// The first of each line that is awake, and its key.
    awake: BTreeMap<Place, u64>,
}

impl<M> Parking<M> {
    pub(crate) fn new() -> Parking<M> {
        Parking { waiting: BTreeMap::new(), lines: HashMap::new(), awake: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no key has a line.
    pub(crate) fn is_clear(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether messages of this key have to stand in line.
    pub(crate) fn has_line(&self, key: u64) -> bool {
        !self.lines.is_empty() && self.lines.contains_key(&key)
    }

    /// Puts a message into the line of `key`, at its rank. A line begins asleep; one that gets a new first wakes.
    pub(crate) fn insert(&mut self, key: u64, entry: Entry<M>) {
        let place = entry.place();
        self.waiting.insert(place, entry);
        self.change(key, |line| {
            let has_new_first = line.first().is_some_and(|first| place < first);
            line.places.insert(place);
            line.is_awake |= has_new_first && line.blocks == 0;
        });
    }

    /// The same for a message that goes nowhere before [`Parking::committed`].
    pub(crate) fn insert_uncommitted(&mut self, key: u64, entry: Entry<M>) {
        let place = entry.place();
        self.waiting.insert(place, entry);
        self.change(key, |line| {
            line.places.insert(place);
            line.uncommitted.insert(place);
        });
    }

    /// The entry of a message is committed; the message may have ended meanwhile.
    pub(crate) fn committed(&mut self, key: u64, place: Place) {
        if self.lines.contains_key(&key) {
            self.change(key, |line| {
                let is_first = line.uncommitted.remove(&place) && line.first() == Some(place);
                line.is_awake |= is_first && line.blocks == 0;
            });
        }
    }

    /// The first message of the lines that are awake, in this lane.
    pub(crate) fn next(&self, lane: Lane) -> Option<&Entry<M>> {
        let (place, _) = self.awake.range(lane_range(lane)).next()?;
        self.waiting.get(place)
    }

    pub(crate) fn get(&self, place: Place) -> Option<&Entry<M>> {
        self.waiting.get(&place)
    }

    /// Takes a message out of its line.
    pub(crate) fn remove(&mut self, place: Place) -> Option<Entry<M>> {
        let entry = self.waiting.remove(&place)?;
        self.change(entry.line(), |line| {
            line.places.remove(&place);
            // What stood behind it waits for nothing any more.
            line.is_awake |= line.uncommitted.remove(&place) && line.blocks == 0;
        });
        Some(entry)
    }

    /// Dispatch says `Park`: the key is not asked for until it wakes.
    pub(crate) fn sleep(&mut self, key: u64) {
        self.change(key, |line| line.is_awake = false);
    }

    /// Something has changed for this key.
    pub(crate) fn wake(&mut self, key: u64) {
        if self.lines.contains_key(&key) {
            self.change(key, |line| line.is_awake = line.blocks == 0);
        }
    }

    /// Something has changed for all keys.
    pub(crate) fn wake_all(&mut self) {
        let keys: Vec<u64> = self.lines.keys().copied().collect();
        keys.into_iter().for_each(|key| self.wake(key));
    }

    /// Nothing of `key` goes anywhere until it is unblocked as often.
    pub(crate) fn block(&mut self, key: u64) {
        self.change(key, |line| {
            line.blocks += 1;
            line.is_awake = false;
        });
    }

    /// One reason less to hold the key.
    pub(crate) fn unblock(&mut self, key: u64) {
        self.change(key, |line| {
            line.blocks = line.blocks.saturating_sub(1);
            line.is_awake = line.blocks == 0;
        });
    }

    /// The longest waiting message of a lane.
    pub(crate) fn oldest(&self, lane: Lane) -> Option<&Entry<M>> {
        self.waiting.range(lane_range(lane)).next().map(|(_, entry)| entry)
    }

    /// The message of a lane that came last.
    pub(crate) fn newest(&self, lane: Lane) -> Option<&Entry<M>> {
        self.waiting.range(lane_range(lane)).next_back().map(|(_, entry)| entry)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<M>> {
        self.waiting.values()
    }

    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry<M>> {
        self.waiting.values_mut()
    }

    /// Changes one line and keeps the list of those awake true.
    fn change(&mut self, key: u64, work: impl FnOnce(&mut Line)) {
        let line = self.lines.entry(key).or_default();
        let before = line.awake_first();
        work(line);
        let after = line.awake_first();
        let is_over = line.places.is_empty() && line.blocks == 0;
        if let Some(place) = before.filter(|_| before != after) {
            self.awake.remove(&place);
        }
        if let Some(place) = after.filter(|_| before != after) {
            self.awake.insert(place, key);
        }
        if is_over {
            self.lines.remove(&key);
        }
    }
}

fn lane_range(lane: Lane) -> std::ops::RangeInclusive<Place> {
    Place { lane, nth: 0 }..=Place { lane, nth: u64::MAX }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::QoS;

    use super::*;
    use crate::facts::Facts;

    fn entry(nth: u64, key: u64, lane: Lane) -> Entry<()> {
        let facts = Facts { key: Some(key), lane, ..Facts::new(QoS::AtLeastOnce, 1, 0) };
        Entry { message: (), facts, nth, was_written: false, unable: None }
    }

    fn bulk(nth: u64) -> Place {
        Place { lane: Lane::Bulk, nth }
    }

    /// Lines of the keys 1 (messages 3, 5) and 2 (message 4), asleep.
    fn two_lines() -> Parking<()> {
        let mut parking = Parking::new();
        for (nth, key) in [(3, 1), (4, 2), (5, 1)] {
            parking.insert(key, entry(nth, key, Lane::Bulk));
        }
        parking
    }

    fn next(parking: &Parking<()>) -> Option<u64> {
        parking.next(Lane::Bulk).map(|entry| entry.nth)
    }

    #[test]
    fn only_the_first_of_a_line_that_is_awake_is_asked_for() {
        let mut parking = two_lines();
        assert_eq!(next(&parking), None);
        parking.wake(2);
        assert_eq!(next(&parking), Some(4));
        parking.wake(1);
        assert_eq!(next(&parking), Some(3));
        parking.remove(bulk(3));
        assert_eq!(next(&parking), Some(4));
        parking.sleep(2);
        assert_eq!(next(&parking), Some(5));
        parking.remove(bulk(5));
        assert!(!parking.has_line(1) && parking.has_line(2));
    }

    #[test]
    fn a_line_with_a_new_first_wakes() {
        let mut parking = two_lines();
        parking.insert(1, entry(6, 1, Lane::Bulk));
        assert_eq!(next(&parking), None);
        parking.insert(1, entry(1, 1, Lane::Bulk));
        assert_eq!(next(&parking), Some(1));
        parking.insert(1, entry(7, 1, Lane::Critical));
        assert_eq!(next(&parking), None, "critical is first of its line now");
        assert_eq!(parking.next(Lane::Critical).map(|entry| entry.nth), Some(7));
    }

    /// Does nothing of a line go before its first is committed, everything then in order; and what is behind one that has ended
    /// meanwhile?
    #[test]
    fn a_line_waits_for_the_commit_of_its_first() {
        let mut parking = Parking::new();
        for nth in [3, 4] {
            parking.insert_uncommitted(1, entry(nth, 1, Lane::Bulk));
        }
        parking.insert(1, entry(5, 1, Lane::Bulk));
        parking.insert_uncommitted(2, entry(6, 2, Lane::Bulk));
        parking.wake_all();
        assert_eq!(next(&parking), None);
        parking.committed(1, bulk(4));
        assert_eq!(next(&parking), None, "the first is not");
        parking.committed(1, bulk(3));
        assert_eq!(next(&parking), Some(3));
        parking.remove(bulk(3));
        assert_eq!(next(&parking), Some(4));
        parking.remove(bulk(4));
        assert_eq!(next(&parking), Some(5));
        parking.remove(bulk(5));
        parking.insert(2, entry(7, 2, Lane::Bulk));
        parking.remove(bulk(6));
        parking.committed(2, bulk(6));
        assert_eq!(next(&parking), Some(7));
        parking.remove(bulk(7));
        assert!(parking.is_clear() && parking.len() == 0);
    }

    #[test]
    fn a_blocked_key_wakes_when_the_last_block_is_gone() {
        let mut parking = two_lines();
        parking.block(1);
        parking.block(1);
        parking.block(9);
        parking.wake_all();
        assert_eq!(next(&parking), Some(4));
        parking.unblock(1);
        assert_eq!(next(&parking), Some(4));
        parking.unblock(1);
        assert_eq!(next(&parking), Some(3));
        assert!(parking.has_line(9), "what comes stands in line, too");
        parking.unblock(9);
        assert!(!parking.has_line(9));
    }
}
