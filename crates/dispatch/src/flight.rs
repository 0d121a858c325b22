//! The messages that one member has and has not acknowledged, in the order they were sent.

use std::collections::VecDeque;

use crate::index::Ticket;

/// Closed entries that may lie in the line beside the open ones before it is swept.
const CLOSED_MAX: usize = 64;

/// One message on its way or at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    ticket: u64,
    pub(crate) sent_ms: f64,
    pub(crate) key: Option<u64>,
    /// Nothing else was unacknowledged when it was sent: the member was idle.
    pub(crate) found_idle: bool,
    is_open: bool,
}

/// What one member has and has not acknowledged.
///
/// A member with several workers acknowledges out of order: entries are closed in place and swept later, so that
/// closing costs a binary search, however many a client keeps open and in whatever order it acknowledges.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    line: VecDeque<Sent>,
    open: u32,
    next: u64,
}

impl Flight {
    /// How many are unacknowledged.
    pub(crate) fn open(&self) -> u32 {
        self.open
    }

    /// A message leaves for the member at `sent_ms`.
    pub(crate) fn push(&mut self, sent_ms: f64, key: Option<u64>) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let found_idle = self.open == 0;
        self.open += 1;
        self.line.push_back(Sent { ticket, sent_ms, key, found_idle, is_open: true });
        Ticket(ticket)
    }

    /// Takes the message out. None: unknown, or taken before.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Sent> {
        let at = self.place_of(ticket.0)?;
        let entry = &mut self.line[at];
        if !entry.is_open {
            return None;
        }
        entry.is_open = false;
        let taken = *entry;
        self.open -= 1;
        self.sweep();
        Some(taken)
    }

    /// Forgets all of them; tickets go on from where they were.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
        self.open = 0;
    }

    /// The open ones among the last `most` entries, oldest first, and how many open ones lie before them.
    pub(crate) fn tail(&self, most: usize) -> (u32, impl Iterator<Item = &Sent>) {
        let from = self.line.len().saturating_sub(most);
        let tail = || self.line.range(from..).filter(|sent| sent.is_open);
        let before = if from == 0 { 0 } else { self.open - tail().count() as u32 };
        (before, tail())
    }

    /// The oldest open one.
    pub(crate) fn head(&self) -> Option<&Sent> {
        // The sweep keeps the front open.
        self.line.front()
    }

    fn place_of(&self, ticket: u64) -> Option<usize> {
        let front = self.line.front()?.ticket;
        if front == ticket {
            return Some(0);
        }
        self.line.binary_search_by_key(&ticket, |sent| sent.ticket).ok()
    }

    fn sweep(&mut self) {
        while self.line.front().is_some_and(|sent| !sent.is_open) {
            self.line.pop_front();
        }
        if self.line.len() > 2 * self.open as usize + CLOSED_MAX {
            self.line.retain(|sent| sent.is_open);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_counts_once_in_any_order() {
        let mut flight = Flight::default();
        let tickets: Vec<_> = (0..4).map(|n| flight.push(f64::from(n), None)).collect();
        for (at, open) in [(2, 3), (0, 2), (3, 1)] {
            assert!(flight.take(tickets[at]).is_some());
            assert!(flight.take(tickets[at]).is_none());
            assert_eq!(flight.open(), open);
        }
        assert_eq!(flight.head().map(|sent| sent.ticket), Some(1));
        flight.clear();
        assert!(flight.take(tickets[1]).is_none());
        assert!(flight.push(9.0, None) > tickets[3]);
    }

    #[test]
    fn a_head_that_is_never_acknowledged_does_not_hold_what_came_after() {
        let mut flight = Flight::default();
        flight.push(0.0, None);
        for n in 0..10_000 {
            let ticket = flight.push(f64::from(n), None);
            assert!(flight.take(ticket).is_some());
        }
        assert!(flight.line.len() <= CLOSED_MAX + 2, "{}", flight.line.len());
        assert_eq!(flight.open(), 1);
    }

    #[test]
    fn the_tail_says_how_many_lie_before_it() {
        let mut flight = Flight::default();
        let tickets: Vec<_> = (0..10).map(|n| flight.push(f64::from(n), None)).collect();
        flight.take(tickets[8]);
        let (before, tail) = flight.tail(4);
        assert_eq!((before, tail.map(|sent| sent.ticket).collect::<Vec<_>>()), (6, vec![6, 7, 9]));
    }
}
