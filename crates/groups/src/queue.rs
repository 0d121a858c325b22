//! The messages of a group that no member has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU64;

use crate::entry::{Entry, Place};
use crate::facts::{Facts, Lane};
use crate::parking::Parking;
use crate::settings::{Expired, Overflow};
use crate::unable::Unable;

/// Two lanes in the order in which the messages came, beside them the lines of keys that have to wait.
#[derive(Debug)]
pub(crate) struct Queue<M> {
    lanes: [BTreeMap<u64, Entry<M>>; 2],
    parking: Parking<M>,
    /// Messages whose entries are not committed, with their lines, in the order of the entries. Some may have ended.
    uncommitted: VecDeque<(NonZeroU64, u64, Place)>,
    bytes: u64,
    expired: Expired,
    /// Messages that not everybody can have.
    unable: BTreeSet<Place>,
    /// When the wait of a message ends, for those whose wait does.
    ends: BTreeSet<(u64, Place)>,
}

impl<M> Queue<M> {
    pub(crate) fn new(expired: Expired) -> Queue<M> {
        Queue {
            lanes: [BTreeMap::new(), BTreeMap::new()],
            parking: Parking::new(),
            uncommitted: VecDeque::new(),
            bytes: 0,
            expired,
            unable: BTreeSet::new(),
            ends: BTreeSet::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lanes.iter().map(BTreeMap::len).sum::<usize>() + self.parking.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nothing waits and no key is held: what comes need not stand in line.
    pub(crate) fn is_clear(&self) -> bool {
        self.lanes.iter().all(BTreeMap::is_empty) && self.parking.is_clear()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn lane_len(&self, lane: Lane) -> usize {
        let in_lines = self.parking.entries().filter(|entry| entry.facts.lane == lane).count();
        self.lanes[lane as usize].len() + in_lines
    }

    pub(crate) fn parked(&self) -> usize {
        self.parking.len()
    }

    /// Puts a message into its lane, at its rank.
    pub(crate) fn push(&mut self, entry: Entry<M>) {
        self.note_in(&entry);
        self.lanes[entry.facts.lane as usize].insert(entry.nth, entry);
    }

    /// The same for a message that waits for the commit of its entry: in the line of its key, so that nothing of that passes
    /// it and others do. What has no key has a line of its own.
    pub(crate) fn push_uncommitted(&mut self, entry: Entry<M>) {
        let (place, line) = (entry.place(), entry.line());
        self.uncommitted.extend(entry.facts.entry.map(|logged| (logged, line, place)));
        self.note_in(&entry);
        self.parking.insert_uncommitted(line, entry);
    }

    /// Entries up to `through` are committed.
    pub(crate) fn committed(&mut self, through: NonZeroU64) {
        while let Some((_, line, place)) = self.uncommitted.front().copied().filter(|(entry, ..)| *entry <= through) {
            self.uncommitted.pop_front();
            self.parking.committed(line, place);
        }
    }

    /// The message that came last has ended and is logged nowhere: another one has its number.
    pub(crate) fn unnumber(&mut self, entry: NonZeroU64) {
        if self.uncommitted.back().is_some_and(|(last, ..)| *last == entry) {
            self.uncommitted.pop_back();
        }
    }

    /// Takes back what a member had: before all that came later.
    pub(crate) fn put_back(&mut self, entry: Entry<M>) {
        let line = entry.line();
        if self.parking.has_line(line) {
            self.note_in(&entry);
            self.parking.insert(line, entry);
        } else {
            self.push(entry);
        }
    }

    /// The message of this lane to ask for next. What stands at the head of the lane while its key has a line goes there
    /// by the way, each message once.
    pub(crate) fn next(&mut self, lane: Lane) -> Option<(Place, Facts)> {
        loop {
            let awake = self.parking.next(lane);
            let Some(head) = self.lanes[lane as usize].first_entry() else {
                return awake.map(|entry| (entry.place(), entry.facts));
            };
            let nth = *head.key();
            match awake {
                Some(entry) if entry.nth < nth => return Some((entry.place(), entry.facts)),
                _ => {}
            }
            let (facts, line) = (head.get().facts, head.get().line());
            if !self.parking.has_line(line) {
                return Some((Place { lane, nth }, facts));
            }
            self.parking.insert(line, head.remove());
        }
    }

    /// Messages of a lane behind its head, whose keys nobody holds up and that anybody can have.
    pub(crate) fn following(&self, lane: Lane, most: usize) -> impl Iterator<Item = &Entry<M>> {
        let behind = self.lanes[lane as usize].values().take(most + 1).skip(1);
        behind.filter(|entry| entry.unable.is_none())
    }

    /// Dispatch will not have this message now, nor others of its key.
    pub(crate) fn park(&mut self, place: Place, key: u64) {
        match self.lanes[place.lane as usize].remove(&place.nth) {
            Some(entry) => self.parking.insert(key, entry),
            None => self.parking.sleep(key),
        }
    }

    /// Messages that not everybody can have, by rank.
    pub(crate) fn unable(&self) -> impl Iterator<Item = &Entry<M>> {
        self.unable.iter().filter_map(|place| self.get(*place))
    }

    /// Who cannot have this message, if anybody.
    pub(crate) fn unable_for(&self, place: Place) -> Option<&Unable> {
        if !self.unable.contains(&place) {
            return None;
        }
        self.get(place)?.unable.as_deref()
    }

    /// The first of the messages that not everybody can have are asked for again.
    pub(crate) fn wake_unable(&mut self, most: usize) {
        if self.unable.is_empty() {
            return;
        }
        let lines: Vec<u64> = self.unable().take(most).map(Entry::line).collect();
        lines.into_iter().for_each(|line| self.parking.wake(line));
    }

    fn get(&self, place: Place) -> Option<&Entry<M>> {
        self.lanes[place.lane as usize].get(&place.nth).or_else(|| self.parking.get(place))
    }

    /// Takes a message out.
    pub(crate) fn take(&mut self, place: Place) -> Option<Entry<M>> {
        let in_lane = self.lanes[place.lane as usize].remove(&place.nth);
        let entry = in_lane.or_else(|| self.parking.remove(place))?;
        self.bytes -= entry.facts.bytes;
        if let Some((at_us, _)) = entry.facts.end(self.expired) {
            self.ends.remove(&(at_us, place));
        }
        if entry.unable.is_some() {
            self.unable.remove(&place);
        }
        Some(entry)
    }

    /// The next message whose wait has ended.
    pub(crate) fn take_ended(&mut self, now_us: u64) -> Option<Entry<M>> {
        let &(_, place) = self.ends.first().filter(|&&(at_us, _)| at_us <= now_us)?;
        self.take(place)
    }

    /// When the next wait ends.
    pub(crate) fn next_end_us(&self) -> Option<u64> {
        self.ends.first().map(|&(at_us, _)| at_us)
    }

    /// Another setting for what is too late.
    pub(crate) fn set_expired(&mut self, expired: Expired) {
        self.expired = expired;
        let ends = self.entries().filter_map(|entry| Some((entry.facts.end(expired)?.0, entry.place())));
        self.ends = ends.collect();
    }

    /// The message that gives way when there is no room: bulk before critical.
    pub(crate) fn yielding(&self, overflow: Overflow) -> Option<Place> {
        Lane::ALL.into_iter().rev().find_map(|lane| match overflow {
            Overflow::DropOldest => self.oldest(lane).map(Entry::place),
            Overflow::DropNewest => self.newest(lane).map(Entry::place),
        })
    }

    /// When the message that has waited longest was received.
    pub(crate) fn oldest_ingress_us(&self) -> Option<u64> {
        let oldest = Lane::ALL.into_iter().filter_map(|lane| self.oldest(lane));
        oldest.map(|entry| entry.facts.ingress_us).min()
    }

    /// The message with the least rank, of whichever lane.
    pub(crate) fn first(&self) -> Option<Place> {
        Lane::ALL.into_iter().find_map(|lane| self.oldest(lane)).map(Entry::place)
    }

    /// The keys' lines.
    pub(crate) fn keys(&mut self) -> &mut Parking<M> {
        &mut self.parking
    }

    fn oldest(&self, lane: Lane) -> Option<&Entry<M>> {
        let head = self.lanes[lane as usize].first_key_value().map(|(_, entry)| entry);
        head.into_iter().chain(self.parking.oldest(lane)).min_by_key(|entry| entry.nth)
    }

    fn newest(&self, lane: Lane) -> Option<&Entry<M>> {
        let last = self.lanes[lane as usize].last_key_value().map(|(_, entry)| entry);
        last.into_iter().chain(self.parking.newest(lane)).max_by_key(|entry| entry.nth)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<M>> {
        self.lanes.iter().flat_map(BTreeMap::values).chain(self.parking.entries())
    }

    /// All of them, in no order; where they stand must not change.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry<M>> {
        self.lanes.iter_mut().flat_map(BTreeMap::values_mut).chain(self.parking.entries_mut())
    }

    fn note_in(&mut self, entry: &Entry<M>) {
        self.bytes += entry.facts.bytes;
        if let Some((at_us, _)) = entry.facts.end(self.expired) {
            self.ends.insert((at_us, entry.place()));
        }
        if entry.unable.is_some() {
            self.unable.insert(entry.place());
        }
    }
}

#[cfg(test)]
mod tests {
    use lapwing_codec::QoS;

    use super::*;

    fn entry(nth: u64, key: Option<u64>) -> Entry<()> {
        let facts = Facts { key, expires_at_us: Some(100 + nth), ..Facts::new(QoS::AtLeastOnce, 10, 0) };
        Entry { message: (), facts, nth, was_written: false, unable: None }
    }

    fn next(queue: &mut Queue<()>) -> Option<u64> {
        queue.next(Lane::Bulk).map(|(place, _)| place.nth)
    }

    #[test]
    fn what_is_parked_lets_others_pass_and_its_key_stands_behind_it() {
        let mut queue = Queue::new(Expired::Drop);
        for (nth, key) in [(0, Some(7)), (1, None), (2, Some(7)), (3, None)] {
            queue.push(entry(nth, key));
        }
        queue.park(Place { lane: Lane::Bulk, nth: 0 }, 7);
        let passed: Vec<u64> = std::iter::from_fn(|| {
            let nth = next(&mut queue)?;
            queue.take(Place { lane: Lane::Bulk, nth }).map(|entry| entry.nth)
        })
        .collect();
        assert_eq!((passed, queue.parked(), queue.bytes()), (vec![1, 3], 2, 20));
        queue.put_back(entry(1, None));
        queue.keys().wake(7);
        assert_eq!(next(&mut queue), Some(0));
        assert!(queue.take(Place { lane: Lane::Bulk, nth: 0 }).is_some());
        assert_eq!(next(&mut queue), Some(1));
    }

    #[test]
    fn waits_end_in_their_order_wherever_the_message_is() {
        let mut queue = Queue::new(Expired::Drop);
        (0..3).for_each(|nth| queue.push(entry(nth, Some(7))));
        queue.park(Place { lane: Lane::Bulk, nth: 0 }, 7);
        assert_eq!((next(&mut queue), queue.next_end_us()), (None, Some(100)));
        assert!(queue.take_ended(99).is_none());
        assert_eq!(queue.take_ended(101).map(|entry| entry.nth), Some(0));
        assert_eq!(queue.take_ended(101).map(|entry| entry.nth), Some(1));
        assert!(queue.take(Place { lane: Lane::Bulk, nth: 2 }).is_some());
        assert!(queue.is_clear() && queue.bytes() == 0 && queue.next_end_us().is_none());
    }
}
