//! Which messages were asked for, and what came of it.

use hashbrown::HashMap;

use crate::index::MemberIndex;

/// Where a message is between its question and its member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// An answer is awaited.
    Asked { id: u64, due_ms: f64 },
    /// It was answered.
    Named { member: MemberIndex, identity: u64 },
    /// It was answered that it should wait.
    Held { until_ms: f64 },
    /// The fallback decides.
    FellBack,
}

impl State {
    /// Somebody's room will be taken by it, for all that is known.
    fn takes_room(self) -> bool {
        matches!(self, State::Asked { .. } | State::Named { .. })
    }
}

/// The messages at the head of the queue, by their numbers; bounded. The owner of the group says what has left the queue.
#[derive(Debug)]
pub(crate) struct Book {
    pages: HashMap<u64, State>,
    most: usize,
    /// How many of them take room.
    taking: u64,
}

impl Book {
    pub(crate) fn new(most: usize) -> Book {
        Book { pages: HashMap::new(), most, taking: 0 }
    }

    pub(crate) fn get(&self, number: u64) -> Option<State> {
        self.pages.get(&number).copied()
    }

    /// Messages that are asked for or answered and not gone.
    pub(crate) fn taking(&self) -> u64 {
        self.taking
    }

    /// Whether this question is still open.
    pub(crate) fn is_open(&self, number: u64, id: u64) -> bool {
        matches!(self.pages.get(&number), Some(State::Asked { id: open, .. }) if *open == id)
    }

    /// Whether this message may be noted.
    pub(crate) fn has_room(&self, number: u64) -> bool {
        self.pages.len() < self.most || self.pages.contains_key(&number)
    }

    /// Without room nothing is noted, and the message is a new one next time.
    pub(crate) fn set(&mut self, number: u64, state: State) {
        if self.has_room(number) {
            self.taking += u64::from(state.takes_room());
            let before = self.pages.insert(number, state);
            self.taking -= u64::from(before.is_some_and(State::takes_room));
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        let before = self.pages.remove(&number);
        self.taking -= u64::from(before.is_some_and(State::takes_room));
    }

    /// Those that have waited long enough by `now_ms` wait no more: without an answer the fallback decides, and what was
    /// told to wait is a new one. Returns how many had no answer.
    pub(crate) fn give_up(&mut self, now_ms: f64) -> u64 {
        let mut unanswered = 0;
        self.pages.retain(|_, state| match *state {
            State::Asked { due_ms, .. } if due_ms <= now_ms => {
                *state = State::FellBack;
                unanswered += 1;
                true
            }
            State::Held { until_ms } => until_ms > now_ms,
            _ => true,
        });
        self.taking -= unanswered;
        unanswered
    }

    /// When the first of those that wait has waited long enough.
    pub(crate) fn next_turn_ms(&self) -> Option<f64> {
        let due = self.pages.values().filter_map(|state| match *state {
            State::Asked { due_ms, .. } => Some(due_ms),
            State::Held { until_ms } => Some(until_ms),
            State::Named { .. } | State::FellBack => None,
        });
        due.min_by(f64::total_cmp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_counts_who_takes_room() {
        let mut book = Book::new(2);
        book.set(1, State::Asked { id: 7, due_ms: 5.0 });
        book.set(2, State::Held { until_ms: 9.0 });
        book.set(3, State::FellBack);
        assert_eq!((book.get(3), book.has_room(3), book.has_room(2)), (None, false, true));
        assert_eq!((book.taking(), book.next_turn_ms()), (1, Some(5.0)));
        assert!(book.is_open(1, 7) && !book.is_open(1, 6) && !book.is_open(2, 7));
        book.set(1, State::FellBack);
        assert_eq!((book.taking(), book.next_turn_ms(), book.is_open(1, 7)), (0, Some(9.0), false));
        book.set(2, State::Named { member: MemberIndex(0), identity: 1 });
        book.remove(2);
        assert_eq!((book.taking(), book.has_room(3)), (0, true));
    }

    #[test]
    fn what_has_waited_long_enough_has_no_turn_any_more() {
        let mut book = Book::new(4);
        book.set(1, State::Asked { id: 7, due_ms: 5.0 });
        book.set(2, State::Asked { id: 8, due_ms: 9.0 });
        book.set(3, State::Held { until_ms: 5.0 });
        assert_eq!((book.give_up(4.0), book.next_turn_ms()), (0, Some(5.0)));
        assert_eq!((book.give_up(5.0), book.next_turn_ms(), book.taking()), (1, Some(9.0), 1));
        assert_eq!((book.get(1), book.get(3)), (Some(State::FellBack), None));
        assert_eq!((book.give_up(10.0), book.next_turn_ms(), book.taking()), (1, None, 0));
    }
}
