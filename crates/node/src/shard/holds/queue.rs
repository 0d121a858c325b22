//! What waits in one hold: a line per topic, and which lines may go. Numbers in, messages out; no clock, no shard.
//!
//! The head of each line stands in exactly one of three sets: *ready* (somebody may want it: it is to be offered), *idle*
//! (it was offered, nobody wants it), *parked* (somebody wants it who has no room; later). So a line moves as a whole, at
//! the cost of one number, however long it is; and what is ready leaves in the order in which it came, over all topics.
//! What is taken out is under way, and comes back to its place if nobody took it.
//!
//! A head whose entry is not committed is not offered yet, though its line is ready: lines of other topics pass.

mod commits;
mod search;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lapwing_router::TopicTree;

use crate::config::Overflow;
use search::Searches;

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Messages.
    pub(super) messages: u64,
    /// Bytes, as messages count them.
    pub(super) bytes: u64,
    /// Which message gives way.
    pub(super) overflow: Overflow,
}

/// Messages that may be on their way through beside those that wait: who has a subscriber does not count as waiting, but has
/// a bound too.
const PASSING_MESSAGES: u64 = 16_384;
/// The bytes of these.
const PASSING_BYTES: u64 = 64 << 20;

/// One message.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    pub(super) topic: Arc<str>,
    pub(super) bytes: u64,
    /// From then on nobody gets it.
    pub(super) deadline_ms: Option<u64>,
    /// It comes out of a line that had nobody to take it.
    pub(super) has_waited: bool,
    /// When somebody wanted it first who had no room.
    pub(super) parked_since_ms: Option<u64>,
    pub(super) item: T,
}

/// The set in which the head of a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Ready,
    Idle,
    Parked,
}

/// What waits of one topic.
#[derive(Debug)]
struct Line {
    topic: Arc<str>,
    /// Never empty.
    numbers: BTreeSet<u64>,
    bytes: u64,
    place: Place,
    /// Some of it came when nobody wanted it.
    has_waited: bool,
}

/// All that waits in one hold.
pub(super) struct HoldQueue<T> {
    bounds: Bounds,
    waiting: BTreeMap<u64, Waiting<T>>,
    lines: TopicTree<Line>,
    ready: BTreeSet<u64>,
    /// Heads of lines that would be ready, but for the commit of their entries.
    held_back: BTreeSet<u64>,
    /// Messages whose entries are not committed.
    uncommitted: BTreeSet<u64>,
    idle: BTreeSet<u64>,
    /// The last numbers of idle lines.
    idle_tails: BTreeSet<u64>,
    parked: BTreeSet<u64>,
    /// Deadline and number.
    deadlines: BTreeSet<(u64, u64)>,
    searches: Searches,
    bytes: u64,
    /// In idle lines.
    idle_messages: u64,
    idle_bytes: u64,
    next_number: u64,
}

impl<T> HoldQueue<T> {
    pub(super) fn new(bounds: Bounds) -> Self {
        HoldQueue {
            bounds,
            waiting: BTreeMap::new(),
            lines: TopicTree::new(),
            ready: BTreeSet::new(),
            held_back: BTreeSet::new(),
            uncommitted: BTreeSet::new(),
            idle: BTreeSet::new(),
            idle_tails: BTreeSet::new(),
            parked: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            searches: Searches::default(),
            bytes: 0,
            idle_messages: 0,
            idle_bytes: 0,
            next_number: 1,
        }
    }

    /// Messages here; those under way are not.
    pub(super) fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether half of the room for what nobody takes is free.
    pub(super) fn is_half_empty(&self) -> bool {
        self.idle_messages <= self.bounds.messages / 2 && self.idle_bytes <= self.bounds.bytes / 2
    }

    /// Makes room for a message of so many bytes; false: there is none, it must not be added. What gave way is handed out.
    pub(super) fn make_room(&mut self, bytes: u64, mut gave_way: impl FnMut(Waiting<T>)) -> bool {
        if bytes > self.bounds.bytes {
            // It would drive out all others; alone it may wait.
            return self.waiting.is_empty() && self.bounds.messages > 0;
        }
        while self.len() >= self.bounds.messages + PASSING_MESSAGES
            || self.bytes + bytes > self.bounds.bytes + PASSING_BYTES
        {
            let first = self.waiting.first_key_value().map(|(number, _)| *number);
            let oldest = first.filter(|_| self.bounds.overflow == Overflow::DropOldest);
            let Some(waiting) = oldest.and_then(|number| self.detach(number)) else { return false };
            gave_way(waiting);
        }
        true
    }

