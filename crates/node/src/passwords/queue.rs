//! Passwords that wait to be checked: addresses in turn, within an address its user names in turn, of one name the newest.
//!
//! A check costs tens of milliseconds, so whoever has many waiting must not stand before whoever has one. The newest first,
//! because those who guess wait for their answers: where a name has many checks waiting, the newest is the one most likely
//! to be somebody else's, and the oldest will run out of its time for a CONNECT anyway. When there is no room, it is taken
//! from whoever has the most waiting, and never from an address that has less than the newcomer's.

use std::collections::{HashMap, VecDeque};

use lapwing_access::Work;

use super::source::Source;
use super::turns::Turns;

/// A password that waits; `item` is what it is handed over with.
#[derive(Debug)]
pub(crate) struct Ask<T> {
    pub(crate) source: Source,
    /// Empty for tokens: all of an address stand in one line.
    pub(crate) username: Box<str>,
    /// What it takes to check it.
    pub(crate) work: Work,
    /// Nobody waits for the answer after that.
    pub(crate) deadline_ms: u64,
    pub(crate) item: T,
}

/// What has failed lately: the address, and this name from it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) source: bool,
    pub(crate) pair: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct PasswordQueue<T> {
    lanes: HashMap<Source, Lane<T>>,
    turns: Turns<Source>,
    len: usize,
    len_max: usize,
}

/// What one address has waiting.
#[derive(Debug)]
struct Lane<T> {
    names: HashMap<Box<str>, Stack<T>>,
    turns: Turns<Box<str>>,
    len: usize,
    is_marked: bool,
}

/// What one name of one address has waiting, the newest last.
#[derive(Debug)]
struct Stack<T> {
    asks: VecDeque<Ask<T>>,
    is_marked: bool,
}

