//! What waits for the disk: one promise per turn of the loop.
//!
//! Whatever must not leave before something is durable takes the number of this turn's promise. The turn ends by noting
//! on what it depends: the last ticket of this shard's own log records, and how many messages that must be kept were
//! posted to each other shard. All of these only grow, and so do the numbers: a promise is kept when the log and every
//! shard have come that far, and with it all before it. So a wait costs one number, and keeping it one comparison.

use std::collections::VecDeque;

/// The promises of one shard, as the one who waits.
#[derive(Debug)]
pub(crate) struct Promises {
    /// The number that this turn gives out.
    current: u64,
    /// Somebody has taken it.
    is_taken: bool,
    /// Every number up to this one is kept.
    kept: u64,
    /// Promises that are not kept, oldest first: number and ticket.
    line: VecDeque<(u64, u64)>,
    /// For each of them, by shard, the messages posted there until then.
    marks: VecDeque<u64>,
    /// By shard: messages that must be kept there, posted so far.
    posted: Box<[u64]>,
}

impl Promises {
    pub(crate) fn new(shards: u32) -> Self {
        let posted = vec![0; shards as usize].into_boxed_slice();
        Promises { current: 1, is_taken: false, kept: 0, line: VecDeque::new(), marks: VecDeque::new(), posted }
    }

    /// The number to wait for with what happens now.
    pub(crate) fn take(&mut self) -> u64 {
        self.is_taken = true;
        self.current
    }

    /// Every number up to this one is kept.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    /// A message that must be kept goes to another shard.
    pub(crate) fn posted(&mut self, shard: usize) {
        self.posted[shard] += 1;
    }

    /// The turn is over; `ticket`: of the last record handed to the log so far.
    pub(crate) fn close(&mut self, ticket: u64) {
        if std::mem::take(&mut self.is_taken) {
            self.line.push_back((self.current, ticket));
            self.marks.extend(self.posted.iter());
            self.current += 1;
        }
    }

    /// True when `keep` would find a promise kept.
    pub(crate) fn is_due(&self, committed: u64, confirmed: impl Fn(usize) -> u64) -> bool {
        self.line.front().is_some_and(|(_, ticket)| *ticket <= committed)
            && self.posted.iter().enumerate().all(|(shard, _)| self.marks[shard] <= confirmed(shard))
    }

    /// The log is durable up to ticket `committed`, and each shard has confirmed so many messages of ours; returns the last
    /// promise that this keeps, if it keeps one.
    pub(crate) fn keep(&mut self, committed: u64, confirmed: impl Fn(usize) -> u64) -> Option<u64> {
        let before = self.kept;
        while self.is_due(committed, &confirmed) {
            if let Some((number, _)) = self.line.pop_front() {
                self.kept = number;
            }
            self.marks.drain(..self.posted.len());
        }
        (self.kept > before).then_some(self.kept)
    }

    /// True when nothing waits.
    pub(crate) fn is_settled(&self) -> bool {
        self.line.is_empty() && !self.is_taken
    }
}

/// The other side: which messages of other shards must be kept here, and from when on they are.
#[derive(Debug)]
pub(crate) struct Confirmations {
    /// By shard: messages taken from it so far.
    taken: Box<[u64]>,
    is_new: bool,
    /// What is not durable yet, oldest first: the ticket that it waits for, and behind it `taken` as it was.
    line: VecDeque<u64>,
    marks: VecDeque<u64>,
}

impl Confirmations {
    pub(crate) fn new(shards: u32) -> Self {
        let taken = vec![0; shards as usize].into_boxed_slice();
        Confirmations { taken, is_new: false, line: VecDeque::new(), marks: VecDeque::new() }
    }

    /// A message of another shard that must be kept has been handled.
    pub(crate) fn taken(&mut self, from: usize) {
        self.taken[from] += 1;
        self.is_new = true;
    }

    /// The turn is over; `ticket`: of the last record handed to the log so far.
    pub(crate) fn close(&mut self, ticket: u64) {
        if std::mem::take(&mut self.is_new) {
            self.line.push_back(ticket);
            self.marks.extend(self.taken.iter());
        }
    }

    /// True when `confirm` would have something to say.
    pub(crate) fn is_due(&self, committed: u64) -> bool {
        self.line.front().is_some_and(|ticket| *ticket <= committed)
    }

    /// The log is durable up to ticket `committed`: tells each shard how many of its messages are, where that has changed.
    pub(crate) fn confirm(&mut self, committed: u64, mut tell: impl FnMut(usize, u64)) {
        let (due, shards) = (self.line.iter().take_while(|ticket| **ticket <= committed).count(), self.taken.len());
        if due == 0 {
            return;
        }
        self.line.drain(..due);
        let last: Vec<u64> = self.marks.drain(..due * shards).skip((due - 1) * shards).collect();
        last.into_iter().enumerate().for_each(|(shard, count)| tell(shard, count));
    }

    /// True when nothing waits to be confirmed.
    pub(crate) fn is_settled(&self) -> bool {
        self.line.is_empty() && !self.is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Is a promise kept when log and shards have come far enough, never before, and with it those before it?
    #[test]
    fn a_promise_waits_for_the_log_and_for_every_shard() {
        let mut promises = Promises::new(2);
        let first = promises.take();
        promises.close(10);
        let second = promises.take();
        promises.posted(1);
        promises.close(10);
        assert_eq!(promises.take(), second + 1);
        promises.close(11);
        assert_eq!(promises.keep(9, |_| 0), None);
        assert_eq!(promises.keep(11, |_| 0), Some(first), "the second waits for shard 1, and the third for the second");
        assert_eq!(promises.keep(11, |_| 1), Some(second + 1));
        assert!(promises.is_settled());
    }

    /// Does a turn in which nobody waits cost no number?
    #[test]
    fn a_turn_without_a_wait_leaves_nothing() {
        let mut promises = Promises::new(1);
        promises.close(5);
        assert!(promises.is_settled());
        assert_eq!(promises.take(), 1);
        assert_eq!(promises.keep(u64::MAX, |_| 0), None, "not before the turn is over");
    }

    /// Is each shard told how many of its messages are durable, at the last ticket that is?
    #[test]
    fn confirmations_follow_the_log() {
        let mut confirmations = Confirmations::new(2);
        confirmations.taken(1);
        confirmations.close(3);
        confirmations.taken(1);
        confirmations.taken(0);
        confirmations.close(4);
        let mut told = vec![];
        confirmations.confirm(2, |shard, count| told.push((shard, count)));
        assert!(told.is_empty() && confirmations.is_due(3));
        confirmations.confirm(3, |shard, count| told.push((shard, count)));
        assert_eq!(told, [(0, 0), (1, 1)]);
        told.clear();
        confirmations.confirm(9, |shard, count| told.push((shard, count)));
        assert_eq!(told, [(0, 1), (1, 2)]);
        assert!(confirmations.is_settled());
    }
}
