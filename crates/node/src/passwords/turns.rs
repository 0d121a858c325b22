//! Whose turn it is, among many who wait: each in turn, those without a mark more often than those with one.

use std::collections::VecDeque;

/// Of so many turns one goes to somebody with a mark, while others wait: those with one are late, and never forgotten.
const TURNS: u32 = 4;

/// Everybody who waits, once.
#[derive(Debug)]
pub(crate) struct Turns<K> {
    plain: VecDeque<K>,
    marked: VecDeque<K>,
    /// Turns of those without a mark since the last one of somebody with one.
    since: u32,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        Turns { plain: VecDeque::new(), marked: VecDeque::new(), since: 0 }
    }
}

impl<K: PartialEq> Turns<K> {
    /// Somebody waits from now on: behind all of his kind.
    pub(crate) fn add(&mut self, who: K, is_marked: bool) {
        if is_marked { self.marked.push_back(who) } else { self.plain.push_back(who) }
    }

    /// Whose turn it is; he does not wait any more.
    pub(crate) fn next(&mut self) -> Option<K> {
        if self.plain.is_empty() || (self.since + 1 >= TURNS && !self.marked.is_empty()) {
            self.since = 0;
            return self.marked.pop_front();
        }
        self.since += 1;
        self.plain.pop_front()
    }

    /// Somebody does not wait any more.
    pub(crate) fn remove(&mut self, who: &K) {
        self.plain.retain(|other| other != who);
        self.marked.retain(|other| other != who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does each have a turn before anybody has a second one, and do those with a mark have one of four?
    #[test]
    fn those_with_a_mark_have_one_turn_of_four() {
        let mut turns = Turns::default();
        for who in [1, 2] {
            turns.add(who, false);
            turns.add(who + 10, true);
        }
        let mut order = vec![];
        for _ in 0..8 {
            let who = turns.next().unwrap();
            order.push(who);
            turns.add(who, who > 10);
        }
        assert_eq!(order, [1, 2, 1, 11, 2, 1, 2, 12]);
        turns.remove(&1);
        turns.remove(&11);
        assert_eq!((turns.next(), turns.next(), turns.next()), (Some(2), Some(12), None));
    }
}
