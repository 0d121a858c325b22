//! The lanes between all shards and one thread beside them that works for all: questions there, answers back.
//!
//! A shard asks and goes on. The thread takes one question of each shard in turn, so that none with many holds up the others.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::assemble::Unpark;
use crate::mailbox::{Bell, Inlet, Lane, lane};

/// Batches in one lane.
const LANE_BATCHES: usize = 64;

/// A shard's way to the thread.
pub(crate) struct SideFeed<Q, A> {
    ask: Lane<Vec<Q>>,
    answers: Inlet<A>,
    open: Vec<Q>,
}

/// The thread's end of all lanes.
pub(crate) struct SideDesk<Q, A> {
    inlets: Vec<Inlet<Vec<Q>>>,
    waiting: Vec<VecDeque<Q>>,
    answers: Vec<Lane<A>>,
    /// The shard to look at next.
    turn: usize,
    unpark: Unpark,
    bell: Bell,
}

/// For each shard its feed; and the desk of the thread.
pub(crate) fn lay_side_lanes<Q, A>(shards: &[Bell]) -> (Vec<SideFeed<Q, A>>, SideDesk<Q, A>) {
    let unpark = Unpark::default();
    let bell = Bell::new(unpark.clone());
    let (mut feeds, mut inlets, mut lanes) = (vec![], vec![], vec![]);
    for shard in shards {
        let (ask, inlet) = lane(LANE_BATCHES, shard.clone(), bell.clone());
        let (answer, answers) = lane(LANE_BATCHES, bell.clone(), shard.clone());
        feeds.push(SideFeed { ask, answers, open: Vec::new() });
        inlets.push(inlet);
        lanes.push(answer);
    }
    let waiting = shards.iter().map(|_| VecDeque::new()).collect();
    (feeds, SideDesk { inlets, waiting, answers: lanes, turn: 0, unpark, bell })
}

impl<Q, A> SideFeed<Q, A> {
    /// Asks; it goes with the next [`SideFeed::flush`].
    pub(crate) fn ask(&mut self, question: Q) {
        self.open.push(question);
    }

    /// The next answer.
    pub(crate) fn answered(&mut self) -> Option<A> {
        self.answers.take()
    }

    /// Whether answers wait to be taken.
    pub(crate) fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Hands over what gathered; once per turn of the loop.
    pub(crate) fn flush(&mut self) {
        if !self.open.is_empty() {
            self.ask.send(std::mem::take(&mut self.open));
        }
        self.ask.flush();
    }
}

impl<Q, A> SideDesk<Q, A> {
    /// What wakes the thread.
    pub(crate) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// The calling thread is the one that works here.
    pub(crate) fn begin(&self) {
        self.unpark.is_me();
    }

    /// The next question and the shard that asks, of each shard in turn.
    pub(crate) fn next(&mut self) -> Option<(usize, Q)> {
        let shards = self.inlets.len();
        for _ in 0..shards {
            let shard = self.turn;
            self.turn = (shard + 1) % shards;
            if self.waiting[shard].is_empty()
                && let Some(batch) = self.inlets[shard].take()
            {
                self.waiting[shard] = batch.into();
            }
            if let Some(question) = self.waiting[shard].pop_front() {
                return Some((shard, question));
            }
        }
        None
    }

    /// Hands an answer over.
    pub(crate) fn answer(&mut self, shard: usize, answer: A) {
        self.answers[shard].send(answer);
        self.answers[shard].flush();
    }

    /// Sleeps until there is a question, at most so long; not at all once it has to `stop`.
    pub(crate) fn sleep(&mut self, longest: Duration, stop: &AtomicBool) {
        self.sleep_while(longest, || !stop.load(Ordering::Acquire));
    }

    /// The same, and only while nothing else `may_sleep` looks at has come: whoever makes it come rings the bell then.
    pub(crate) fn sleep_while(&mut self, longest: Duration, may_sleep: impl FnOnce() -> bool) {
        self.bell.prepare();
        // What had no room at a shard is tried again here: it rings when it has taken something.
        self.answers.iter_mut().for_each(Lane::flush);
        let is_idle = self.inlets.iter().all(Inlet::is_empty) && self.waiting.iter().all(VecDeque::is_empty);
        if is_idle && may_sleep() {
            std::thread::park_timeout(longest);
        }
        self.bell.awake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does a shard with many questions let another one in between, and does each get its own answers, in order?
    #[test]
    fn shards_are_served_in_turn() {
        let bells: Vec<Bell> = (0..2).map(|_| Bell::new(Unpark::default())).collect();
        let (mut feeds, mut desk) = lay_side_lanes::<u32, u32>(&bells);
        for question in [10, 11, 12] {
            feeds[0].ask(question);
        }
        feeds[1].ask(20);
        feeds.iter_mut().for_each(SideFeed::flush);
        let mut order = vec![];
        while let Some((shard, question)) = desk.next() {
            order.push((shard, question));
            desk.answer(shard, question + 100);
        }
        assert_eq!(order, [(0, 10), (1, 20), (0, 11), (0, 12)]);
        let of = |feed: &mut SideFeed<u32, u32>| std::iter::from_fn(|| feed.answered()).collect::<Vec<_>>();
        assert!(feeds[0].has_answers());
        assert_eq!((of(&mut feeds[0]), of(&mut feeds[1])), (vec![110, 111, 112], vec![120]));
    }
}