impl<T> PasswordQueue<T> {
    pub(crate) fn new(len_max: usize) -> Self {
        PasswordQueue { lanes: HashMap::new(), turns: Turns::default(), len: 0, len_max }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Lets one wait; returns the one for which there is no room: another one, or itself.
    pub(crate) fn push(&mut self, ask: Ask<T>, marks: Marks) -> Option<Ask<T>> {
        let displaced = if self.len < self.len_max {
            None
        } else {
            let fullest = self.fullest();
            // By as much as one: taking turns at the last place helps nobody.
            let own = (marks.source, self.lanes.get(&ask.source).map_or(0, |lane| lane.len) + 1);
            let Some((source, _)) = fullest.filter(|(source, weight)| *source == ask.source || *weight > own) else {
                return Some(ask);
            };
            self.take_oldest(source)
        };
        self.add(ask, marks);
        displaced
    }

    fn add(&mut self, ask: Ask<T>, marks: Marks) {
        let (source, username) = (ask.source, ask.username.clone());
        let turns = &mut self.turns;
        let lane = self.lanes.entry(source).or_insert_with(|| {
            turns.add(source, marks.source);
            Lane { names: HashMap::new(), turns: Turns::default(), len: 0, is_marked: marks.source }
        });
        lane.is_marked = marks.source;
        lane.len += 1;
        let turns = &mut lane.turns;
        let stack = lane.names.entry(username.clone()).or_insert_with(|| {
            turns.add(username, marks.pair);
            Stack { asks: VecDeque::new(), is_marked: marks.pair }
        });
        stack.is_marked = marks.pair;
        stack.asks.push_back(ask);
        self.len += 1;
    }

    /// The next to be checked.
    pub(crate) fn pop(&mut self) -> Option<Ask<T>> {
        let source = self.turns.next()?;
        let lane = self.lanes.get_mut(&source)?;
        let username = lane.turns.next()?;
        let stack = lane.names.get_mut(&username)?;
        let ask = stack.asks.pop_back();
        if stack.asks.is_empty() {
            lane.names.remove(&username);
        } else {
            lane.turns.add(username, stack.is_marked);
        }
        lane.len -= 1;
        if lane.len == 0 {
            self.lanes.remove(&source);
        } else {
            self.turns.add(source, lane.is_marked);
        }
        self.len -= 1;
        ask
    }

    /// Who has the most waiting, those with a mark before all others.
    fn fullest(&self) -> Option<(Source, (bool, usize))> {
        let weights = self.lanes.iter().map(|(source, lane)| (*source, (lane.is_marked, lane.len)));
        weights.max_by_key(|(_, weight)| *weight)
    }

    /// Of the name that has the most waiting the one that has waited longest.
    fn take_oldest(&mut self, source: Source) -> Option<Ask<T>> {
        let lane = self.lanes.get_mut(&source)?;
        let stack = lane.names.values_mut().max_by_key(|stack| (stack.is_marked, stack.asks.len()))?;
        let ask = stack.asks.pop_front()?;
        if stack.asks.is_empty() {
            lane.names.remove(&ask.username);
            lane.turns.remove(&ask.username);
        }
        lane.len -= 1;
        if lane.len == 0 {
            self.lanes.remove(&source);
            self.turns.remove(&source);
        }
        self.len -= 1;
        Some(ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: u8, username: &str, item: u32) -> Ask<u32> {
        let source = Source::parse(&format!("192.0.2.{address}")).unwrap();
        Ask { source, username: username.into(), work: Work::Password, deadline_ms: u64::MAX, item }
    }

    fn order(queue: &mut PasswordQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).map(|ask| ask.item).collect()
    }

    const MARKED: Marks = Marks { source: true, pair: true };

    /// Does one address with many let another one in at the next turn, and within it one name another?
    #[test]
    fn whoever_has_one_waiting_is_next_but_one() {
        let mut queue = PasswordQueue::new(100);
        for n in 0..50 {
            assert!(queue.push(ask(1, "bob", n), Marks::default()).is_none());
        }
        queue.push(ask(2, "bob", 100), Marks::default());
        queue.push(ask(1, "carol", 200), Marks::default());
        let order = order(&mut queue);
        assert_eq!(order[..4], [49, 100, 200, 48]);
        assert_eq!((order.len(), queue.len()), (52, 0));
        assert!(queue.lanes.is_empty() && queue.turns.next().is_none());
    }

    /// Does an address that has not failed come before three of four that have, however many they are?
    #[test]
    fn who_has_not_failed_comes_before_many_who_have() {
        let mut queue = PasswordQueue::new(1000);
        for n in 0..100 {
            queue.push(ask(n, "bob", u32::from(n)), MARKED);
        }
        for n in 0..3 {
            queue.push(ask(200 + n, "bob", 200 + u32::from(n)), Marks::default());
        }
        assert_eq!(order(&mut queue)[..4], [200, 201, 202, 0]);
    }

    /// Is it the one who has the most waiting that pays for a full queue, and never an address with fewer?
    #[test]
    fn a_full_queue_takes_room_from_the_fullest() {
        let mut queue = PasswordQueue::new(4);
        for n in 0..4 {
            assert!(queue.push(ask(1, "bob", n), Marks::default()).is_none());
        }
        assert_eq!(queue.push(ask(2, "bob", 10), Marks::default()).unwrap().item, 0, "the oldest of the fullest");
        assert_eq!(queue.push(ask(1, "bob", 4), Marks::default()).unwrap().item, 1, "its own oldest");
        assert_eq!(queue.push(ask(3, "bob", 20), Marks::default()).unwrap().item, 2);
        assert_eq!(queue.push(ask(2, "bob", 11), Marks::default()).unwrap().item, 11, "two each: the newcomer");
        assert_eq!(queue.push(ask(4, "bob", 30), MARKED).unwrap().item, 30, "who has failed displaces nobody");
        assert_eq!(queue.len(), 4);
        let mut left = order(&mut queue);
        left.sort_unstable();
        assert_eq!(left, [3, 4, 10, 20]);
    }

    /// Do a thousand of one address leave nothing behind when they are displaced one by one?
    #[test]
    fn what_is_displaced_leaves_nothing() {
        let mut queue = PasswordQueue::new(1);
        for n in 0..1000 {
            queue.push(ask(1, &format!("name-{n}"), n), Marks::default());
        }
        assert_eq!(order(&mut queue), [999]);
        assert!(queue.lanes.is_empty() && queue.turns.next().is_none());
    }
}