    /// Adds a message behind those of its topic; it is to be offered, or those before it once more. Returns its number.
    pub(super) fn add(&mut self, topic: &str, bytes: u64, deadline_ms: Option<u64>, item: T) -> u64 {
        let known = self.lines.get(topic).map(|line| line.topic.clone());
        let topic = known.unwrap_or_else(|| topic.into());
        let number = self.next_number;
        self.next_number += 1;
        let waiting =
            Waiting { topic: topic.clone(), bytes, deadline_ms, has_waited: false, parked_since_ms: None, item };
        self.attach(number, waiting);
        if self.lines.get(&topic).is_some_and(|line| line.place == Place::Idle) {
            self.place(&topic, Place::Ready);
        }
        number
    }

    /// The topic of the message that is to be offered next; none while it is not known what else is.
    pub(super) fn next_ready(&self) -> Option<&Arc<str>> {
        let number = self.ready.first().filter(|_| !self.is_searching())?;
        self.waiting.get(number).map(|waiting| &waiting.topic)
    }

    /// True when `next_ready` or `search` would bring something on.
    pub(super) fn has_work(&self) -> bool {
        !self.ready.is_empty() || self.is_searching()
    }

    /// Takes that message out; its number says where it stood.
    pub(super) fn take_ready(&mut self) -> Option<(u64, Waiting<T>)> {
        let number = *self.ready.first()?;
        let has_waited = self.next_ready().and_then(|topic| self.lines.get(topic)).is_some_and(|line| line.has_waited);
        self.detach(number).map(|waiting| (number, Waiting { has_waited, ..waiting }))
    }

    /// Nobody wants the topic of that message.
    pub(super) fn pass_over(&mut self, gave_way: impl FnMut(Waiting<T>)) {
        let Some(topic) = self.next_ready().cloned() else { return };
        self.place(&topic, Place::Idle);
        self.keep_bounds(gave_way);
    }

    /// Puts a message back that nobody took.
    pub(super) fn put_back(&mut self, number: u64, waiting: Waiting<T>, gave_way: impl FnMut(Waiting<T>)) {
        let topic = waiting.topic.clone();
        self.attach(number, waiting);
        self.place(&topic, Place::Idle);
        self.keep_bounds(gave_way);
    }

    /// Puts a message back that somebody wants who has no room.
    pub(super) fn park(&mut self, number: u64, mut waiting: Waiting<T>, now_ms: u64) {
        waiting.parked_since_ms.get_or_insert(now_ms);
        let topic = waiting.topic.clone();
        self.attach(number, waiting);
        self.place(&topic, Place::Parked);
    }

    /// There may be room now.
    pub(super) fn unpark(&mut self) {
        for number in std::mem::take(&mut self.parked) {
            self.heads(Place::Ready, number).insert(number);
            if let Some(line) = self.waiting.get(&number).and_then(|waiting| self.lines.get_mut(&waiting.topic)) {
                line.place = Place::Ready;
            }
        }
    }

    pub(super) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Hands out what has expired by `now_ms`, at most `most`; true when there may be more.
    pub(super) fn expire(&mut self, now_ms: u64, most: usize, mut expired: impl FnMut(Waiting<T>)) -> bool {
        for _ in 0..most {
            let Some((_, number)) = self.deadlines.first().filter(|(at_ms, _)| *at_ms <= now_ms).copied() else {
                return false;
            };
            self.detach(number).into_iter().for_each(&mut expired);
        }
        true
    }

    /// When the next one expires.
    pub(super) fn next_deadline_ms(&self) -> Option<u64> {
        self.deadlines.first().map(|(at_ms, _)| *at_ms)
    }

    /// What waits with nobody to take it stays within its bounds.
    fn keep_bounds(&mut self, mut gave_way: impl FnMut(Waiting<T>)) {
        let is_alone = |queue: &Self| queue.idle_messages == 1 && queue.bounds.messages > 0;
        while self.idle_messages > self.bounds.messages || (self.idle_bytes > self.bounds.bytes && !is_alone(self)) {
            let number = match self.bounds.overflow {
                Overflow::DropOldest => self.idle.first().copied(),
                Overflow::DropNewest => self.idle_tails.last().copied(),
            };
            let Some(waiting) = number.and_then(|number| self.detach(number)) else { return };
            gave_way(waiting);
        }
    }

    /// Where the head of a line stands.
    fn heads(&mut self, place: Place, head: u64) -> &mut BTreeSet<u64> {
        match place {
            Place::Ready if self.uncommitted.contains(&head) => &mut self.held_back,
            Place::Ready => &mut self.ready,
            Place::Idle => &mut self.idle,
            Place::Parked => &mut self.parked,
        }
    }

    /// Moves a line.
    fn place(&mut self, topic: &str, to: Place) {
        let Some(line) = self.lines.get_mut(topic) else { return };
        let from = std::mem::replace(&mut line.place, to);
        let Some(head) = line.numbers.first().copied().filter(|_| from != to) else { return };
        let (messages, bytes, tail) = (line.numbers.len() as u64, line.bytes, line.numbers.last().copied());
        if from == Place::Idle {
            tail.into_iter().for_each(|tail| _ = self.idle_tails.remove(&tail));
            (self.idle_messages, self.idle_bytes) = (self.idle_messages - messages, self.idle_bytes - bytes);
        }
        if to == Place::Idle {
            line.has_waited = true;
            self.idle_tails.extend(tail);
            (self.idle_messages, self.idle_bytes) = (self.idle_messages + messages, self.idle_bytes + bytes);
        }
        self.heads(from, head).remove(&head);
        self.heads(to, head).insert(head);
    }

    /// Puts a message into the line of its topic, by its number; a new line is ready.
    fn attach(&mut self, number: u64, waiting: Waiting<T>) {
        self.bytes += waiting.bytes;
        if let Some(at_ms) = waiting.deadline_ms {
            self.deadlines.insert((at_ms, number));
        }
        if let Some(line) = self.lines.get_mut(&waiting.topic) {
            let (place, before) = (line.place, line.numbers.first().copied());
            let last = line.numbers.last().copied();
            line.numbers.insert(number);
            line.bytes += waiting.bytes;
            line.has_waited |= waiting.has_waited;
            if place == Place::Idle {
                self.idle_messages += 1;
                self.idle_bytes += waiting.bytes;
                if let Some(tail) = last.filter(|last| number > *last) {
                    self.idle_tails.remove(&tail);
                    self.idle_tails.insert(number);
                }
            }
            if let Some(before) = before.filter(|before| number < *before) {
                self.heads(place, before).remove(&before);
                self.heads(place, number).insert(number);
            }
        } else {
            let (topic, numbers) = (waiting.topic.clone(), BTreeSet::from([number]));
            let line =
                Line { topic, numbers, bytes: waiting.bytes, place: Place::Ready, has_waited: waiting.has_waited };
            self.lines.insert(&waiting.topic, line);
            self.ready.insert(number);
        }
        self.waiting.insert(number, waiting);
    }

    /// Takes a message out, wherever it stands in its line.
    fn detach(&mut self, number: u64) -> Option<Waiting<T>> {
        let waiting = self.waiting.remove(&number)?;
        self.bytes -= waiting.bytes;
        if let Some(at_ms) = waiting.deadline_ms {
            self.deadlines.remove(&(at_ms, number));
        }
        let Some(line) = self.lines.get_mut(&waiting.topic) else { return Some(waiting) };
        let (place, was_head) = (line.place, line.numbers.first() == Some(&number));
        line.numbers.remove(&number);
        line.bytes -= waiting.bytes;
        let (head, tail) = (line.numbers.first().copied(), line.numbers.last().copied());
        if place == Place::Idle {
            self.idle_messages -= 1;
            self.idle_bytes -= waiting.bytes;
            if self.idle_tails.remove(&number) {
                self.idle_tails.extend(tail);
            }
        }
        if was_head {
            self.heads(place, number).remove(&number);
            match head {
                Some(head) => _ = self.heads(place, head).insert(head),
                None => _ = self.lines.remove(&waiting.topic),
            }
        }
        self.uncommitted.remove(&number);
        Some(waiting)
    }
}
